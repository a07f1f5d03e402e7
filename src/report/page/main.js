// The panels in the order of the list in CMakeLists.txt; each adds its section, or none when there is nothing to show.
for (const show of panels) show();
document.getElementById('nav').append(...sections.map(([id, title]) => h('a', { href: '#' + id }, title)));

document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
});
const openFromHash = () => { const match = location.hash.match(/^#step-(\d+)$/); if (match) openDetail(Number(match[1])); };
addEventListener('hashchange', openFromHash);
openFromHash();
document.documentElement.dataset.ready = 'yes';
