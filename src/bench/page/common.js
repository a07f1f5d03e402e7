// One choice of level for the whole page; panels that depend on it say how to draw again.
const problems = data.problems;
const levels = [...new Set(problems.map(p => p.level))].sort((a, b) => a - b);
const levelName = level => (level === 'all' ? 'all' : level === 0 ? 'own tasks' : 'level ' + level);
const finished = p => p.progress === 'done' || p.failure !== '';
const weak = p => p.pytorch.weak.length > 0;
const ratioOf = (p, key) => (p.pytorch[key] && finite(p.pytorch[key].ratio) && p.pytorch[key].ratio > 0 ? p.pytorch[key].ratio : NaN);
// As scores.cpp counts: what is not correct, or has no figure, is not fast and counts as 1 in the mean.
const counted = (p, key) => (p.progress === 'done' && p.pytorch.correct ? ratioOf(p, key) : NaN);
const compileRatio = p => ratioOf(p, 'compiled_over_eager');
const percent = v => (100 * v).toFixed(v > 0 && v < 0.1 ? 1 : 0) + ' %';
let chosenLevel = 'all';
const redraws = [];
const shown = () => problems.filter(p => chosenLevel === 'all' || p.level === chosenLevel);
function switchOf(label, choices, pick) {
  const buttons = choices.map(([value, text], i) => h('button', { type: 'button', 'aria-pressed': i === 0 ? 'true' : 'false', onclick: () => {
    for (const b of buttons) b.setAttribute('aria-pressed', b === buttons[i] ? 'true' : 'false');
    pick(value);
  } }, text));
  const box = h('div', { class: 'switch', role: 'group', 'aria-label': label }, buttons);
  box.show = value => { for (const [i, b] of buttons.entries()) b.setAttribute('aria-pressed', choices[i][0] === value ? 'true' : 'false'); };
  return box;
}
const levelSwitches = [];
function levelSwitch() {
  if (levels.length < 2) return null;
  const box = switchOf('Level', [['all', 'all'], ...levels.map(l => [l, levelName(l)])], value => {
    chosenLevel = value;
    for (const other of levelSwitches) other.show(value);
    for (const redraw of redraws) redraw();
  });
  levelSwitches.push(box);
  return box;
}
const label = p => p.id + ' ' + p.name.replace(/^\d+_/, '').replaceAll('_', ' ').trim();
// Ticks of a logarithmic axis: powers of two that lie between.
function doublings(low, high) { const t = []; for (let e = Math.ceil(Math.log2(low) - 1e-9); 2 ** e <= high * (1 + 1e-9); ++e) t.push(2 ** e); return t; }
const tickText = v => (v < 1 ? '1/' + Math.round(1 / v) : String(v)) + '×';
