const curveKinds = [['c-eager', 'Kerf over eager', p => counted(p, 'over_eager')], ['c-compiled', 'Kerf over torch.compile', p => counted(p, 'over_compiled')], ['c-torch', 'torch.compile over eager', compileRatio]];

function drawCurves(width) {
  const height = Math.max(260, Math.min(380, width * 0.42)), left = 46, right = 16, top = 14, bottom = 42;
  const list = shown(), ratios = curveKinds.flatMap(([, , of]) => list.map(of)).filter(finite);
  const x0 = 0.25, x1 = Math.max(4, 2 ** Math.ceil(Math.log2(Math.min(64, ratios.length ? Math.max(...ratios) : 4))));
  const x = p => left + (width - left - right) * Math.log(Math.max(x0, Math.min(x1, p)) / x0) / Math.log(x1 / x0);
  const y = f => top + (height - top - bottom) * (1 - f);
  const parts = [];
  for (const f of [0, 0.25, 0.5, 0.75, 1]) parts.push(svg('line', { class: f ? 'grid' : 'axis', x1: left, x2: width - right, y1: y(f), y2: y(f) }), svg('text', { x: left - 8, y: y(f) + 4, 'text-anchor': 'end' }, percent(f)));
  for (const p of doublings(x0, x1)) parts.push(svg('text', { x: x(p), y: height - 22, 'text-anchor': 'middle' }, tickText(p)));
  parts.push(svg('line', { class: 'one', x1: x(1), x2: x(1), y1: top, y2: height - bottom }), svg('text', { x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, 'p'));
  for (const [kind, , of] of curveKinds) {
    // The fraction with a speedup above p falls at each speedup.
    const sorted = list.map(of).filter(finite).sort((a, b) => a - b), n = list.length || 1;
    let above = sorted.length, d = `M${x(x0)} ${y(sorted.filter(r => r > x0).length / n)}`;
    for (const r of sorted) {
      if (r <= x0) { --above; continue; }
      if (r > x1) break;
      d += `H${x(r)}V${y(--above / n)}`;
    }
    parts.push(svg('path', { class: 'curve ' + kind, d: d + `H${x(x1)}` }));
  }
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'fast_p: fraction of problems that are correct and more than p times as fast' }, parts);
}

function curvesSection() {
  const box = chart('chart', drawCurves);
  box.id = 'curves-chart';
  redraws.push(() => box.redraw());
  section('curves', 'fast_p', 'How many of all problems are correct and more than p times as fast, for every p.', h('div', { class: 'card' }, h('div', { class: 'filters' }, levelSwitch()), box,
    h('div', { class: 'legend' }, curveKinds.map(([kind, text]) => h('span', {}, h('i', { class: kind }), text)))));
}

panels.push(curvesSection);
