function summarySection() {
  const best = data.best ? stepOf(data.best) : null;
  const main = best && best.shapes && best.shapes.length ? best.shapes.reduce((a, b) => (b.weight > a.weight ? b : a)) : null;
  const figure = (over, value, cap, size) => h('div', { class: 'figure' }, h('div', { class: 'over' }, over), h('div', { class: size || 'mid' }, value),
    cap && h('div', { class: 'cap' }, cap));
  const boxes = [];
  if (best && best.speedup) {
    const title = { faster: 'Faster than ', slower: 'Slower than ', undecided: 'Not shown faster than ' }[best.speedup.standing] || 'Against ';
    boxes.push(figure(title + best.speedup.vs, times(best.speedup.ratio), '95 % interval ' + interval(best.speedup), best.speedup.standing === 'faster' ? 'big' : 'big unproved'));
    if (main) {
      const paired = main.speedups[best.speedup.vs];  // the baseline's time that belongs to this ratio: medians of other rounds would contradict it
      boxes.push(figure('Time, shape ' + main.shape, us(main.time.median), paired ? best.speedup.vs + ' ' + us(main.time.median * paired) : ''));
      boxes.push(main.light ? figure('Speed of light', Math.round(main.light.fraction * 100) + ' %', main.light.bound + ' bound, floor ' + us(main.light.floor_us))
        : figure('Speed of light', '–', 'device not calibrated'));
    }
  } else if (best && best.plain) {
    boxes.push(figure('Result', 'The plain kernel', 'nothing was shown to be faster', 'big unproved'));
    if (main) boxes.push(figure('Time, shape ' + main.shape, us(main.time.median)));
  } else {
    boxes.push(figure('Result', 'None yet', 'no kernel was measured', 'big'));
  }
  boxes.push(figure('Search', String(data.steps.length), 'steps in ' + seconds(data.elapsed) + ', ' + data.cells.length + ' of 64 cells'));
  document.getElementById('main').append(h('section', { class: 'hero', id: 'summary' },
    h('h1', {}, data.task, ' on ', data.target),
    h('p', { class: 'sub' }, [data.device, data.finished ? 'ended: ' + data.finished : 'not finished', 'seed ' + data.seed].filter(Boolean).join(' · ')),
    h('div', { class: 'card figures' }, boxes),
    best && best.speedup && best.speedup.standing !== 'faster' && h('p', { class: 'warning', id: 'not-faster' },
      `No kernel of this run is faster than ${best.speedup.vs} beyond the noise. Use the plain kernel (naive.* in the run folder, or kerf naive), or let the search go on.`),
    best && h('p', { class: 'note' }, best.speedup && best.speedup.standing !== 'faster' ? 'The best of them is ' : 'The winner is ', stepLink(data.best, 'step ' + data.best), ', ', h('span', { class: 'mono' }, best.name),
      Object.keys(best.tunables).length ? [' with ', h('span', { class: 'mono' }, tunablesText(best.tunables))] : '', '. Every kernel here passed or failed the same checks: built, run in a sandbox, compared with a double-precision reference, timed on fresh data.'),
    best && best.seen && h('p', { class: 'note', id: 'seen' }, best.seen)));
}

panels.push(summarySection);
