// Skills that the run could use: the evidence behind each, and what came of it here.
function skillsSection() {
  if (!data.skills.length) return;
  const ratio = (mean, low, high) => times(mean) + ' (' + times(low) + ' to ' + times(high) + ')';
  const trial = (t, mean, low, high) => (t ? ratio(t[mean], t[low], t[high]) : '–');
  const head = ['skill', 'state', 'with / without', 'with / placebo', 'pairs', 'used', 'passed', 'new best', 'against without, here'];
  const rows = data.skills.map(s => h('tr', { title: s.description }, h('td', {}, s.name), h('td', {}, s.state),
    [trial(s.trial, 'effect', 'low', 'high'), trial(s.trial, 'over_placebo', 'placebo_low', 'placebo_high'),
      s.trial ? s.trial.samples : '–', s.used, s.passed, s.new_best, s.compared ? gain(s.gain) : '–']
      .map(cell => h('td', { class: 'r' }, cell))));
  section('skills', 'Skills', 'Advice that the run could use, with its evidence.',
    h('div', { class: 'card' }, h('div', { class: 'scroll' },
      h('table', {}, h('thead', {}, h('tr', {}, head.map((name, i) => h('th', { class: i > 1 ? 'r' : '' }, name)))), h('tbody', {}, rows))),
      h('p', { class: 'note' }, 'With / without: ratio of speeds in the last trial on three tasks or more, with its 90 % interval. Here: kernels of this run with the skill against those without one.')));
}

panels.push(skillsSection);
