const failureWords = { refused: 'not importable', broken: 'broken model file', no_kernel: 'no kernel passed every gate', search_failed: 'search failed', crashed: 'crashed', timed_out: 'timed out',
  out_of_memory: 'out of memory', export_failed: 'export failed', wrong: 'wrong in PyTorch', compare_failed: 'comparison failed' };
const timeOf = t => (t && finite(t.median_us) ? t.median_us : NaN);
const columns = [
  { title: 'problem', key: p => problems.indexOf(p), cell: p => [p.id, ' ', p.name.replace(/^\d+_/, '').replaceAll('_', ' ')], class: 'name' },
  { title: 'over eager', right: true, key: p => counted(p, 'over_eager'), cell: p => ratioCell(p, 'over_eager'), mark: p => speedClass(p, 'over_eager') },
  { title: 'over compile', right: true, key: p => counted(p, 'over_compiled'), cell: p => ratioCell(p, 'over_compiled'), mark: p => speedClass(p, 'over_compiled') },
  { title: 'eager', right: true, key: p => timeOf(p.pytorch.eager), cell: p => us(timeOf(p.pytorch.eager)) },
  { title: 'compile', right: true, key: p => timeOf(p.pytorch.compiled), cell: p => us(timeOf(p.pytorch.compiled)) },
  { title: 'Kerf', right: true, key: p => timeOf(p.pytorch.ours), cell: p => us(timeOf(p.pytorch.ours)) },
  { title: 'correct', key: p => (p.pytorch.correct ? 2 : 0) + (p.pytorch.kernelbench_correct ? 1 : 0), cell: p => verdictCell(p) },
  { title: 'of light', right: true, key: p => (p.search.speed_of_light ? p.search.speed_of_light.fraction : NaN), cell: p => (p.search.speed_of_light ? percent(p.search.speed_of_light.fraction) : '–') },
  { title: 'tries', right: true, key: p => p.search.evaluations, cell: p => String(p.search.evaluations) },
  { title: 'time', right: true, key: p => p.seconds.total, cell: p => seconds(p.seconds.total) },
];
function ratioCell(p, key) { return finite(counted(p, key)) ? times(counted(p, key)) : '–'; }
function speedClass(p, key) { const r = counted(p, key); return !finite(r) ? 'fail' : r > 1 ? 'fast' : 'slow'; }
function verdictCell(p) {
  if (p.failure) return h('span', { class: 'pill bad' }, failureWords[p.failure] || p.failure);
  if (!finished(p)) return h('span', { class: 'pill' }, p.progress === 'missing' ? 'not begun' : p.progress);
  const parts = [h('span', { class: 'pill good' }, 'yes')];
  if (p.pytorch.kernelbench_correct === false) parts.push(' ', tipped(h('span', { class: 'pill bad' }, 'KernelBench: no'), p.pytorch.kernelbench_problem || 'beyond its tolerance'));
  if (weak(p)) parts.push(' ', tipped(h('span', { class: 'pill' }, 'weak'), 'passes KernelBench’s check too: ' + p.pytorch.weak.join(', ')));
  return parts;
}

function problemsSection() {
  let sorted = 0, down = false, text = '', only = 'all';
  const body = h('tbody'), heads = [];
  const count = h('span', { class: 'muted' });
  const matches = p => (only === 'all' || (only === 'failed' ? p.failure !== '' || !finished(p) : only === 'slower' ? counted(p, 'over_eager') <= 1 : weak(p))) &&
    (p.id + ' ' + p.name + ' ' + p.search.kernel + ' ' + p.failure).toLowerCase().includes(text);
  const show = () => {
    const list = shown().filter(matches), key = columns[sorted].key;
    const rank = v => (finite(v) ? v : -Infinity);
    list.sort((a, b) => (down ? -1 : 1) * (rank(key(a)) - rank(key(b))) || problems.indexOf(a) - problems.indexOf(b));
    count.textContent = `${list.length} of ${problems.length}`;
    heads.forEach((th, i) => { if (i === sorted) th.setAttribute('aria-sort', down ? 'descending' : 'ascending'); else th.removeAttribute('aria-sort'); });
    body.replaceChildren(...list.map(p => h('tr', { 'data-id': p.id, onclick: () => openProblem(p) }, columns.map((c, i) => h('td', { class: [c.right ? 'r' : '', c.class || '', c.mark ? c.mark(p) : ''].join(' ').trim() || null, title: c.class === 'name' ? p.name : null },
      i === 0 ? h('button', { class: 'link', type: 'button', onclick: event => { event.stopPropagation(); openProblem(p); } }, c.cell(p)) : c.cell(p))))));
  };
  columns.forEach((c, i) => heads.push(h('th', { class: c.right ? 'r' : null, scope: 'col' }, h('button', { type: 'button', onclick: () => { down = sorted === i ? !down : c.right === true; sorted = i; show(); } }, c.title))));
  redraws.push(show);
  show();
  const choices = [['all', 'all'], ['slower', 'not faster'], ['failed', 'failed or missing']];
  if (problems.some(weak)) choices.push(['weak', 'weak']);
  section('problems', 'Problems', 'Times are medians of calls taken in turn in one Python process. Click a row for everything about it.', h('div', { class: 'card' },
    h('div', { class: 'filters' }, levelSwitch(), switchOf('Which', choices, value => { only = value; show(); }),
      h('input', { type: 'search', placeholder: 'name, kernel, reason', 'aria-label': 'Filter', id: 'problem-filter', oninput: event => { text = event.target.value.toLowerCase(); show(); } }), count),
    h('div', { class: 'scroll' }, h('table', { class: 'problems', id: 'problem-table' }, h('thead', {}, h('tr', {}, heads)), body))));
}

