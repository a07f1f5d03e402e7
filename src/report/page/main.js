summarySection();
progressSection();
if (data.cells.length) archiveSection();
lineageSection();
outcomesSection();
rooflineSection();
tunablesSection();
environmentSection();
document.getElementById('nav').append(...sections.map(([id, title]) => h('a', { href: '#' + id }, title)));

document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
});
const openFromHash = () => { const match = location.hash.match(/^#step-(\d+)$/); if (match) openDetail(Number(match[1])); };
addEventListener('hashchange', openFromHash);
openFromHash();
document.documentElement.dataset.ready = 'yes';
