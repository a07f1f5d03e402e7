function summarySection() {
  const best = data.best ? stepOf(data.best) : null;
  const main = best && best.shapes && best.shapes.length ? best.shapes.reduce((a, b) => (b.weight > a.weight ? b : a)) : null;
  const figure = (over, value, cap, size) => h('div', { class: 'figure' }, h('div', { class: 'over' }, over), h('div', { class: size || 'mid' }, value),
    cap && h('div', { class: 'cap' }, cap));
  const boxes = [];
  if (best && best.speedup) {
    boxes.push(figure('Faster than ' + best.speedup.vs, times(best.speedup.ratio), '95 % interval ' + interval(best.speedup), 'big'));
    if (main) {
      const before = main.baselines[best.speedup.vs];
      boxes.push(figure('Time, shape ' + main.shape, us(main.time.median), before ? 'was ' + us(before.median) : ''));
      boxes.push(main.light ? figure('Speed of light', Math.round(main.light.fraction * 100) + ' %', main.light.bound + ' bound, floor ' + us(main.light.floor_us))
        : figure('Speed of light', '–', 'device not calibrated'));
    }
  } else {
    boxes.push(figure('Result', 'None yet', 'no kernel was measured', 'big'));
  }
  boxes.push(figure('Search', String(data.steps.length), 'steps in ' + seconds(data.elapsed) + ', ' + data.cells.length + ' of 64 cells'));
  document.getElementById('main').append(h('section', { class: 'hero', id: 'summary' },
    h('h1', {}, data.task, ' on ', data.target),
    h('p', { class: 'sub' }, [data.device, data.finished ? 'ended: ' + data.finished : 'not finished', 'seed ' + data.seed].filter(Boolean).join(' · ')),
    h('div', { class: 'card figures' }, boxes),
    best && h('p', { class: 'note' }, 'The winner is ', stepLink(data.best, 'step ' + data.best), ', ', h('span', { class: 'mono' }, best.name),
      Object.keys(best.tunables).length ? [' with ', h('span', { class: 'mono' }, tunablesText(best.tunables))] : '', '. Every kernel here passed or failed the same checks: built, run in a sandbox, compared with a double-precision reference, timed on fresh data.')));
}
