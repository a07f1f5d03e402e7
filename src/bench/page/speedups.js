function drawSpeedups(width) {
  const height = Math.max(260, Math.min(400, width * 0.42)), left = 46, right = 16, top = 14, bottom = 30;
  const list = shown().filter(p => finite(counted(p, speedupOver))).sort((a, b) => counted(a, speedupOver) - counted(b, speedupOver));
  const parts = [], span = p => p.pytorch[speedupOver];
  if (!list.length) return h('p', { class: 'note' }, 'No problem has this figure yet.');
  const values = list.map(p => counted(p, speedupOver));
  const y0 = Math.min(0.5, values[0]) / 1.15, y1 = Math.max(2, values[values.length - 1]) * 1.15;
  const y = v => top + (height - top - bottom) * (1 - Math.log(Math.max(y0, Math.min(y1, v)) / y0) / Math.log(y1 / y0));
  const x = i => left + (width - left - right) * (i + 0.5) / list.length;
  let ticks = doublings(y0, y1);
  if (ticks.length > 9) ticks = ticks.filter(t => Number.isInteger(Math.log2(t) / 2));
  for (const t of ticks) parts.push(svg('line', { class: t === 1 ? 'one' : 'grid', x1: left, x2: width - right, y1: y(t), y2: y(t) }), svg('text', { x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, tickText(t)));
  parts.push(svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, `${list.length} problems, slowest to fastest`));
  const kind = speedupOver === 'over_eager' ? 'c-eager' : 'c-compiled', radius = Math.max(2, Math.min(5, 160 / list.length));
  list.forEach((p, i) => {
    const s = span(p), sure = !(s.low > 0 && s.high > 0) || s.low > 1 || s.high < 1;
    if (s.low > 0 && s.high > 0) parts.push(svg('line', { class: 'span ' + kind, x1: x(i), x2: x(i), y1: y(s.low), y2: y(s.high) }));
    parts.push(tipped(svg('circle', { class: `mark ${kind}${sure ? '' : ' uncertain'}`, cx: x(i), cy: y(s.ratio), r: radius, onclick: () => openProblem(p) }), `${label(p)}\n${times(s.ratio)}${interval(s) ? ' (' + interval(s) + ')' : ''}`));
  });
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Speedup of every problem with its interval' }, parts);
}
let speedupOver = 'over_eager';

function speedupsSection() {
  if (!problems.some(p => finite(counted(p, 'over_eager')))) return;
  const box = chart('chart', drawSpeedups);
  box.id = 'speedups-chart';
  redraws.push(() => box.redraw());
  section('speedups', 'Speedups', 'Every correct problem with the 95 % interval of its speedup; pale dots are those whose interval holds 1×.', h('div', { class: 'card' },
    h('div', { class: 'filters' }, switchOf('Over', [['over_eager', 'over eager'], ['over_compiled', 'over torch.compile']], value => { speedupOver = value; box.redraw(); }), levelSwitch()), box));
}

function drawLight(width) {
  const height = Math.max(280, Math.min(420, width * 0.48)), left = 46, right = 16, top = 14, bottom = 42;
  const list = shown().filter(p => p.search.speed_of_light && finite(p.search.speed_of_light.fraction) && finite(counted(p, 'over_eager')));
  const parts = [];
  const ys = list.map(p => counted(p, 'over_eager')), xs = list.map(p => p.search.speed_of_light.fraction);
  const x0 = Math.max(0.001, Math.min(0.1, ...xs) / 1.3), x1 = Math.max(1.1, ...xs), y0 = Math.min(0.5, ...ys) / 1.2, y1 = Math.max(2, ...ys) * 1.2;
  const x = v => left + (width - left - right) * Math.log(Math.max(x0, v) / x0) / Math.log(x1 / x0);
  const y = v => top + (height - top - bottom) * (1 - Math.log(v / y0) / Math.log(y1 / y0));
  for (const t of doublings(y0, y1)) parts.push(svg('line', { class: t === 1 ? 'one' : 'grid', x1: left, x2: width - right, y1: y(t), y2: y(t) }), svg('text', { x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, tickText(t)));
  for (const t of [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]) if (t >= x0 && t <= x1) parts.push(svg('line', { class: t === 1 ? 'one' : 'grid', x1: x(t), x2: x(t), y1: top, y2: height - bottom }), svg('text', { x: x(t), y: height - 24, 'text-anchor': 'middle' }, (100 * t) + ' %'));
  parts.push(svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, 'share of the speed of light that our kernel reaches'));
  for (const p of list) {
    const light = p.search.speed_of_light;
    parts.push(tipped(svg('circle', { class: 'mark c-' + light.bound, cx: x(light.fraction), cy: y(counted(p, 'over_eager')), r: 5, onclick: () => openProblem(p) }), `${label(p)}\n${times(counted(p, 'over_eager'))} over eager\n${percent(light.fraction)} of the speed of light (${light.bound} bound)`));
  }
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Speedup over eager against the share of the speed of light' }, parts);
}

function lightSection() {
  const known = problems.some(p => p.search.speed_of_light && finite(counted(p, 'over_eager')));
  if (!known) {
    section('light', 'Speed of light', null, h('p', { class: 'note', id: 'light-missing' }, 'This device was not calibrated before the searches. ', h('code', {}, 'kerf doctor --calibrate'), ' measures its peaks once.'));
    return;
  }
  const box = chart('chart', drawLight);
  box.id = 'light-chart';
  redraws.push(() => box.redraw());
  section('light', 'Speed of light', 'What is still possible: the least time that the bytes and operations of a problem take on this device, over the time of our kernel. Left and low: a better kernel is worth looking for.',
    h('div', { class: 'card' }, h('div', { class: 'filters' }, levelSwitch()), box, h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'c-memory' }), 'memory bound'), h('span', {}, h('i', { class: 'c-compute' }), 'compute bound'))));
}

panels.push(speedupsSection, lightSection);
