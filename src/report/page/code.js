// Sources and differences, with line numbers and light colouring.
const tokenRule = new RegExp([
  '(\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|(?![\\s\\S])))',                                         // 1 comment
  '("(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\')',                                 // 2 text
  '(^[ \\t]*#[^\\n]*)',                                                                       // 3 preprocessor
  '\\b((?:0x[0-9a-fA-F]+|\\d+\\.?\\d*(?:[eE][-+]?\\d+)?)[fFuUlL]*)\\b',                     // 4 number
  '\\b(alignas|auto|bool|break|case|char|const|constexpr|continue|default|do|double|else|enum|extern|false|float|for|if|inline|int|long|' +
  'namespace|restrict|return|short|signed|sizeof|static|struct|switch|template|true|typedef|typename|union|unsigned|using|void|volatile|while|' +
  '__global__|__shared__|__device__|__kernel|__global|__local|__constant|__restrict__|__syncthreads|barrier)\\b'  // 5 keyword
].join('|'), 'gm');
const tokenClass = [, 'c', 's', 'p', 'n', 'k'];

// Lines as lists of [class, text].
function tokenise(text) {
  const lines = [[]];
  const put = (kind, piece) => piece.split('\n').forEach((part, i) => {
    if (i) lines.push([]);
    if (part) lines[lines.length - 1].push([kind, part]);
  });
  let at = 0;
  for (const match of text.matchAll(tokenRule)) {
    put('', text.slice(at, match.index));
    put(tokenClass[match.findIndex((group, i) => i > 0 && group !== undefined)], match[0]);
    at = match.index + match[0].length;
  }
  put('', text.slice(at));
  if (lines.length > 1 && !lines[lines.length - 1].length) lines.pop();
  return lines;
}
const paint = tokens => tokens.map(([kind, text]) => (kind ? h('span', { class: kind }, text) : text));

function sourceView(index) {
  if (index === undefined || index < 0)
    return h('p', { class: 'note' }, 'This source is not in the report, to keep it small; ', h('code', {}, 'kerf show RUN --source STEP'), ' prints it.');
  const text = data.sources[index];
  const rows = tokenise(text).map((tokens, i) => h('tr', {}, h('td', { class: 'ln' }, String(i + 1)), h('td', {}, paint(tokens))));
  const copy = h('button', { class: 'link', type: 'button', onclick: () => {
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { copy.textContent = 'Copied'; }, () => { copy.textContent = 'Not allowed here'; });
  } }, 'Copy');
  return [h('div', { class: 'tools' }, h('span', { class: 'muted' }, rows.length + ' lines'), copy),
    h('div', { class: 'src', tabindex: 0, role: 'region', 'aria-label': 'Source' }, h('table', {}, h('tbody', {}, rows)))];
}

function diffView(diff) {
  const rows = [];
  diff.hunks.forEach((hunk, i) => {
    if (i || hunk[0][1] > 1 || hunk[0][2] > 1) rows.push(h('tr', { class: 'gap' }, h('td', { class: 'ln' }), h('td', { class: 'ln' }), h('td', {}, '⋯')));
    for (const [sign, before, after, text] of hunk) {
      const kind = sign === '+' ? 'add' : sign === '-' ? 'del' : undefined;
      rows.push(h('tr', { class: kind }, h('td', { class: 'ln' }, before || ''), h('td', { class: 'ln' }, after || ''),
        h('td', {}, (sign === '-' ? '−' : sign) + ' ', paint(tokenise(text)[0]))));
    }
  });
  return h('div', { class: 'src', tabindex: 0, role: 'region', 'aria-label': 'Difference' }, h('table', {}, h('tbody', {}, rows)));
}