function openProblem(p) {
  const t = p.pytorch, light = p.search.speed_of_light, dialog = document.getElementById('detail');
  const span = time => (time ? `${us(time.median_us)} (${us(time.low_us)} to ${us(time.high_us)})` : '–');
  const ratio = r => (r ? times(r.ratio) + (interval(r) && r.low > 0 ? ` (${interval(r)})` : '') : '–');
  const facts = [['Model', p.file], p.init && ['Setting', `Model(${JSON.stringify(p.init)}), get_inputs(${JSON.stringify(p.inputs)})`],
    p.failure && ['Failed', `${failureWords[p.failure] || p.failure}, at the ${p.stage}`],
    ['Kernel', p.search.kernel || '–'], ['Verdict of Kerf', p.pytorch.correct ? 'correct: passed every gate, right in PyTorch' : p.search.verified ? 'passed every gate' : '–'],
    ['Verdict of KernelBench', t.kernelbench_correct === null ? '–' : t.kernelbench_correct ? 'correct' : 'not correct: ' + (t.kernelbench_problem || `largest difference ${t.kernelbench_worst}`)],
    weak(p) && ['Weak', 'answers that pass without computing anything: ' + t.weak.join(', ')],
    ['Accuracy class', [p.search.precision && 'task ' + p.search.precision, t.eager_class && 'eager, measured: ' + t.eager_class].filter(Boolean).join('; ') || '–'],
    ['torch.compile', t.compile_status + (t.compile_message ? ': ' + t.compile_message : '')],
    light && ['Speed of light', `${percent(light.fraction)}, ${light.bound} bound, floor ${us(light.floor_us)}`],
    p.search.over_naive && ['Over the plain kernel', times(p.search.over_naive.ratio)],
    ['Search', `${p.search.evaluations} evaluations, ${p.search.refused} refused${p.search.stopped ? '; ' + p.search.stopped : ''}`],
    ['Time', `import ${seconds(p.seconds.import)}, search ${seconds(p.seconds.search)}, export ${seconds(p.seconds.export)}, comparison ${seconds(p.seconds.compare)}`],
    p.search_memory_bytes > 0 && ['Memory of the search', rate(p.search_memory_bytes, 'B')],
    p.import.share < 1 && ['Share of the model', `${percent(p.import.share)}; with PyTorch stays ${p.import.missing.join(', ')}`], ['Seed', p.seed]].filter(Boolean);
  const files = [p.search.evaluations > 0 && ['run/report.html', 'report of the run'], [p.folder.split('/').pop() + '.py', 'model'], p.progress !== 'missing' && ['task.toml', 'task'],
    ['exported', 'done'].includes(p.progress) && ['solution.py', 'solution: ModelNew'], ['record.json', 'record']].filter(Boolean);
  dialog.replaceChildren(h('div', { class: 'head' }, h('h2', { id: 'detail-title' }, label(p)), h('button', { class: 'close', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, '×')),
    h('div', { class: 'in' },
      h('div', { class: 'scroll times' }, h('table', {}, h('thead', {}, h('tr', {}, ['', 'time', 'over eager', 'over torch.compile'].map(x => h('th', { class: x ? 'r' : null }, x)))), h('tbody', {},
        [['eager PyTorch', t.eager, null, null], ['torch.compile', t.compiled, t.compiled_over_eager, null], ['Kerf', t.ours, t.over_eager, t.over_compiled]].map(([name, time, a, b]) =>
          h('tr', {}, h('td', {}, name), h('td', { class: 'r' }, span(time)), h('td', { class: 'r' }, ratio(a)), h('td', { class: 'r' }, ratio(b))))))),
      h('dl', { class: 'facts' }, facts.map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)])),
      p.message && [h('h3', {}, 'Message'), h('pre', { class: 'text' }, p.message)],
      p.import.notes.length > 0 && [h('h3', {}, 'Notes of the import'), h('pre', { class: 'text' }, p.import.notes.join('\n'))],
      h('h3', {}, 'Files'), h('p', { class: 'tools' }, files.map(([file, text]) => h('a', { href: encodeURI(p.folder).replaceAll('#', '%23').replaceAll('?', '%3F') + '/' + file }, text)))));
  dialog.showModal();
  history.replaceState(null, '', '#problem-' + p.id);
}

panels.push(problemsSection);
