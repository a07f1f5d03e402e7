function environmentSection() {
  const facts = [['Task', data.task], ['Target', data.target], ['Device', data.device], ['Toolchain', data.toolchain], ['Kerf', data.version], ['Search', data.search],
    ['Seed', data.seed], ['Ended', data.finished || 'not finished'], ['Run folder', data.folder]].filter(f => f[1]);
  for (const [name, value] of Object.entries(data.peaks || {})) facts.push(['Peak ' + name, rate(value, name === 'copy' ? 'B/s' : 'FLOP/s')]);
  const block = (title, text) => text && [h('h3', {}, title), h('pre', { class: 'text' }, text)];
  const commands = [`kerf show ${data.folder}`, `kerf explain ${data.folder} best --diff`, `kerf export ${data.folder} --format cmake`, `kerf prove ${data.folder}`].join('\n');
  section('environment', 'Environment', 'What is needed to do it again.', h('div', { class: 'card' }, h('dl', { class: 'facts' }, facts.map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)])),
    h('div', { class: 'two' }, h('div', {}, block('Task file', data.task_source)), h('div', {}, block('Configuration', data.config), h('br'), block('Go on from here', commands)))));
}

panels.push(environmentSection);
