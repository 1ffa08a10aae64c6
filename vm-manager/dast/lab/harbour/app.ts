// The pages of the second lab that only scripts build: a shell with routes of its own, a panel with routes after the
// hash. What they ask for is in no document.

export const shell = `<!doctype html><html><head><title>Harbour</title></head><body><main id="view"></main>
<script src="/assets/harbour.js"></script></body></html>`;

/** As a build would leave it: paths are put together from parts. */
const parts = `
  const base = ['', 'rest'].join('/');
  const stripe = 'sk_live_' + 'dropped';
  const view = document.getElementById('view');
  const api = (path, body) => fetch(base + '/' + path, body === undefined ? {} : {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  }).then((r) => r.json());
  const go = (path) => { history.pushState(null, '', path); show(); };
  const button = (label, work) => {
    const one = document.createElement('button');
    one.textContent = label;
    one.addEventListener('click', work);
    view.append(one);
  };
  const form = (fields, label, work) => {
    const one = document.createElement('form');
    for (const name of fields) {
      const field = document.createElement('input');
      field.name = name;
      if (name === 'secret') field.type = 'password';
      one.append(field);
    }
    const send = document.createElement('button');
    send.textContent = label;
    one.append(send);
    one.addEventListener('submit', (event) => {
      event.preventDefault();
      work(Object.fromEntries(new FormData(one)));
    });
    view.append(one);
  };
  const menu = () => {
    view.textContent = '';
    for (const [label, path] of [['Books', 'books'], ['Look up', 'lookup'], ['Workshop', 'workshop'],
        ['Desk', 'desk'], ['Search', 'search?q=rope'], ['Twins', 'twins']])
      button(label, () => go('/' + path));
    button('Leave', () => api('session/end', {}));
    const bin = document.createElement('i');
    bin.className = 'icon-trash';
    bin.style.cursor = 'pointer';
    bin.textContent = 'x';
    bin.addEventListener('click', () => api('books/wipe', {}));
    view.append(bin);
  };`;

const views = `
  const views = {
    '': () => { api('me'); api('us'); },
    books: () => {
      api('books?genre=sea').then(({ books }) => {
        for (const { id, title } of books || []) button(title, () => api('book/' + id));
      });
      api('genres?genre=sea').then(({ books }) => {
        for (const { id } of books || []) button('Volume ' + id, () => api('volume/' + id));
      });
      let page = 0;
      button('More', () => api('page/' + ++page));
    },
    lookup: () => {
      form(['term'], 'Find', ({ term }) => api('search', { filter: { term, sort: 'title' }, page: 1 }));
      form(['term'], 'Find exactly', ({ term }) => api('find', { filter: { term }, page: 1 }));
      form(['login', 'secret'], 'Enter', (given) => api('auth/signin', given));
      form(['login', 'secret'], 'Enter safely', (given) => api('auth/enter', given));
      form(['nick'], 'Known?', (given) => api('accounts/lookup', given));
      form(['nick'], 'Really known?', (given) => api('accounts/check', given));
    },
    workshop: () => {
      form(['address'], 'Preview', ({ address }) => api('preview?address=' + encodeURIComponent(address)));
      form(['address'], 'Listed', ({ address }) => api('preview-listed?address=' + encodeURIComponent(address)));
      form(['layout'], 'Render', (given) => api('render', given));
      form(['layout'], 'Card', (given) => api('card', given));
      button('Work out', () => api('calc?formula=' + encodeURIComponent('6+7')));
      button('Sum', () => api('sum?formula=' + encodeURIComponent('6+7')));
      button('Reach', () => api('tools/reach', { box: 'pier' }));
      button('Name', () => api('tools/name', { box: 'pier' }));
      button('Sheet', () => api('export?sheet=stock.csv'));
      button('Sheet of the list', () => api('export-safe?sheet=stock.csv'));
    },
    desk: () => {
      button('Order', () => api('orders', { book: 1, count: 2 }));
      button('Basket', () => api('baskets', { book: 1, count: 2 }));
      form(['note'], 'Pin it', (given) => api('wall', given));
      fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({
        operationName: 'ByIsbn', query: 'query ByIsbn($isbn: String!) { book(isbn: $isbn) { title } }',
        variables: { isbn: '978-1' } }) });
    },
    search: () => {
      const line = document.createElement('p');
      line.innerHTML = 'You looked for ' + new URLSearchParams(location.search).get('q');
      view.append(line);
    },
    twins: () => {
      const line = document.createElement('p');
      line.textContent = 'You looked for ' + new URLSearchParams(location.search).get('q') + location.hash;
      view.append(line);
    },
  };
  const show = () => { menu(); (views[location.pathname.slice(1)] || views[''])(); };
  addEventListener('popstate', show);
  show();
`;

export const bundle = `{${parts}${views}}`;

const panelScript = (sink: string): string => `<script>
  const parts = {
    '#/ships': () => fetch('/panel-data/ships?berth=' + 1),
    '#/crew': () => fetch('/panel-data/crew?rank=mate'),
  };
  const show = () => {
    const hash = decodeURIComponent(location.hash);
    document.getElementById('part').${sink} = hash.startsWith('#/') ? hash.slice(2) : hash.slice(1);
    if (parts[hash]) parts[hash]();
  };
  addEventListener('hashchange', show);
  show();
</script>`;

export const panel = (sink: 'innerHTML' | 'textContent'): string =>
  `<!doctype html><html><head><title>Panel</title></head><body><a href="#/ships">Ships</a> <a href="#/crew">Crew</a>
<div id="part"></div>${panelScript(sink)}</body></html>`;
