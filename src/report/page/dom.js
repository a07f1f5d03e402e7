// Elements without markup: every text is a text node, so nothing in the data can become code.
const data = JSON.parse(document.getElementById('data').textContent);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

const finite = v => typeof v === 'number' && Number.isFinite(v);
function times(ratio) {  // "8.83×"
  if (!finite(ratio) || ratio <= 0) return '–';
  return ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0) + '×';
}
function shortTimes(ratio) { return finite(ratio) ? ratio.toFixed(ratio < 10 ? 1 : 0) + '×' : '–'; }
function interval(sp) { return sp && finite(sp.low) && finite(sp.high) ? times(sp.low) + ' to ' + times(sp.high) : ''; }
function us(value) {
  if (!finite(value)) return '–';
  const digits = v => (v < 10 ? 2 : v < 100 ? 1 : 0);
  if (value < 1000) return value.toFixed(digits(value)) + ' µs';
  if (value < 1e6) return (value / 1e3).toFixed(digits(value / 1e3)) + ' ms';
  return (value / 1e6).toFixed(digits(value / 1e6)) + ' s';
}
function seconds(value) {
  const s = Math.round(value);
  if (!finite(value)) return '–';
  if (s < 120) return s + ' s';
  if (s < 7200) return Math.floor(s / 60) + ' min ' + (s % 60) + ' s';
  return Math.floor(s / 3600) + ' h ' + Math.floor((s % 3600) / 60) + ' min';
}
function rate(value, unit) {
  for (const [size, prefix] of [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (value >= size) return (value / size).toPrecision(3) + ' ' + prefix + unit;
  return value.toPrecision(3) + ' ' + unit;
}
function gain(ratio) {
  if (!finite(ratio) || ratio <= 0) return '';
  const percent = (ratio - 1) * 100;
  return (percent >= 0 ? '+' : '−') + Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0) + ' %';
}
const nice = text => (text || '').replaceAll('->', '→');
const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');

const tip = document.getElementById('tip');
function tipped(element, text) {
  const place = event => {
    tip.hidden = false;
    tip.textContent = typeof text === 'function' ? text() : text;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18;
    tip.style.left = Math.max(8, x) + 'px';
    tip.style.top = y + 'px';
  };
  element.addEventListener('pointerenter', event => { if (event.pointerType === 'mouse') place(event); });
  element.addEventListener('pointermove', event => { if (event.pointerType === 'mouse') place(event); });
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
  return element;
}

const panels = [];    // functions, one per panel file
const sections = [];  // id and title of what they added
function section(id, title, lead, ...content) {
  sections.push([id, title]);
  const element = h('section', { id, 'aria-labelledby': id + '-title' }, h('h2', { id: id + '-title' }, title),
    lead && h('p', { class: 'lead' }, lead), content);
  document.getElementById('main').append(element);
  return element;
}
// Draws now and again whenever the width changes, so that labels keep their size on every screen.
function chart(className, draw) {
  const box = h('div', { class: className });
  let width = 0;
  new ResizeObserver(entries => {
    const now = Math.floor(entries[0].contentRect.width);
    if (now === width || now === 0) return;
    width = now;
    box.replaceChildren(draw(width));
  }).observe(box);
  box.redraw = () => { if (width) box.replaceChildren(draw(width)); };
  return box;
}
// Every panel adds its section, or none when there is nothing to show; then what is around them.
function showPage() {
  for (const show of panels) show();
  document.getElementById('nav').append(...sections.map(([id, title]) => h('a', { href: '#' + id }, title)));
  document.getElementById('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });
  document.documentElement.dataset.ready = 'yes';
}
