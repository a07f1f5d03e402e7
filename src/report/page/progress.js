let progressByTime = false;

function ticksLog(low, high) {
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); ++decade)
    for (const m of [1, 2, 5]) {
      const v = m * 10 ** decade;
      if (v >= low * 0.999 && v <= high * 1.001) ticks.push(v);
    }
  return ticks.length > 8 ? ticks.filter(v => String(v.toPrecision(1))[0] === '1') : ticks;
}
function ticksLinear(low, high, count, whole) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const fine = [1, 2, 5, 10].find(m => m * power >= raw) * power, unit = whole ? Math.max(fine, 1) : fine;
  const ticks = [];
  for (let v = Math.ceil(low / unit) * unit; v <= high + unit * 1e-6; v += unit) ticks.push(v);
  return ticks;
}

function stepTip(step) {
  return () => ['step ' + step.n + ' · ' + step.operation, step.speedup ? times(step.speedup.ratio) + ' (' + interval(step.speedup) + ') against ' + step.speedup.vs
    : words[step.outcome] + (step.gate ? ' at ' + step.gate : ''), nice(step.change)].filter(Boolean).join('\n');
}

function drawProgress(width) {
  const height = Math.max(260, Math.min(400, width * 0.46));
  const left = 44, right = 14, top = 16, rug = 18, bottom = 34;
  const timed = data.steps.filter(s => s.speedup && finite(s.speedup.ratio) && s.speedup.ratio > 0);
  const values = timed.flatMap(s => [s.speedup.ratio]).concat(1);
  // Room for the interval of the fastest, where it does not press all else together.
  const largest = Math.max(...values), ends = timed.filter(s => s.speedup.ratio === largest).map(s => s.speedup.high).filter(finite);
  const low = Math.min(...values) / 1.15, high = Math.min(Math.max(largest, ...ends), 2 * largest) * 1.15;
  const along = s => (progressByTime ? s.seconds : s.n);
  const last = data.steps.length ? Math.max(...data.steps.map(along).filter(finite)) : 1;
  const first = progressByTime ? 0 : 1;
  const x = v => left + (width - left - right) * (last > first ? (v - first) / (last - first) : 0.5);
  const base = height - bottom - rug;
  const y = v => top + (base - top) * (1 - Math.log(v / low) / Math.log(high / low));
  const inside = v => Math.min(base, Math.max(top, y(v)));  // intervals may be wider than the picture
  const parts = [];
  for (const tick of ticksLog(low, high))
    parts.push(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg('text', { x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, tick + '×'));
  for (const tick of ticksLinear(first, last, width < 500 ? 4 : 8, !progressByTime))
    if (progressByTime || tick >= 1) parts.push(svg('text', { x: x(tick), y: height - 8, 'text-anchor': 'middle' }, progressByTime ? seconds(tick) : tick));
  parts.push(svg('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom + 4, y2: height - bottom + 4 }));
  if (low < 1 && high > 1) {
    parts.push(svg('line', { class: 'one', x1: left, x2: width - right, y1: y(1), y2: y(1) }));
    parts.push(svg('text', { class: 'halo', x: width - right, y: y(1) - 6, 'text-anchor': 'end' }, 'strongest baseline'));
  }

  let best = null, line = '', upper = [], lower = [];
  for (const measured of timed) {
    if (measured.stage === 'final') continue;  // the same kernels, measured again
    const step = { ...measured, speedup: confirmed.get(measured.n) || measured.speedup };
    if (confirmed.size && !confirmed.has(measured.n) && measured.speedup.ratio > Math.max(...[...confirmed.values()].map(s => s.ratio))) continue;  // not stood by
    if (best && step.speedup.ratio <= best.speedup.ratio) continue;
    const at = x(along(step));
    line += best ? ` H${at} V${y(step.speedup.ratio)}` : `M${at} ${y(step.speedup.ratio)}`;
    if (best) { upper.push([at, inside(best.speedup.high)]); lower.push([at, inside(best.speedup.low)]); }
    upper.push([at, inside(step.speedup.high)]); lower.push([at, inside(step.speedup.low)]);
    best = step;
  }
  if (best) {
    line += ` H${x(last)}`;
    upper.push([x(last), inside(best.speedup.high)]); lower.push([x(last), inside(best.speedup.low)]);
    parts.push(svg('path', { class: 'band', d: 'M' + upper.concat(lower.reverse()).map(p => p.join(' ')).join(' L') + 'Z' }));
    parts.push(svg('path', { class: 'best', d: line }));
  }
  for (const step of data.steps) {
    const at = x(along(step));
    if (!finite(at)) continue;
    if (step.speedup && step.speedup.ratio > 0) {
      const dot = svg('circle', { class: 'dot ' + step.stage + (step.kept ? '' : ' lost'), cx: at, cy: y(step.speedup.ratio), r: step.n === data.best ? 6 : step.kept ? 4 : 3,
        'data-step': step.n, onclick: () => openDetail(step.n) });
      parts.push(tipped(dot, stepTip(step)));
    } else if (step.outcome !== 'measured') {
      parts.push(svg('line', { class: 'rug', x1: at, x2: at, y1: base + rug - 8, y2: base + rug }));
      parts.push(tipped(svg('rect', { class: 'hit', x: at - 3, y: base + 4, width: 6, height: rug, onclick: () => openDetail(step.n) }), stepTip(step)));
    }
  }
  const winner = data.best ? stepOf(data.best) : best;
  if (winner && winner.speedup) {
    const at = x(along(winner)), near = at > width - 150;
    parts.push(svg('text', { class: 'label halo', x: near ? at - 10 : at + 10, y: y(winner.speedup.ratio) - 12, 'text-anchor': near ? 'end' : 'start' }, times(winner.speedup.ratio)));
  }
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': best ? `Best speedup over ${data.steps.length} steps, ending at ${times(best.speedup.ratio)}` : 'No kernel was measured' }, parts);
}

function progressSection() {
  const box = chart('chart', drawProgress);
  box.id = 'progress-chart';
  const choice = (label, value) => h('button', { type: 'button', 'aria-pressed': String(progressByTime === value), onclick: event => {
    progressByTime = value;
    for (const other of event.target.parentNode.children) other.setAttribute('aria-pressed', String(other === event.target));
    box.redraw();
  } }, label);
  const mark = (kind, text) => h('span', {}, h('i', { class: kind }), text);
  const stages = [...new Set(data.steps.filter(s => s.speedup && s.speedup.ratio > 0).map(s => s.stage))].filter(s => ['start', 'search', 'tune', 'final'].includes(s));
  section('progress', 'Progress', 'Speedup over the strongest baseline, evaluation by evaluation. The line is the best so far with its 95 % interval; each dot is a kernel that passed every check, with its first figure. Finalists are measured again at the end, thoroughly and on fresh data; the line has those figures, and the winner is the best of them.',
    h('div', { class: 'card' }, h('div', { class: 'row' }, h('h3', {}, 'Best so far'), h('div', { class: 'switch' }, choice('by evaluation', false), choice('by time', true))), box,
      h('div', { class: 'legend' }, mark('line', 'best so far'), stages.map(s => mark(s, s)), mark('ring', 'measured, not kept'), mark('tick', 'refused'))));
}

panels.push(progressSection);
