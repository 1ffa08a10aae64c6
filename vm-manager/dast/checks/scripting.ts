// Cross-site scripting. The answer is parsed as a browser parses it: only a value that became an element, an attribute,
// an address of a script, or code of a script is a proof, never a text that looks like one.
import type { Eyes } from '../browser/eyes.js';
import { attributeOf, elementsOf, readPage, textOf } from '../crawl/html.js';
import { addressOf } from '../http/forms.js';
import type { Exchange, Form, Proof } from '../model.js';
import { everyTurn, everywhere, isHtml, proveBy, turnsOfWord, word } from './check.js';
import type { Attack, Check, Probe } from './check.js';

const hasElement = (exchange: Exchange, tag: string): boolean =>
  isHtml(exchange) && elementsOf(exchange.body).some(({ tagName }) => tagName === tag);

const hasAttribute = (exchange: Exchange, name: string): boolean =>
  isHtml(exchange) && elementsOf(exchange.body).some((one) => attributeOf(one, name) !== null);

/** Attributes whose address a browser runs where it is one of a script. */
const runs: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  area: ['href'],
  iframe: ['src'],
  form: ['action'],
  button: ['formaction'],
  object: ['data'],
};
const hasScriptAddress = (exchange: Exchange, name: string): boolean =>
  isHtml(exchange) &&
  elementsOf(exchange.body).some((one) =>
    (runs[one.tagName] ?? []).some((attribute) =>
      new RegExp(`^\\s*javascript:${name}\\(`, 'i').test(attributeOf(one, attribute) ?? ''),
    ),
  );

/** Whether the name stands in code of a script: in no string and in no comment. */
export function isInCode(script: string, name: string): boolean {
  let quote = '';
  for (let at = 0; at < script.length; at++) {
    const one = script[at] ?? '';
    if (quote !== '') {
      if (one === '\\') at++;
      else if (one === quote) quote = '';
      else if (one === '\n' && quote !== '`') quote = '';
      continue;
    }
    if (script.startsWith('//', at)) {
      const end = script.indexOf('\n', at);
      at = end < 0 ? script.length : end;
    } else if (script.startsWith('/*', at)) {
      const end = script.indexOf('*/', at);
      at = end < 0 ? script.length : end + 1;
    } else if (one === '"' || one === "'" || one === '`') quote = one;
    else if (script.startsWith(name, at)) return true;
  }
  return false;
}

const hasCode = (exchange: Exchange, name: string): boolean =>
  isHtml(exchange) &&
  elementsOf(exchange.body).some((one) => {
    if (one.tagName === 'script') return isInCode(textOf(one), name);
    return one.attrs.some(({ name: attribute, value }) => attribute.startsWith('on') && isInCode(value, name));
  });

type Shows = (exchange: Exchange, name: string) => boolean;

/** A handler that calls the function of this name: what scripts are made of, and a rule of a firewall knows. */
const hasHandler = (exchange: Exchange, name: string): boolean =>
  isHtml(exchange) &&
  elementsOf(exchange.body).some((one) => attributeOf(one, 'onclick')?.startsWith(`${name}()`) === true);

/**
 * `name` is a random word: an element, an attribute or a function of this name exists nowhere. With a handler first, so
 * that the evidence has a request that a virtual patch can refuse; without one where the application takes it away.
 */
