// The winner beside the PyTorch model that it was made from.
function pytorchSection() {
  const c = data.pytorch;
  if (!c || !c.eager || !c.kernel) return;
  const stateWords = { not_asked: 'not asked for', unavailable: 'not available', failed: 'failed', wrong: 'wrong', out_of_memory: 'out of memory',
    timed_out: 'timed out', crashed: 'crashed' };
  const ratioText = r => (r ? `${times(r.ratio)} (${times(r.interval[0])} to ${times(r.interval[1])})` : '–');
  const error = e => (e && finite(e.rms) ? e.rms.toPrecision(2) : '–');
  const row = (name, p, ratio) => h('tr', {}, h('td', {}, name),
    h('td', { class: 'r' }, p.times ? us(p.times.median_us) : stateWords[p.status] || p.status),
    h('td', { class: 'r' }, p.times ? `${us(p.times.interval_us[0])} to ${us(p.times.interval_us[1])}` : ''),
    h('td', { class: 'r' }, ratio), h('td', { class: 'r' }, error(p.errors)));
  const verdict = c.kernelbench.decided && (c.kernelbench.correct
    ? `Right by KernelBench’s rule on ${c.kernelbench.draws} draws of the model’s inputs.`
    : `Not right by KernelBench’s rule on ${c.kernelbench.draws - c.kernelbench.passed} of ${c.kernelbench.draws} draws: ${c.kernelbench.problem}.`);
  const weak = [...new Set(c.weak.map(w => w.kind.replaceAll('_', ' ')))].join(', ');
  const notes = [verdict, c.accuracy_class !== 'undecided' && `PyTorch’s own result has the accuracy of ${c.accuracy_class}.`,
    weak && `The model’s inputs do not tell right from wrong: ${weak} would pass.` +
      (c.hard_inputs === true ? ' The kernel is right on inputs of both signs too.' : c.hard_inputs === false ? ' On inputs of both signs the kernel is NOT right.' : ''),
    ...[['eager', c.eager], ['torch.compile', c.compiled], ['the kernel', c.kernel]].map(([name, p]) => p.status !== 'measured' && p.message && `${name}: ${p.message}`),
    ...c.notes.map(sentence)].filter(Boolean);
  const stale = data.pytorch_step && data.best && data.pytorch_step !== String(data.best);
  section('pytorch', 'Beside PyTorch', `PyTorch ${c.torch} and the kernel${stale ? ' of step ' + data.pytorch_step : ''}, called from Python and timed in turn.`,
    h('div', { class: 'card' }, h('div', { class: 'scroll' }, h('table', {},
      h('thead', {}, h('tr', {}, ['program', 'median', '95 % interval', 'speed of the kernel over it', 'error against f64'].map((name, i) => h('th', { class: i ? 'r' : '' }, name)))),
      h('tbody', {}, row('eager', c.eager, ratioText(c.over_eager)), row('torch.compile', c.compiled, ratioText(c.over_compiled)),
        row('this kernel', c.kernel, '')))),
      notes.map(text => h('p', { class: 'note' }, text))));
}

panels.push(pytorchSection);
