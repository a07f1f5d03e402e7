// What pages about a run have in common.
const stepOf = n => data.steps[n - 1];
const words = { measured: 'measured', build_failed: 'does not compile', wrong_result: 'wrong result', crashed: 'crashed',
  timed_out: 'timed out', rejected: 'rejected' };
const tunablesText = t => Object.entries(t || {}).map(([k, v]) => k + ' = ' + v).join(', ');
const speed = n => (stepOf(n).speedup ? stepOf(n).speedup.ratio : NaN);
// Figures of kernels that were measured again, by the step they had before: the first figures favour the lucky.
const confirmed = new Map(data.steps.filter(s => s.stage === 'final' && s.parents.length && s.speedup && s.speedup.ratio > 0).map(s => [s.parents[0], s.speedup]));
const standing = n => (confirmed.has(n) ? confirmed.get(n).ratio : speed(n));
function stepLink(n, text) {
  return h('button', { class: 'link', type: 'button', onclick: () => openDetail(n) }, text || 'step ' + n);
}
