// The ancestors of the winner: generations from left to right, its own line on top.
function drawTree() {
  const main = new Set(data.lineage), depth = new Map(), lane = new Map();
  for (const n of data.ancestors) depth.set(n, Math.max(-1, ...stepOf(n).parents.map(p => depth.get(p))) + 1);
  const taken = new Map();  // depth -> lanes in use
  for (const n of data.ancestors) {
    const used = taken.get(depth.get(n)) || new Set();
    let at = main.has(n) ? 0 : 1;
    while (used.has(at)) ++at;
    used.add(at);
    taken.set(depth.get(n), used);
    lane.set(n, at);
  }
  const gap = 86, rowHeight = 62, radius = 17, pad = 30;
  const width = (Math.max(...depth.values()) + 1) * gap + pad, height = (Math.max(...lane.values()) + 1) * rowHeight + 12;
  const x = n => pad + depth.get(n) * gap, y = n => 26 + lane.get(n) * rowHeight;
  const edges = [], nodes = [];
  for (const n of data.ancestors) {
    for (const p of stepOf(n).parents) {
      const middle = (x(p) + x(n)) / 2;
      edges.push(svg('path', { class: 'edge' + (main.has(n) && main.has(p) ? ' main' : ''), d: `M${x(p) + radius} ${y(p)} C${middle} ${y(p)} ${middle} ${y(n)} ${x(n) - radius} ${y(n)}` }));
    }
    nodes.push(tipped(svg('g', { class: 'node' + (main.has(n) ? ' main' : ''), tabindex: 0, role: 'button', 'aria-label': 'step ' + n, onclick: () => openDetail(n),
      onkeydown: event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); openDetail(n); } } },
      svg('circle', { cx: x(n), cy: y(n), r: radius }), svg('text', { class: 'no', x: x(n), y: y(n) + 4 }, n),
      svg('text', { class: 'sp', x: x(n), y: y(n) + radius + 14 }, times(speed(n)))), stepTip(stepOf(n))));
  }
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Ancestors of the winner' }, edges, nodes);
}

function lineageSection() {
  if (!data.best) return;
  const cards = data.lineage.map(n => {
    const step = stepOf(n), diff = data.diffs[n], parent = step.parents[0];
    const again = step.stage === 'final';  // the parent's kernel, measured at another time: no gain and no loss
    const ratio = parent && !again ? speed(n) / speed(parent) : NaN;
    const others = step.parents.slice(1);
    return h('li', { id: 'line-' + n }, h('div', { class: 'head' }, h('b', {}, times(speed(n))), stepLink(n),
      h('span', { class: 'pill' }, step.operation), finite(ratio) && h('span', { class: 'pill ' + (ratio >= 1 ? 'good' : 'bad') }, gain(ratio)),
      step.speedup && h('span', { class: 'muted' }, interval(step.speedup))),
      h('p', { class: 'change' }, nice(step.change) || (parent ? 'changed' : 'a new start'), others.length ? [' with ', others.map((o, i) => [i ? ', ' : '', stepLink(o)])] : ''),
      step.decision && h('p', { class: 'why' }, step.decision),
      diff && !again && (diff.hunks.length ? h('details', { class: 'diff' }, h('summary', {}, `Changes against step ${diff.parent}: +${diff.added} −${diff.removed} lines`), diffView(diff))
        : h('p', { class: 'note' }, `The same source as step ${diff.parent}; only the tunables differ: `, h('span', { class: 'mono' }, tunablesText(step.tunables)))));
  });
  section('lineage', 'Lineage', 'How the winner came about, from its first ancestor on: what was changed, what that gained, and why it was kept.',
    h('div', { class: 'card' }, h('div', { class: 'tree' }, drawTree()), h('ol', { class: 'story' }, cards)));
}

panels.push(lineageSection);
