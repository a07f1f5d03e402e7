// Language models and agent programs: what each gave and took, and what came of the prompts.
function modelsSection() {
  if (!data.models.length) return;
  const head = (...names) => h('thead', {}, h('tr', {}, names.map((name, i) => h('th', { class: i ? 'r' : '' }, name))));
  const body = rows => h('tbody', {}, rows.map(row => h('tr', {}, row.map((cell, i) => h('td', { class: i ? 'r' : '' }, cell)))));
  const improvements = data.models.reduce((sum, m) => sum + m.new_best, 0) + data.other_best;
  const share = n => (improvements ? n + ' (' + Math.round(100 * n / improvements) + ' %)' : '–');
  const models = h('table', {}, head('model', 'answers', 'kernels', 'passed', 'new best', 'tokens', 'cost', 'time'),
    body(data.models.map(m => [m.model, m.answers, m.kernels, m.passed, share(m.new_best), m.tokens.toLocaleString('en'),
      m.cost_usd > 0 ? m.cost_usd.toFixed(4) + ' USD' : '–', seconds(m.seconds)])));
  const last = data.steps.length, most = Math.max(1e-3, ...data.prompts.flatMap(p => p.moves.map(([, g]) => Math.log(g))));
  const prompts = data.prompts.length && h('div', {}, h('h3', {}, 'Prompts'), h('div', { class: 'scroll' },
    h('table', {}, head('variant', 'from step', 'last step', 'answers', 'passed', 'best gain', 'mean gain', 'as it moved over the run'),
      body(data.prompts.map(p => [p.variant, p.first_step, p.last_step, p.answers, p.passed, gain(p.best_gain), gain(p.mean_gain),
        creditLine(p.moves, last, most)])))));
  section('models', 'Models', 'What language models and agent programs gave and took.',
    h('div', { class: 'card' }, h('div', { class: 'scroll' }, models), prompts || '',
      h('p', { class: 'note' }, 'New best: steps that were faster than everything before, with the share of all such steps. Gain: of a kernel over the one that was shown, 0 when it was refused or slower.')));
}

// The mean gain after each answer, on the steps of the run; all variants have the same scale, from none to the largest.
function creditLine(moves, last, most) {
  const width = 180, height = 24;
  const x = step => 2 + (width - 4) * (step - 1) / Math.max(1, last - 1);
  const y = g => height - 2 - Math.log(g) / most * (height - 4);
  const points = moves.map(([step, g]) => x(step).toFixed(1) + ',' + y(g).toFixed(1)).join(' ');
  const [step, g] = moves[moves.length - 1];
  return svg('svg', { width, height, viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'mean gain after each answer' },
    svg('line', { x1: 0, x2: width, y1: height - 2, y2: height - 2, stroke: 'currentColor', 'stroke-opacity': 0.25 }),
    svg('polyline', { points, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 }),
    svg('circle', { cx: x(step), cy: y(g), r: 2, fill: 'currentColor' }));
}

panels.push(modelsSection);
