function failuresSection() {
  const reasons = Object.entries(data.failures);
  if (!reasons.length) return;
  const byId = new Map(problems.map(p => [p.id, p]));
  section('failures', 'Failures', 'Every one of them is in the denominator.', h('div', { class: 'card' }, h('ul', { class: 'why-list' }, reasons.map(([reason, ids]) => h('li', {},
    h('b', {}, `${failureWords[reason] || reason}: ${ids.length}`),
    h('p', { class: 'ids' }, ids.map((id, i) => [i ? ', ' : '', h('button', { class: 'link', type: 'button', onclick: () => openProblem(byId.get(id)) }, label(byId.get(id)))])),
    h('details', {}, h('summary', {}, 'messages'), ids.map(id => h('pre', { class: 'text' }, id + ': ' + (byId.get(id).message || '(none)')))))))));
}

function surroundingsSection() {
  const facts = [['Benchmark', `${suiteName}, ${data.path}`], ['Target', data.target], ['Device', data.device], ['Machine', data.host], ['Toolchain', data.toolchain], ['PyTorch', data.torch], ['Kerf', data.kerf], ['Seed', data.seed],
    ['Memory of the searches', data.memory], ['Settings', data.settings], ['Time spent', seconds(problems.reduce((sum, p) => sum + p.seconds.total, 0)) + ' over all problems']].filter(f => f[1]);
  section('environment', 'Environment', 'results.json beside this page has every figure of it, results.tsv the table for spreadsheets.', h('div', { class: 'card' }, h('dl', { class: 'facts' }, facts.map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]))));
}

panels.push(failuresSection, surroundingsSection);
showPage();
const openFromHash = () => { const match = location.hash.match(/^#problem-(.+)$/), p = match && problems.find(one => one.id === decodeURIComponent(match[1])); if (p) openProblem(p); };
addEventListener('hashchange', openFromHash);
openFromHash();
