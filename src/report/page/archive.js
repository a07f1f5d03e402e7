function showCell(entry, box, button) {
  for (const other of document.querySelectorAll('.cell[aria-pressed="true"]')) other.setAttribute('aria-pressed', 'false');
  button.setAttribute('aria-pressed', 'true');
  const source = h('div', { id: 'cell-source' });
  const choices = entry.elites.map((n, i) => h('button', { class: 'choice', type: 'button', 'aria-pressed': String(i === 0), onclick: event => {
    for (const other of event.currentTarget.parentNode.children) other.setAttribute('aria-pressed', String(other === event.currentTarget));
    pick(n);
  } }, h('b', {}, times(standing(n))), ' step ' + n, h('br'), h('span', { class: 'muted' }, stepOf(n).name)));
  const pick = n => {
    const step = stepOf(n);
    source.replaceChildren(...[h('p', { class: 'note' }, nice(step.change) || step.operation, '. ', step.decision && sentence(step.decision), ' ', stepLink(n, 'All about step ' + n)), sourceView(step.source)].flat());
  };
  pick(entry.elites[0]);
  box.replaceChildren(h('div', { class: 'card' }, h('h3', {}, entry.cell.map((level, d) => data.dimensions[d].name + ' ' + level).join(' · ')),
    h('p', { class: 'note' }, entry.cell.map((level, d) => data.dimensions[d].levels[level]).join(' · ')),
    h('div', { class: 'choices' }, choices), source));
}

function archiveSection() {
  if (!data.cells.length) return;
  const [rows, columns, panels] = data.dimensions;
  const known = new Map(data.cells.map(entry => [entry.cell.join(), entry]));
  // A finalist that was measured again lives in the archive under its first number.
  const crowned = data.best && stepOf(data.best).stage === 'final' && stepOf(data.best).parents.length ? stepOf(data.best).parents[0] : data.best;
  const shown = entry => (entry.elites.includes(crowned) ? crowned : entry.elites[0]);
  const values = data.cells.map(entry => Math.log(standing(shown(entry)))).filter(finite);
  const low = Math.min(...values), high = confirmed.has(crowned) ? Math.log(standing(crowned)) : Math.max(...values);
  const box = h('div', { class: 'cellbox', id: 'cell', 'aria-live': 'polite' }, h('p', { class: 'note' }, 'Choose a cell to see its kernels.'));
  const levels = [0, 1, 2, 3];
  const panel = z => h('figure', { class: 'panel' },
    h('figcaption', {}, h('b', {}, panels.name + ' ' + z), panels.levels[z]),
    h('div', { class: 'grid' }, levels.slice().reverse().map(r => [h('span', { class: 'tick' }, r), levels.map(c => {
      const entry = known.get([r, c, z].join());
      const where = `${rows.name} ${r}, ${columns.name} ${c}, ${panels.name} ${z}`;
      if (!entry) return h('button', { class: 'cell', type: 'button', disabled: true, 'aria-label': where + ': empty' });
      const ratio = standing(shown(entry)), heat = high > low ? Math.min(1, (Math.log(ratio) - low) / (high - low)) * 100 : 100;
      const button = h('button', { class: 'cell full' + (heat > 55 ? ' deep' : '') + (entry.elites.includes(crowned) ? ' winner' : ''), type: 'button', 'aria-pressed': 'false',
        'data-cell': [r, c, z].join(), 'aria-label': `${where}: ${times(ratio)}, ${entry.elites.length} kernels`, onclick: () => showCell(entry, box, button) }, shortTimes(ratio));
      button.style.setProperty('--heat', String(Math.round(heat)));
      return tipped(button, `${where}\n${times(ratio)}, step ${shown(entry)}\n${entry.elites.length} kept`);
    })]), h('span'), levels.map(c => h('span', { class: 'tick' }, c))));
  section('archive', 'Archive', 'The search keeps the best few kernels of every kind, so that a good idea is not lost to a faster one of another kind. Kinds are read off the compiled code.',
    h('div', { class: 'card' }, h('div', { class: 'panels' }, levels.map(panel)),
      h('p', { class: 'axes' }, `Up: ${rows.name}. Right: ${columns.name}. Panels: ${panels.name}. ★ holds the winner; the stronger the colour, the faster.`),
      h('details', { class: 'levels' }, h('summary', {}, 'What the levels mean'), h('div', { class: 'scroll' }, h('table', {},
        h('thead', {}, h('tr', {}, h('th', {}, ''), levels.map(l => h('th', {}, 'level ' + l)))),
        h('tbody', {}, data.dimensions.map(d => h('tr', {}, h('th', {}, d.name), d.levels.map(text => h('td', {}, text))))))))),
    box);
  const winner = document.querySelector('.cell.winner');
  if (winner) winner.click();
}

panels.push(archiveSection);
