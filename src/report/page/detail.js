const dialog = document.getElementById('detail');
dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener('close', () => { if (location.hash.startsWith('#step-')) history.replaceState(null, '', location.pathname + location.search); });

function evidenceTable(e) {
  const rows = [['Output', e.output], ['Shape', e.shape], ['Inputs', e.distribution], ['Wrong elements', e.wrong + ' of ' + e.total], ['Worst at', '[' + e.worst_index.join(', ') + ']'],
    ['Expected', e.expected], ['Was', e.actual], ['Allowed difference', e.tolerance], ['Wrong region', e.box_low.map((l, i) => l + '…' + e.box_high[i]).join(' × ')]];
  return h('dl', { class: 'facts' }, rows.map(([k, v]) => [h('dt', {}, k), h('dd', {}, String(v))]));
}

function conversation(n, turns) {
  const said = (who, text) => text ? [h('dt', {}, who), h('dd', {}, h('pre', { class: 'text' }, text))] : '';
  return turns.map(t => h('details', { class: 'talk' }, h('summary', {}, `${t.model || 'a program'} asked as ${t.asked_as}, turn ${t.turn}: ${t.outcome}; ${t.prompt_tokens} and ${t.reply_tokens} tokens in ${seconds(t.seconds)}`
    + (t.cost_usd ? `, ${t.cost_usd.toFixed(4)} USD` : '')),
    t.messages ? h('dl', { class: 'chat' }, t.messages.map(m => said(m.role, m.content)), said('reasoning', t.reasoning), said('reply', t.reply))
      : h('p', { class: 'note' }, `left out to keep this page small; kerf explain RUN ${n} --chat shows it`)));
}

function openDetail(n) {
  const step = stepOf(n);
  if (!step) return;
  const children = data.steps.filter(s => s.parents.includes(n)).map(s => s.n);
  const links = list => list.map((m, i) => [i ? ', ' : '', stepLink(m)]);
  const body = [h('p', {}, h('span', { class: 'pill ' + (step.outcome === 'measured' ? (step.kept ? 'good' : '') : 'bad') }, words[step.outcome] + (step.gate ? ' (' + step.gate + ')' : '')), ' ',
    h('span', { class: 'pill' }, step.stage), ' ', h('span', { class: 'pill' }, step.proposer + ' ' + step.operation), ' ', step.direction && h('span', { class: 'pill' }, 'asked for ' + step.direction)),
    step.change && h('p', {}, nice(step.change)), step.decision && h('p', { class: 'note' }, step.decision)];
  if (step.speedup && step.speedup.ratio > 0) body.push(h('p', {}, h('b', {}, times(step.speedup.ratio)), ` over ${step.speedup.vs} (${interval(step.speedup)})`,
    step.alone ? `; by itself it measured ${times(step.alone.ratio)}, this is on the winner's scale, by way of kernels timed in turn where there are any` : ''));
  if (step.paired) body.push(h('p', {}, step.paired));
  if (step.shapes && step.shapes.length) body.push(h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'shape'), h('th', { class: 'r' }, 'time'), h('th', {}, '95 % interval'), h('th', {}, 'baselines'), h('th', { class: 'r' }, 'speed of light'))),
    h('tbody', {}, step.shapes.map(s => h('tr', {}, h('td', {}, s.shape), h('td', { class: 'r' }, us(s.time.median)), h('td', {}, us(s.time.low) + ' to ' + us(s.time.high)),
      h('td', {}, Object.entries(s.baselines).map(([k, t]) => k + ' ' + us(t.median)).join(', ')), h('td', { class: 'r' }, s.light ? Math.round(s.light.fraction * 100) + ' %' : '–')))))));
  if (step.message) body.push(h('h3', {}, 'What was seen'), h('pre', { class: 'text' }, step.message));
  if (step.evidence) body.push(h('h3', {}, 'Evidence'), evidenceTable(step.evidence));
  const facts = [['Kernel', step.name], ['Id', step.id], ['Tunables', tunablesText(step.tunables)], ['Cell', step.cell.length ? step.cell.map((l, d) => data.dimensions[d].name + ' ' + l).join(', ') : ''],
    ['Why there', step.reasons.join('; ')], ['At', seconds(step.seconds)]].filter(f => f[1]);
  body.push(h('h3', {}, 'Facts'), h('dl', { class: 'facts' }, facts.map(([k, v]) => [h('dt', {}, k), h('dd', { class: k === 'Id' ? 'mono' : undefined }, v)]),
    step.parents.length ? [h('dt', {}, 'Parents'), h('dd', {}, links(step.parents))] : '', children.length ? [h('dt', {}, 'Children'), h('dd', {}, links(children.slice(0, 40)), children.length > 40 ? ` and ${children.length - 40} more` : '')] : ''));
  const talk = (data.conversations || []).find(c => c.step === n);
  if (talk) body.push(h('h3', {}, 'Conversation'), ...conversation(n, talk.turns));
  const diff = data.diffs[n];
  if (diff && diff.hunks.length) body.push(h('h3', {}, `Changes against step ${diff.parent}`), diffView(diff));
  body.push(h('h3', {}, 'Source'), sourceView(step.source));
  dialog.replaceChildren(h('div', { class: 'head' }, h('h2', { id: 'detail-title' }, 'Step ' + n), h('button', { class: 'close', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, '×')), h('div', { class: 'in' }, ...body.flat().filter(Boolean)));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  tip.hidden = true;
  history.replaceState(null, '', '#step-' + n);
}
