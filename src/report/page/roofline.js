const roofNames = { fma_f32: 'fp32 multiply-add', fma_f64: 'fp64 multiply-add', tensor_f16: 'fp16 matrix units', tensor_bf16: 'bf16 matrix units', tensor_tf32: 'TF32 matrix units' };

function rooflinePoints() {
  const best = stepOf(data.best), points = [];
  for (const shape of best.shapes || []) {
    const cost = data.costs.find(c => c.shape === shape.shape);
    if (!cost || !(cost.flops > 0) || !(cost.bytes > 0)) continue;
    const add = (name, time, kind) => { if (time && time.median > 0) points.push({ name, weight: shape.weight, shape: shape.shape, kind, intensity: cost.flops / cost.bytes, rate: cost.flops / (time.median * 1e-6), time: time.median }); };
    for (const [name, time] of Object.entries(shape.baselines)) add(name, time, 'base');
    add('winner', shape.time, 'winner');
  }
  return points;
}

function drawRoofline(width, points) {
  const height = Math.max(280, Math.min(420, width * 0.5)), left = 52, right = 16, top = 26, bottom = 44;
  const copy = data.peaks.copy, roofs = Object.entries(data.peaks).filter(([name, value]) => name !== 'copy' && value > 0);
  const ridges = roofs.map(([, value]) => value / copy);
  const xs = points.map(p => p.intensity).concat(ridges), ys = points.map(p => p.rate).concat(roofs.map(r => r[1]));
  const x0 = Math.min(...xs) / 3, x1 = Math.max(...xs) * 3, y0 = Math.min(...ys) / 3, y1 = Math.max(...ys) * 2.2;
  const x = v => left + (width - left - right) * Math.log(v / x0) / Math.log(x1 / x0);
  const y = v => top + (height - top - bottom) * (1 - Math.log(v / y0) / Math.log(y1 / y0));
  const roofShare = p => p.rate / Math.min(Math.max(...roofs.map(r => r[1]), 0) || Infinity, copy * p.intensity);
  const parts = [];
  const decades = (low, high) => { const t = []; for (let d = Math.ceil(Math.log10(low)); 10 ** d <= high; ++d) t.push(10 ** d); return t; };
  for (const t of decades(y0, y1)) parts.push(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(t), y2: y(t) }), svg('text', { x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, rate(t, '').trim().replace('.00', '').replace('.0', '')));
  for (const t of decades(x0, x1)) parts.push(svg('text', { x: x(t), y: height - 24, 'text-anchor': 'middle' }, t));
  parts.push(svg('text', { x: 0, y: 12 }, 'FLOP/s'));
  parts.push(svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, 'FLOPs per byte that must move'));
  const highest = Math.max(copy * x0, ...roofs.map(r => r[1]));
  const slopeEnd = Math.min(x1, highest / copy);
  parts.push(svg('line', { x1: x(Math.max(x0, y0 / copy)), y1: y(Math.max(copy * x0, y0)), x2: x(slopeEnd), y2: y(copy * slopeEnd), stroke: 'var(--accent)', 'stroke-width': 2 }));
  const at = Math.sqrt(Math.max(x0, y0 / copy) * slopeEnd);
  const angle = Math.atan2(y(copy * at * 2) - y(copy * at), x(at * 2) - x(at)) * 180 / Math.PI;
  parts.push(svg('text', { class: 'halo', transform: `translate(${x(at)} ${y(copy * at) - 8}) rotate(${angle})`, 'text-anchor': 'middle' }, 'copy ' + rate(copy, 'B/s')));
  for (const [name, value] of roofs) {
    parts.push(svg('line', { x1: x(Math.max(x0, value / copy)), x2: width - right, y1: y(value), y2: y(value), stroke: 'var(--accent)', 'stroke-width': 2, 'stroke-opacity': 0.55 }));
    parts.push(svg('text', { class: 'halo', x: width - right, y: y(value) - 6, 'text-anchor': 'end' }, (roofNames[name] || name) + ' ' + rate(value, 'FLOP/s')));
  }
  for (const p of points) {
    const text = `${p.name}, shape ${p.shape}\n${rate(p.rate, 'FLOP/s')}, ${us(p.time)}\n${Math.round(roofShare(p) * 100)} % of the roof`;
    parts.push(tipped(svg('circle', { cx: x(p.intensity), cy: y(p.rate), r: p.kind === 'winner' ? 7 : 5, fill: p.kind === 'winner' ? 'var(--c-final)' : 'var(--faint)', stroke: 'var(--card)', 'stroke-width': 1.5, class: 'roof-' + p.kind }), text));
  }
  const labelled = new Set();
  for (const p of points.slice().sort((a, b) => b.weight - a.weight)) {
    if (labelled.has(p.name)) continue;
    labelled.add(p.name);
    const flip = x(p.intensity) > width - 190;
    parts.push(svg('text', { class: 'halo' + (p.kind === 'winner' ? ' label' : ''), x: x(p.intensity) + (flip ? -12 : 12), y: y(p.rate) + 4, 'text-anchor': flip ? 'end' : 'start' }, p.kind === 'winner' ? `winner, ${Math.round(roofShare(p) * 100)} % of the roof` : p.name));
  }
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Roofline: winner and baselines against the measured peaks' }, parts);
}

function rooflineSection() {
  if (!data.best) return;
  const points = rooflinePoints(), calibrated = data.peaks && data.peaks.copy > 0;
  const lead = 'What the device can do at most, measured on it, and where the kernels are. Left of the bend memory is the limit, right of it arithmetic.';
  if (!calibrated || !points.length) {
    section('roofline', 'Roofline', null, h('p', { class: 'note', id: 'roofline-missing' }, calibrated ? 'The cost of this task is not known, so there is no roofline.' :
      'This device was not calibrated before the run. ', calibrated ? '' : h('code', {}, 'kerf doctor --calibrate'), calibrated ? '' : ' measures its peaks once; later runs then have a roofline.'));
    return;
  }
  const box = chart('chart', width => drawRoofline(width, points));
  box.id = 'roofline-chart';
  section('roofline', 'Roofline', lead, h('div', { class: 'card' }, box));
}

panels.push(rooflineSection);
