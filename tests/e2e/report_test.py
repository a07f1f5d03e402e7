#!/usr/bin/env python3
"""The report page in a real browser: report_test.py KERF MAKE_RUN [SCREENSHOT_FOLDER]. Exit 77 (skipped) without Chromium."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from chromium import Chromium  # noqa: E402

ROOM = pathlib.Path(__file__).resolve().parents[2] / "src/report"
KERF, MAKE_RUN = sys.argv[1:3]
SHOTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
DATA = "JSON.parse(document.getElementById('data').textContent)"


def make_report(folder, *options):
    run = pathlib.Path(folder) / "run"
    subprocess.run([MAKE_RUN, str(run), *options], check=True)
    subprocess.run([KERF, "report", str(run)], check=True, stdout=subprocess.DEVNULL)
    return run / "report.html"


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = make_report(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def browse(self, width=1280, height=900, dark=False, page=None):
        browser = Chromium(width, height, dark)
        self.addCleanup(browser.__exit__)
        browser.open((page or self.page).as_uri())
        return browser

    def check_clean(self, browser):
        self.assertEqual(browser.problems, [])
        self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "data:"))], [])
        self.assertEqual(browser.js("document.documentElement.dataset.ready"), "yes")

    def test_every_section_and_chart_is_there(self):
        b = self.browse()
        self.check_clean(b)
        for section in ("summary", "progress", "archive", "lineage", "outcomes", "roofline", "tunables", "environment"):
            self.assertTrue(b.js(f"!!document.getElementById('{section}')"), section)
        steps = b.js(DATA + ".steps.filter(s => s.speedup).length")
        self.assertEqual(b.js("document.querySelectorAll('#progress-chart circle.dot').length"), steps)
        self.assertGreater(b.js("document.querySelector('#progress-chart path.best').getTotalLength()"), 300)
        self.assertTrue(b.js("!!document.querySelector('#progress-chart path.band')"))
        self.assertEqual(b.js("document.querySelectorAll('.cell').length"), 64)
        self.assertEqual(b.js("document.querySelectorAll('.cell.full').length"), b.js(DATA + ".cells.length"))
        self.assertEqual(b.js("document.querySelectorAll('.tree .node').length"), b.js(DATA + ".ancestors.length"))
        self.assertEqual(b.js("document.querySelectorAll('.funnel .stage').length"), 7)
        self.assertEqual(b.js("document.querySelectorAll('#roofline-chart .roof-winner').length"), 2)
        self.assertGreater(b.js("document.querySelectorAll('#tunable-table tbody tr').length"), 5)
        if SHOTS:
            b.screenshot(SHOTS / "desktop.png")

    def test_charts_have_the_figure_that_was_confirmed(self):
        b = self.browse()
        best = b.js(f"{DATA}.steps[{DATA}.best - 1]")
        self.assertEqual(best["stage"], "final")
        headline = b.js("document.querySelector('#summary .big').textContent")
        self.assertIn("ending at " + headline, b.js("document.querySelector('#progress-chart svg').getAttribute('aria-label')"))
        self.assertIn(headline, b.js("document.querySelector('.cell.winner').getAttribute('aria-label')"))
        heats = b.js("[...document.querySelectorAll('.cell.full')].map(c => Number(c.style.getPropertyValue('--heat')))")
        self.assertEqual(b.js("Number(document.querySelector('.cell.winner').style.getPropertyValue('--heat'))"), max(heats))

    def test_a_click_on_a_cell_shows_its_source(self):
        b = self.browse()
        self.assertIn("8", b.js("document.querySelector('.cell.winner').textContent"))
        cell = b.js("document.querySelector('.cell.full:not(.winner)').dataset.cell")
        b.click(f'.cell[data-cell="{cell}"]')
        entry = b.js(f"{DATA}.cells.find(c => c.cell.join() === '{cell}')")
        step = b.js(f"{DATA}.steps[{entry['elites'][0] - 1}]")
        source = b.js(f"{DATA}.sources[{step['source']}]")
        shown = b.js("[...document.querySelectorAll('#cell-source .src tr')].map(r => r.cells[1].textContent).join('\\n')")
        self.assertEqual(shown.strip(), source.strip())
        self.check_clean(b)

    def test_a_click_on_a_point_or_a_node_opens_the_step(self):
        b = self.browse()
        best = b.js(DATA + ".best")
        b.click(f'#progress-chart circle[data-step="{best}"]')
        self.assertTrue(b.js("document.getElementById('detail').open"))
        self.assertEqual(b.js("document.getElementById('detail-title').textContent"), f"Step {best}")
        self.assertEqual(b.js("location.hash"), f"#step-{best}")
        b.click("#detail .close")
        self.assertFalse(b.js("document.getElementById('detail').open"))
        b.click(".tree .node:not(.main)")
        self.assertTrue(b.js("document.getElementById('detail').open"))
        self.check_clean(b)

    def test_differences_between_parent_and_child_unfold(self):
        b = self.browse()
        self.assertEqual(b.js("document.querySelectorAll('details.diff[open]').length"), 0)
        b.click("details.diff summary")
        self.assertEqual(b.js("document.querySelectorAll('details.diff[open]').length"), 1)
        self.assertGreater(b.js("document.querySelectorAll('details.diff[open] tr.add').length"), 0)

    def test_links_to_a_step_open_it_with_its_evidence(self):
        b = self.browse()
        wrong = b.js(DATA + ".steps.find(s => s.outcome === 'wrong_result').n")
        b.open("about:blank")  # only the fragment would change, and nothing would load
        b.open(self.page.as_uri() + f"#step-{wrong}")
        text = b.js("document.getElementById('detail').textContent")
        self.assertIn("113 of 3333", text)
        self.assertIn("wrong result", text)

    def test_kernel_text_stays_text(self):
        b = self.browse()
        odd = b.js(DATA + ".steps.find(s => s.name.includes('<script>')).n")
        b.js(f"location.hash = '#step-{odd}'")
        b.settle()
        self.assertIn("</script><script>document.title='broken'", b.js("document.querySelector('#detail .src').textContent"))
        self.assertNotIn("broken", b.js("document.title"))
        self.assertEqual(b.js("document.querySelectorAll('#detail img, #detail script').length"), 0)
        self.check_clean(b)

    def test_it_fits_a_phone(self):
        for dark in (False, True):
            b = self.browse(390, 844, dark)
            self.assertLessEqual(b.js("document.documentElement.scrollWidth"), 390)
            self.assertGreater(b.js("document.querySelector('#progress-chart svg').getBoundingClientRect().width"), 250)
            self.assertLess(b.js("document.querySelector('#progress-chart svg').getBoundingClientRect().width"), 390)
            sizes = b.js("[...document.querySelectorAll('main p, main td, main svg text')].map(e => parseFloat(getComputedStyle(e).fontSize))")
            self.assertGreaterEqual(min(sizes), 11)
            self.check_clean(b)
            if SHOTS:
                b.screenshot(SHOTS / f"phone{'-dark' if dark else ''}.png")

    def test_dark_and_light_differ_and_can_be_switched(self):
        paper = "getComputedStyle(document.body).backgroundColor"
        light, dark = self.browse(), self.browse(dark=True)
        self.assertNotEqual(light.js(paper), dark.js(paper))
        light.click("#theme")
        self.assertEqual(light.js(paper), dark.js(paper))

    def test_the_page_may_not_reach_the_network(self):
        b = self.browse()
        b.js("fetch('https://example.invalid/x').then(() => 'sent', () => 'refused')")
        blocked = [p for p in b.problems if "Content Security Policy" in p]
        self.assertTrue(blocked, b.problems)

    def test_a_winner_slower_than_the_baseline_is_not_called_faster(self):
        with tempfile.TemporaryDirectory() as folder:
            b = self.browse(page=make_report(folder, "cpu", "60", "3", "slow"))
            self.check_clean(b)
            summary = b.js("document.getElementById('summary').textContent")
            self.assertIn("Slower than naive", summary)
            self.assertIn("No kernel of this run is faster than naive", summary)
            self.assertNotIn("Faster than", summary)
            self.assertNotIn("The winner", summary)
            if SHOTS:
                b.screenshot(SHOTS / "slow.png")
        b = self.browse()
        self.assertIn("Faster than naive", b.js("document.getElementById('summary').textContent"))
        self.assertFalse(b.js("!!document.getElementById('not-faster')"))

    def test_every_panel_of_the_list_is_on_the_page(self):
        listed = re.search(r"set\(PANELS ([^)]*)\)", (ROOM / "CMakeLists.txt").read_text()).group(1).split()
        files = {f.name for f in (ROOM / "page").glob("*.js")} - {"dom.js", "steps.js", "code.js", "detail.js", "main.js"}
        self.assertEqual(set(listed), files)
        page = self.page.read_text()
        for panel in listed:
            self.assertIn(f"panels.push({panel.removesuffix('.js')}Section)", page)

    def test_a_small_unfinished_run_has_a_page_too(self):
        with tempfile.TemporaryDirectory() as folder:
            b = self.browse(page=make_report(folder, "opencl", "20", "3", "unfinished"))
            self.check_clean(b)
            self.assertIn("not finished", b.js("document.getElementById('summary').textContent"))


if __name__ == "__main__":
    try:
        with Chromium() as probe:
            probe.js("1")
    except FileNotFoundError:
        print("SKIPPED: there is no Chromium here (apt-get install chromium)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
