function tunablesSection() {
  const tried = data.steps.filter(s => ['tune', 'final'].includes(s.stage) && s.outcome === 'measured' && s.shapes && s.shapes.length && Object.keys(s.tunables).length);
  if (!tried.length) return;
  // Tables of different kernels do not mix: the winner's, or else the one that was tried most.
  const kind = s => s.name + ' ' + Object.keys(s.tunables).join();
  const count = k => tried.filter(s => kind(s) === k).length;
  const winner = data.best ? stepOf(data.best) : tried[0];
  const chosen = count(kind(winner)) > 1 ? kind(winner) : tried.map(kind).sort((a, b) => count(b) - count(a))[0];
  const trials = tried.filter(s => kind(s) === chosen);
  const names = [...new Set(trials.flatMap(s => Object.keys(s.tunables)))];
  const shapes = [...new Set(trials.flatMap(s => s.shapes.map(t => t.shape)))];
  const timeOf = (s, shape) => { const t = s.shapes.find(t => t.shape === shape); return t ? t.time.median : NaN; };
  const overall = s => Math.exp(s.shapes.reduce((sum, t) => sum + t.weight * Math.log(t.time.median), 0) / s.shapes.reduce((sum, t) => sum + t.weight, 0));
  trials.sort((a, b) => overall(a) - overall(b));
  const fastest = new Map(shapes.map(shape => [shape, Math.min(...trials.map(s => timeOf(s, shape)).filter(finite))]));
  const row = s => h('tr', { class: s.n === winner.n ? 'win' : undefined }, h('td', {}, stepLink(s.n, String(s.n))), names.map(n => h('td', { class: 'r mono' }, s.tunables[n] ?? '–')),
    shapes.map(shape => h('td', { class: 'r' + (timeOf(s, shape) === fastest.get(shape) ? ' fast' : '') }, us(timeOf(s, shape)))),
    h('td', { class: 'r' }, s.speedup && s.speedup.ratio > 0 ? times(s.speedup.ratio) : h('span', { class: 'muted' }, 'quick timing')));
  const shown = 25, body = h('tbody', {}, trials.slice(0, shown).map(row));
  const more = trials.length > shown && h('button', { class: 'link', type: 'button', onclick: () => { body.replaceChildren(...trials.map(row)); more.remove(); } }, `Show all ${trials.length}`);
  section('tunables', 'Tunables', 'Values that were tried in ' + trials[0].name + ', fastest first; the fastest time of each shape is green.',
    h('div', { class: 'card' }, h('div', { class: 'scroll' }, h('table', { id: 'tunable-table' },
      h('thead', {}, h('tr', {}, h('th', {}, 'step'), names.map(n => h('th', { class: 'r' }, n)), shapes.map(s => h('th', { class: 'r' }, s)), h('th', { class: 'r' }, 'speedup'))), body)), more || ''));
}

panels.push(tunablesSection);