const attacks: readonly (readonly [text: (name: string) => string, neutral: (name: string) => string, shows: Shows])[] =
  [
    [(n) => `<${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `"><${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `'><${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `" onclick="${n}()`, (n) => ` ${n} `, hasHandler],
    [(n) => `' onclick='${n}()`, (n) => ` ${n} `, hasHandler],
    [(n) => `x onclick=${n}()`, (n) => `x-${n}`, hasHandler],
    [(n) => `javascript:${n}()`, (n) => `/${n}`, hasScriptAddress],
    [(n) => `';${n}();//`, (n) => ` ${n} `, hasCode],
    [(n) => `";${n}();//`, (n) => ` ${n} `, hasCode],
    [(n) => `\\';${n}();//`, (n) => ` ${n} `, hasCode],
    [(n) => `-${n}()-`, (n) => `0`.padEnd(n.length, '0'), hasCode],
    [(n) => `</script><${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `--><${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `</textarea></title></style><${n} onclick=${n}()>`, (n) => ` ${n} `, hasElement],
    [(n) => `<${n}>`, (n) => ` ${n} `, hasElement],
    [(n) => `"><${n}>`, (n) => ` ${n} `, hasElement],
    [(n) => `'><${n}>`, (n) => ` ${n} `, hasElement],
    [(n) => `" ${n}="1`, (n) => ` ${n} `, hasAttribute],
    [(n) => `' ${n}='1`, (n) => ` ${n} `, hasAttribute],
    [(n) => `x ${n}=1`, (n) => `x-${n}`, hasAttribute],
    [(n) => `</script><${n}>`, (n) => ` ${n} `, hasElement],
    [(n) => `--><${n}>`, (n) => ` ${n} `, hasElement],
    [(n) => `</textarea></title></style><${n}>`, (n) => ` ${n} `, hasElement],
  ];

async function reflected(probe: Probe): Promise<Proof | null> {
  const marker = `gh${word(8)}`;
  const plain = await probe.with(marker);
  if (plain === null || !isHtml(plain) || !plain.body.includes(marker)) return null;
  const makers = attacks.map(([text, neutral, shows]) => (): Attack => {
    const name = `gh${word(8)}`;
    return { attack: text(name), neutral: neutral(name), shows: (exchange) => shows(exchange, name) };
  });
  return proveBy(probe, makers, 'The value becomes part of the structure of the page, as the parser of HTML reads it.');
}

/** What a browser makes of a proof: the parser has shown the structure, only a browser shows that it runs. */
async function inBrowser({ parts: { eyes } }: Probe, proof: Proof | null): Promise<Proof | null> {
  const [called] = /gh[a-z]{8}(?=\()/.exec(proof?.attack ?? '') ?? [];
  if (proof === null || called === undefined || eyes === null) return proof;
  const runs = await eyes.runs(proof.exchange, called);
  if (runs === null) return proof;
  const policy = proof.exchange.headers['content-security-policy'] === undefined ? '' : ' Its Content-Security-Policy';
  const prevented =
    policy === '' ? ' Chromium did not run it as the page is.' : `${policy} kept Chromium from running it.`;
  return { ...proof, why: proof.why + (runs ? ` Chromium ran it: ${called}() was called.` : prevented) };
}

/** A value that is shown on another page than the one that took it. */
async function stored(probe: Probe): Promise<Proof | null> {
  const { form, parts } = probe;
  if (form.method !== 'POST' || form.bodyKind === 'none') return probe.leaveOut();
  const pages = [...new Set([form.page, ...parts.seenPaths])].filter((one) => one !== null).slice(0, 60);
  const find = async (name: string): Promise<Exchange | null> => {
    for (const page of pages) {
      const seen = await probe.talk.get(page);
      if (seen !== null && hasElement(seen, name)) return seen;
    }
    return null;
  };
  for (const make of [(n: string) => `<${n} onclick=${n}()>`, (n: string) => `<${n}>`]) {
    const proof = await everyTurn(turnsOfWord, async () => {
      const name = `gh${word(8)}`;
      const sent = await probe.with(make(name));
      if (sent === null || sent.status >= 400 || hasElement(sent, name)) return null;
      const shown = await find(name);
      if (shown === null) return null;
      const why = `What was sent stands in ${new URL(shown.request.url).pathname} as an element, twice.`;
      return { attack: make(name), exchange: { ...shown, request: sent.request }, neutral: null, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

const readsAddress = /\blocation\b|URLSearchParams|\.referrer\b|document\.(?:URL|documentURI)\b/;
/** Pages that are tried in the browser in one scan. */
const scriptedPagesMax = 60;
const tried = new WeakMap<Eyes, number>();

/** Where a script of the page puts a part of its address: after the hash, or in one of these values. */
function placesOf(form: Form): ((value: string) => string)[] {
  const address = addressOf(form);
  const names = new Set([...form.params.filter(({ place }) => place === 'query').map(({ name }) => name), 'q']);
  const route = form.page?.split('#', 2)[1] ?? '';
  return [
    (value) => `${address}#${encodeURIComponent(value)}`,
    (value) => `${address}#${value}`,
    ...[...names].slice(0, 6).map((name) => (value: string) => {
      const url = new URL(address);
      url.searchParams.set(name, value);
      return url.href;
    }),
    ...(route === ''
      ? []
      : [(value: string) => `${address}#${route.replace(/=[^&]*/, '=')}${encodeURIComponent(value)}`]),
  ];
}

/** A script of the page makes markup, or code, of a part of the address, which the server need not see. */
async function inScript(probe: Probe): Promise<Proof | null> {
  const { form, parts } = probe;
  const { eyes } = parts;
  if (form.method !== 'GET' || eyes === null || eyes.whyNot !== null) return probe.leaveOut();
  const page = await probe.baseline();
  if (page === null || page.status >= 400 || !isHtml(page) || !readPage(page.body, form.url).runsScripts) return null;
  const count = tried.get(eyes) ?? 0;
  if (count >= scriptedPagesMax) return probe.leaveOut();
  if (!readsAddress.test(page.body) && !eyes.scriptsOf(page).some((one) => readsAddress.test(one))) return null;
  tried.set(eyes, count + 1);
  const forms: readonly ((n: string) => string)[] = [(n) => `<${n} onclick=${n}()>`, (n) => `javascript:${n}()`];
  for (const place of placesOf(form))
    for (const make of forms) {
      const proof = await everyTurn(turnsOfWord, async () => {
        const [name, twin] = [`gh${word(8)}`, `gh${word(8)}`];
        const effect = await eyes.makes(place(make(name)), page, name);
        if (effect === null || effect === 'nothing') return null;
        if ((await eyes.makes(place(` ${twin} `), page, twin)) !== 'nothing') return null;
        const attack = make(name);
        const request = { ...page.request, url: place(attack) };
        const why =
          effect === 'call'
            ? `Chromium ran ${name}(), which stands in the address alone.`
            : `In Chromium a script of the page makes the element <${name}> of its address.`;
        return { attack, exchange: { ...page, request }, neutral: page, why };
      });
      if (proof !== null) return proof;
    }
  return null;
}

export const scriptingChecks: readonly Check[] = [
  {
    id: 'xss-reflected',
    title: 'Cross-site scripting (reflected)',
    severity: 'high',
    cwe: 79,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request becomes part of the structure of the page that answers it.',
    remediation: 'Escape values for the place that they stand in; use a template engine that does so by itself.',
    prove: async (probe) => inBrowser(probe, await reflected(probe)),
  },
  {
    id: 'xss-stored',
    title: 'Cross-site scripting (stored)',
    severity: 'high',
    cwe: 79,
    on: 'param',
    profiles: ['full', 'standard', 'authenticated'],
    description: 'A value that was sent once becomes part of the structure of a page that others see.',
    remediation: 'Escape values for the place that they stand in when the page is made, wherever they come from.',
    prove: async (probe) => inBrowser(probe, await stored(probe)),
  },
  {
    id: 'xss-dom',
    title: 'Cross-site scripting (in a script of the page)',
    severity: 'high',
    cwe: 79,
    on: 'form',
    profiles: everywhere,
    description: 'A script of the page makes markup or code of a part of its address. It is looked for in a browser.',
    remediation: 'Put texts into pages by textContent; check addresses for http and https before they are followed.',
    prove: inScript,
  },
];
