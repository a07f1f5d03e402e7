function tallyTable(rows, what, directions) {
  const columns = [['tried', 'tried'], ['measured', 'measured'], ['kept', 'kept'], ['best', 'best']].concat(directions ? [['reached', 'reached']] : []);
  return h('div', {}, h('h3', {}, what), h('div', { class: 'scroll' }, h('table', {},
    h('thead', {}, h('tr', {}, h('th', {}, ''), columns.map(c => h('th', { class: 'r' }, c[1])), h('th', { class: 'r' }, 'gain'))),
    h('tbody', {}, rows.map(row => h('tr', {}, h('td', {}, row.name), columns.map(c => h('td', { class: 'r' }, row[c[0]] || h('span', { class: 'muted' }, '–'))),
      h('td', { class: 'r ' + (row.gain > 1 ? 'good' : '') }, row.gain ? gain(row.gain) : '–')))))));
}

function outcomesSection() {
  const note = 'Kept: entered the archive. Best: faster than everything before. Reached: landed in the cell asked for. Gain: median of child over parent.';
  const total = Math.max(1, data.funnel[0].count);
  const bar = stage => {
    const fill = h('div', { class: 'fill' });
    fill.style.width = stage.count / total * 80 + '%';
    fill.style.opacity = String(0.45 + 0.55 * stage.count / total);
    return h('div', { class: 'stage' }, h('div', { class: 'name' }, stage.stage), h('div', { class: 'track' }, fill, h('span', { class: 'n' }, stage.count)),
      stage.lost && h('div', { class: 'lost' }, stage.lost));
  };
  section('outcomes', 'Outcomes', 'How far the proposed kernels came, and what ended those that did not come further.',
    h('div', { class: 'card' }, h('div', { class: 'funnel' }, data.funnel.map(bar)),
      h('div', { class: 'two' }, tallyTable(data.operations, 'By operation', false), data.directions.length ? tallyTable(data.directions, 'By direction asked for', true) : ''), h('p', { class: 'note' }, note)));
}

panels.push(outcomesSection);
