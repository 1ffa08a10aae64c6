// Files that are taken: a page among them that the site serves as a page, or a program that it runs. What is sent holds
// a random word and nothing that does harm; it stays where the application has put it, which the proof says.
import { attributeOf, elementsOf } from '../crawl/html.js';
import type { Exchange, Form, Proof } from '../model.js';
import { everyTurn, product, turnsOfWord, word, type Check, type Probe } from './check.js';

const directories = ['/uploads/', '/files/', '/media/', '/images/', '/static/uploads/', '/upload/', '/attachments/'];

/** Where an answer says that the file is, and where such files are usually. */
function placesOf({ body, headers, request }: Exchange, name: string, origin: string): string[] {
  const stem = name.split('.')[0] ?? name;
  const named = new Set<string>();
  const add = (text: string | null | undefined): void => {
    if (text?.includes(stem) === true && URL.canParse(text, request.url)) named.add(new URL(text, request.url).href);
  };
  add(headers['location']);
  for (const one of elementsOf(body))
    for (const place of ['href', 'src', 'data', 'value']) add(attributeOf(one, place));
  for (const [, text] of body.slice(0, 200_000).matchAll(/["'\s>]([\w\-./:]{0,200}\/[\w\-./]{1,200})/g)) add(text);
  return [...[...named].slice(0, 6), ...directories.map((one) => `${origin}${one}${name}`)];
}

interface Upload {
  readonly name: string;
  readonly text: string;
  readonly shows: (exchange: Exchange) => boolean;
}

async function put(probe: Probe, { name, text, shows }: Upload): Promise<Exchange | null> {
  const { form, talk, parts } = probe;
  const params = form.params.map((one) => (one.file === undefined ? one : { ...one, value: name, file: text }));
  const changed: Form = { ...form, params };
  const sent = await talk.send(changed);
  if (sent === null || sent.status >= 400) return null;
  for (const url of placesOf(sent, name, parts.origin)) {
    const served = await talk.get(url);
    if (served !== null && served.status === 200 && shows(served)) return { ...served, request: sent.request };
  }
  return null;
}

async function prove(probe: Probe, makers: readonly (() => Upload)[], what: string): Promise<Proof | null> {
  const { form } = probe;
  if (form.bodyKind !== 'multipart' || !form.params.some(({ file }) => file !== undefined)) return probe.leaveOut();
  for (const make of makers) {
    const names: string[] = [];
    const proof = await everyTurn(turnsOfWord, async () => {
      const upload = make();
      const exchange = await put(probe, upload);
      names.push(upload.name);
      const why = `${what}, twice. The files ${names.join(', ')} are still there: remove them.`;
      return exchange === null ? null : { attack: upload.name, exchange, neutral: null, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

const isPage = ({ headers }: Exchange, type: RegExp): boolean =>
  type.test(headers['content-type'] ?? '') &&
  !/attachment/i.test(headers['content-disposition'] ?? '') &&
  !/sandbox/i.test(headers['content-security-policy'] ?? '');

const pages: readonly (() => Upload)[] = [
  () => {
    const name = `gh${word(8)}`;
    const text = `<!doctype html><title>scan</title><${name}>scan</${name}>`;
    return { name: `${name}.html`, text, shows: (one) => isPage(one, /html/i) && one.body.includes(`<${name}>`) };
  },
  () => {
    const name = `gh${word(8)}`;
    const text = `<svg xmlns="http://www.w3.org/2000/svg"><script>${name}()</script></svg>`;
    return { name: `${name}.svg`, text, shows: (one) => isPage(one, /svg/i) && one.body.includes(`<script>${name}`) };
  },
];

const programs = [
  ['php', (sum: string) => `<?php echo ${sum}; ?>`],
  ['phtml', (sum: string) => `<?php echo ${sum}; ?>`],
  ['jsp', (sum: string) => `<%= ${sum} %>`],
] as const;

export const uploadChecks: readonly Check[] = [
  {
    id: 'upload-executed',
    title: 'A file that is uploaded is run',
    severity: 'critical',
    cwe: 434,
    on: 'form',
    profiles: ['standard', 'full', 'authenticated'],
    description: 'The site runs a program that anyone may upload.',
    remediation: 'Take known types by their contents, name files yourself, and keep them where nothing is run.',
    prove: async (probe) =>
      prove(
        probe,
        programs.map(([end, text]) => () => {
          const { left, right, result } = product();
          return {
            name: `gh${word(8)}.${end}`,
            text: text(`${left}*${right}`),
            shows: ({ body }) => body.includes(result),
          };
        }),
        'The site ran the program in a file that was uploaded, and showed its product',
      ),
  },
  {
    id: 'upload-served',
    title: 'A page that is uploaded is served as one',
    severity: 'medium',
    cwe: 434,
    on: 'form',
    profiles: ['standard', 'full', 'authenticated'],
    description: 'A file with scripts is taken and served by the site itself: whoever opens it runs them there.',
    remediation: 'Take known types by their contents; serve files as attachments, or from a host of their own.',
    prove: async (probe) => prove(probe, pages, 'A page that was uploaded is served as one'),
  },
];
