const suiteName = { kernelbench: 'KernelBench', 'robust-kbench': 'robust-kbench' }[data.suite] || data.suite;
const total = data.scores.length ? data.scores[data.scores.length - 1] : null;

function overviewSection() {
  const figure = (over, value, cap, size) => h('div', { class: 'figure' }, h('div', { class: 'over' }, over), h('div', { class: size || 'mid' }, value), cap && h('div', { class: 'cap' }, cap));
  const boxes = [];
  if (total) {
    const n = total.problems, fast = Math.round(total.over_eager.fast_1 * n);
    boxes.push(figure('Faster than eager PyTorch', percent(total.over_eager.fast_1), `${fast} of ${n} problems, correct and faster (fast_1)`, 'big'));
    boxes.push(figure('Geometric mean over eager', times(total.over_eager.geometric_mean), 'failures count as 1×'));
    const compiled = problems.some(p => p.pytorch.compiled);
    boxes.push(compiled ? figure('Faster than torch.compile', percent(total.over_compiled.fast_1), 'geometric mean ' + times(total.over_compiled.geometric_mean)) : figure('Faster than torch.compile', '–', 'torch.compile was not timed'));
    if (compiled) boxes.push(figure('torch.compile itself', percent(total.torch_compile_over_eager.fast_1), 'faster than eager, geometric mean ' + times(total.torch_compile_over_eager.geometric_mean)));
  }
  const open = problems.filter(p => !finished(p)).length, failed = problems.filter(p => p.failure).length, weakOnes = problems.filter(weak).length;
  const remarks = [open ? `${open} of ${problems.length} problems are not done yet and count as failures until they are.` : '',
    failed ? `${failed} failed (see below).` : '', weakOnes ? `${weakOnes} have inputs that cannot tell right from wrong by KernelBench's rule; they are flagged, and figures without them are among the scores.` : ''].filter(Boolean);
  document.getElementById('main').append(h('section', { class: 'hero', id: 'summary' }, h('h1', {}, suiteName, ' on ', data.target),
    h('p', { class: 'sub' }, [data.device, data.torch && 'PyTorch ' + data.torch, `kerf ${data.kerf}`, 'seed ' + data.seed].filter(Boolean).join(' · ')),
    h('div', { class: 'card figures bench' }, boxes), remarks.length > 0 && h('p', { class: 'note', id: 'remarks' }, remarks.join(' '))));
}

function scoresSection() {
  const kinds = { kerf: ['over_eager', 'over_compiled'], kernelbench: ['over_eager_by_kernelbench', 'over_compiled_by_kernelbench'], strong: ['over_eager_without_weak', 'over_compiled_without_weak'] };
  const body = h('tbody');
  const show = kind => {
    const [eager, compiled] = kinds[kind];
    body.replaceChildren(...data.scores.map(set => {
      const cells = (s, edge) => (s ? [h('td', { class: 'r' + (edge ? ' edge' : '') }, `${s.correct} of ${s.tasks}`), ...['fast_1', 'fast_1.2', 'fast_2'].map(k => h('td', { class: 'r' }, percent(s[k]))), h('td', { class: 'r' }, times(s.geometric_mean))]
        : [h('td', { class: 'r' + (edge ? ' edge' : '') }, '–'), ...[1, 2, 3, 4].map(() => h('td', { class: 'r' }, '–'))]);
      const of = (key, plain) => (kind === 'strong' ? set[key] || set[plain] : set[key]);
      const own = set.torch_compile_over_eager;
      return h('tr', { class: set.level === 'all' ? 'all' : null }, h('td', {}, levelName(set.level)), cells(of(eager, 'over_eager'), true), cells(of(compiled, 'over_compiled'), true),
        h('td', { class: 'r edge' }, percent(own.fast_1)), h('td', { class: 'r' }, times(own.geometric_mean)));
    }));
  };
  const choices = [['kerf', 'Kerf’s verdict'], ['kernelbench', 'KernelBench’s']];
  if (problems.some(weak)) choices.push(['strong', 'without weak problems']);
  show('kerf');
  const five = ['correct', 'fast_1', 'fast_1.2', 'fast_2', 'mean'];
  const head = edge => five.map((t, i) => h('th', { class: 'r' + (edge && i === 0 ? ' edge' : '') }, t));
  section('scores', 'Scores', 'fast_p is the fraction of all problems that are correct and more than p times as fast; failed and missing ones are in the denominator. The mean is geometric, with failures as 1×. A problem counts with its point estimate.',
    h('div', { class: 'card' }, h('div', { class: 'filters' }, 'correct by', switchOf('Verdict', choices, show)),
      h('div', { class: 'scroll' }, h('table', { class: 'scores', id: 'score-table' }, h('thead', {},
        h('tr', {}, h('th'), h('th', { class: 'group edge', colspan: 5 }, 'over eager'), h('th', { class: 'group edge', colspan: 5 }, 'over torch.compile'), h('th', { class: 'group edge', colspan: 2 }, 'torch.compile over eager')),
        h('tr', {}, h('th', {}, ''), head(true), head(true), h('th', { class: 'r edge' }, 'fast_1'), h('th', { class: 'r' }, 'mean'))), body))));
}

panels.push(overviewSection, scoresSection);
