// Minds side by side, answers with and without what was known, and every item with its value as it moved.
function knownSection() {
  if (data.minds.length < 2 && !data.known.length) return;
  const head = (...names) => h('thead', {}, h('tr', {}, names.map((name, i) => h('th', { class: i ? 'r' : '' }, name))));
  const body = rows => h('tbody', {}, rows.map(row => h('tr', {}, row.map((cell, i) => h('td', { class: i ? 'r' : '' }, cell)))));
  const percent = (part, all) => (all ? Math.round(100 * part / all) + ' %' : '–');
  const best = data.minds.reduce((sum, m) => sum + m.new_best, 0);
  const minds = h('div', {}, h('h3', {}, 'Minds'), h('div', { class: 'scroll' },
    h('table', {}, head('mind', 'kernels', 'passed', 'new best', 'share of new bests', 'tokens', 'cost'),
      body(data.minds.map(m => [m.mind, m.kernels, m.passed, m.new_best, percent(m.new_best, best), m.tokens.toLocaleString('en'),
        m.cost_usd > 0 ? m.cost_usd.toFixed(4) + ' USD' : '–'])))));
  const arms = data.arms.length && h('div', {}, h('h3', {}, 'Answers with and without'), h('div', { class: 'scroll' },
    h('table', {}, head('answers', 'number', 'passed', 'mean gain'),
      body(data.arms.map(a => [(a.with ? 'with ' : 'without ') + a.kind, a.answers, percent(a.passed, a.answers), gain(a.mean_gain)])))));
  const items = data.known.length && h('div', {}, h('h3', {}, 'What was used'), h('div', { class: 'scroll' },
    h('table', {}, head('item', 'from', 'uses', 'passed', 'value', 'as it moved'),
      body(data.known.map(k => [k.id, k.about || '–', k.uses, percent(k.passed, k.uses), signed(k.moves[k.moves.length - 1][1]), movesLine(k.moves)])))));
  section('known', 'Minds and knowledge', 'Who proposed kernels, and what experiences, skills and references gave to them.',
    h('div', { class: 'card' }, minds, arms || '', items || '',
      h('p', { class: 'note' }, 'Value: reward of the kernels an item was used for, less what was usual in this run, from 0. Gain: of a kernel over the one that was shown, 0 when it was refused or slower.')));
}

const signed = x => (x >= 0 ? '+' : '−') + Math.abs(x).toFixed(2);

// The value after each use, on a scale from -1 to 1.
function movesLine(moves) {
  const width = 120, height = 24;
  const x = i => (moves.length > 1 ? 2 + (width - 4) * i / (moves.length - 1) : width / 2);
  const y = v => height / 2 - Math.max(-1, Math.min(1, v)) * (height / 2 - 2);
  const points = moves.map(([, v], i) => x(i).toFixed(1) + ',' + y(v).toFixed(1)).join(' ');
  return svg('svg', { width, height, viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'value after each use' },
    svg('line', { x1: 0, x2: width, y1: height / 2, y2: height / 2, stroke: 'currentColor', 'stroke-opacity': 0.25 }),
    svg('polyline', { points, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 }),
    svg('circle', { cx: x(moves.length - 1), cy: y(moves[moves.length - 1][1]), r: 2, fill: 'currentColor' }));
}

panels.push(knownSection);
