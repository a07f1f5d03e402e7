// The panels in the order of the list in CMakeLists.txt.
const openFromHash = () => { const match = location.hash.match(/^#step-(\d+)$/); if (match) openDetail(Number(match[1])); };
showPage();
addEventListener('hashchange', openFromHash);
openFromHash();
