// What runs inside a page, as text: it notes where scripts lead, lists what can be used, fills fields and uses one
// thing. It decides nothing: what is used is chosen outside of the page, which cannot be trusted.

/** Before any script of the page. `name` is a random word, so that no page meets it by chance. */
export const hooks = (name: string): string => `(() => {
  if (window.${name}) return;
  const routes = [], used = new WeakSet();
  const note = (url) => {
    if (routes.length < 300 && URL.canParse(url, document.baseURI))
      routes.push(new URL(url, document.baseURI).href.slice(0, 2000));
  };
  for (const call of ['pushState', 'replaceState']) {
    const own = history[call];
    history[call] = function (state, title, url) { if (url != null) note(url); return own.apply(this, arguments); };
  }
  addEventListener('hashchange', () => note(location.href));
  window.open = (url) => { if (url) note(url); return null; };
  window.alert = () => undefined; window.confirm = () => false; window.prompt = () => null;
  window.print = () => undefined;
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type) {
    if (this instanceof Element && /^(?:click|mousedown|pointerdown|touchend)$/.test(type)) used.add(this);
    return add.apply(this, arguments);
  };
  Object.defineProperty(window, '${name}', { value: { routes, used, list: [] } });
})()`;

const walk = `const elements = [];
  const waiting = [document];
  while (waiting.length > 0 && elements.length < 8000)
    for (const one of waiting.shift().querySelectorAll('*')) {
      elements.push(one);
      if (one.shadowRoot) waiting.push(one.shadowRoot);
    }`;

/** Its document as it is now, with open shadow trees, and where its scripts led since it was loaded. */
export const collect = (name: string): string => `(() => {
  ${walk}
  let html = document.documentElement.outerHTML.slice(0, 1000000);
  for (const one of elements) if (one.shadowRoot && html.length < 1000000) html += one.shadowRoot.innerHTML;
  const hook = window.${name} || { routes: [] };
  return { html: html.slice(0, 1000000), url: location.href, routes: hook.routes.splice(0) };
})()`;

/** What can be used in the page now: by number, with all words that say what it does. */
export const candidates = (name: string): string => `(() => {
  ${walk}
  const hook = window.${name};
  if (!hook) return [];
  const isShown = (one) => one.getClientRects().length > 0 && !one.disabled;
  const isUsed = (one) => hook.used.has(one) || one.hasAttribute('onclick') || '$$click' in one ||
    /^(?:button|link|tab|menuitem|option|switch)$/.test(one.getAttribute('role') || '') ||
    (getComputedStyle(one).cursor === 'pointer' && one.children.length === 0 &&
      getComputedStyle(one.parentElement || one).cursor !== 'pointer');
  const words = (one) => [one.textContent, ...[...one.attributes].map((at) => at.value)].join(' ').slice(0, 400);
  hook.list = [];
  const found = [];
  for (const one of elements) {
    if (found.length >= 400) break;
    const tag = one.tagName.toLowerCase();
    const kind = tag === 'form' ? 'form' : tag === 'select' ? 'select' : 'click';
    const href = tag === 'a' ? one.getAttribute('href') : null;
    const isLink = href !== null && !/^(?:#|javascript:|$)/i.test(href) && !hook.used.has(one);
    const isButton = tag === 'button' || tag === 'summary' ||
      (tag === 'input' && /^(?:button|submit|image)$/.test(one.type));
    if (isLink || (kind === 'click' && !isButton && href === null && !isUsed(one))) continue;
    if (kind === 'form' ? one.querySelector('input[type=file]') : !isShown(one)) continue;
    const form = kind === 'click' && isButton && one.form ? one.form : null;
    const all = kind === 'form'
      ? [one.getAttribute('action'), one.id, one.className,
          ...[...one.querySelectorAll('button, input[type=submit], legend, h1, h2, h3')].map(words)].join(' ')
      : [words(one), form && form.getAttribute('action'), form && form.id].join(' ');
    found.push({ at: hook.list.length, kind, tag, words: all.slice(0, 1000),
      sign: [tag, one.id, one.getAttribute('class'), one.getAttribute('name'),
        one.textContent.slice(0, 60)].join('|') });
    hook.list.push(one);
  }
  return found;
})()`;

/** Fills what is empty, and uses the one of this number. */
export const use = (name: string, at: number): string => `(() => {
  ${walk}
  const hook = window.${name};
  const one = hook && hook.list[${at}];
  if (!one || !one.isConnected) return false;
  const sample = (type, text) =>
    type === 'email' || /mail/i.test(text) ? 'scan@example.com'
    : type === 'number' || type === 'range' || /(?:^|_|-)id$|count|qty|amount|page|num/i.test(text) ? '1'
    : type === 'url' || /^url$/i.test(text) ? 'https://www.example.com/'
    : type === 'date' ? '2026-01-15' : type === 'password' ? 'Scan-Passw0rd' : 'scan';
  for (const field of elements) {
    const tag = field.tagName;
    if ((tag !== 'INPUT' && tag !== 'TEXTAREA') || field.value !== '' || field.disabled || field.readOnly) continue;
    if (/^(?:hidden|file|submit|button|image|reset|checkbox|radio|color)$/.test(field.type)) continue;
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value');
    const value = sample(field.type, [field.name, field.id, field.placeholder].join(' '));
    if (set && set.set) set.set.call(field, value);
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
  }
  if (one.tagName === 'FORM') {
    one.noValidate = true;
    one.requestSubmit();
  } else if (one.tagName === 'SELECT') {
    if (one.options.length < 2) return false;
    one.selectedIndex = (one.selectedIndex + 1) % one.options.length;
    for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true }));
  } else {
    if (one.form) one.form.noValidate = true;
    if ('formNoValidate' in one) one.formNoValidate = true;
    one.click();
  }
  return true;
})()`;

/** Sets off whatever in the page names this function: handlers, addresses of scripts. */
export const setOff = (called: string): string => `(() => {
  const word = ${JSON.stringify(called)};
  for (const one of [...document.querySelectorAll('*')].slice(0, 8000))
    for (const { name, value } of [...one.attributes]) {
      if (!value.includes(word)) continue;
      if (name.startsWith('on')) one.dispatchEvent(new Event(name.slice(2), { bubbles: false, cancelable: true }));
      else if (/^(?:href|formaction)$/.test(name) && one.click) one.click();
      else if (name === 'action') one.submit && one.submit();
    }
})()`;
