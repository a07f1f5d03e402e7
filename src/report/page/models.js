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
  const prompts = data.prompts.length && h('div', {}, h('h3', {}, 'Prompts'), h('div', { class: 'scroll' },
    h('table', {}, head('variant', 'from step', 'answers', 'passed', 'mean gain', 'best gain', 'last step'),
      body(data.prompts.map(p => [p.variant, p.first_step, p.answers, p.passed, gain(p.mean_gain), gain(p.best_gain), p.last_step])))));
  section('models', 'Models', 'What language models and agent programs gave and took.',
    h('div', { class: 'card' }, h('div', { class: 'scroll' }, models), prompts || '',
      h('p', { class: 'note' }, 'New best: steps that were faster than everything before, with the share of all such steps. Gain: of a kernel over the one that was shown, 0 when it was refused or slower.')));
}

panels.push(modelsSection);
