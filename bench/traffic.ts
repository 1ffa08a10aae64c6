// The traffic of the benchmark: request templates with slots that get a fresh random value in every request, so that a
// memo in front of the engine is measured as users would feel it. One definition serves wrk (through fresh.lua, which
// reads `encodeTemplates`) and the in-process cases (`createGenerator`).
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * d digits, h lower-case hex, a lower-case letters, m letters of both cases and digits; always exactly `length` bytes,
 * so Content-Length never changes.
 */
export interface Slot {
  readonly kind: 'd' | 'h' | 'a' | 'm';
  readonly length: number;
}
export interface Template {
  readonly name: string;
  readonly label: 'benign' | 'attack';
  /** latin1 text of the raw request, with slots in between. */
  readonly pieces: readonly (string | Slot)[];
}

const alphabets = {
  d: '0123456789',
  h: '0123456789abcdef',
  a: 'abcdefghijklmnopqrstuvwxyz',
  m: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
} as const;

/** `…{h:32}…` → pieces. */
function parse(text: string): (string | Slot)[] {
  return text
    .split(/(\{[dham]:\d+\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const found = /^\{([dham]):(\d+)\}$/.exec(part);
      return found === null ? part : { kind: found[1] as Slot['kind'], length: Number(found[2]) };
    });
}
function lengthOf(pieces: readonly (string | Slot)[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

const browser = [
  'Host: shop.example.com',
  'User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) ' +
    'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language: en-GB,en;q=0.7,de;q=0.3',
  'Accept-Encoding: gzip, deflate, br',
  'Referer: https://shop.example.com/products/{d:5}',
  'Cookie: session={h:32}; consent=all; visitor=v1.{d:9}.{d:10}; theme=light',
];

function compose(name: string, line: string, type: string | null, body: string): Template {
  const content = parse(body);
  const extra = type === null ? [] : [`Content-Type: ${type}`, `Content-Length: ${lengthOf(content)}`];
  return {
    name,
    label: 'benign',
    pieces: [...parse(`${[line, ...browser, ...extra].join('\r\n')}\r\n\r\n`), ...content],
  };
}

/** Five requests in turn: a page, a search, a static file, a form, a JSON document. */
export const mix: readonly Template[] = [
  compose('page', 'GET / HTTP/1.1', null, ''),
  compose('search', 'GET /search?q={a:6}+lamp+{d:4}&category=lamps&sort=price_desc&page={d:2} HTTP/1.1', null, ''),
  compose('static', 'GET /static/chunk-{h:12}.js HTTP/1.1', null, ''),
  compose(
    'form',
    'POST /login HTTP/1.1',
    'application/x-www-form-urlencoded',
    'username={a:8}{d:3}%40example.org&password=Quiet-{a:6}-{d:3}&remember=1&token={h:24}',
  ),
  compose(
    'json',
    'POST /api/orders HTTP/1.1',
    'application/json',
    '{"customer":{"id":4{d:5},"name":"{a:7} Example"},' +
      '"items":[{"sku":"LA-{d:4}","qty":1,"price":64.9},{"sku":"MU-1370","qty":4,"price":18.5}],' +
      '"note":"leave it with {a:6} next door, the {a:5} gate is open","gift":false}',
  ),
];

interface MixRow {
  readonly id: string;
  readonly kind: string;
  readonly label: 'benign' | 'attack';
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly body_b64?: string;
}

/** A small linear congruential generator: the choice of slots is the same in every run. */
function createChooser(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 4_294_967_296;
}

/** The kind of slot that makes values of the same look as this run of letters and digits. */
function kindOf(run: string): Slot['kind'] {
  if (/^\d+$/.test(run)) return 'd';
  if (/^[0-9a-f]+$/.test(run) && /\d/.test(run)) return 'h';
  return /^[a-z]+$/.test(run) ? 'a' : 'm';
}

/**
 * Makes values fresh: of each value that `values` finds (group 1), a share `share` gets a slot in place of its longest
 * run of letters and digits. Percent escapes and names stay as they are.
 */
function freshen(text: string, values: RegExp, share: number, choose: () => number): (string | Slot)[] {
  const pieces: (string | Slot)[] = [];
  let from = 0;
  for (const match of text.matchAll(values)) {
    const value = match[1] ?? '';
    const start = match.index + match[0].indexOf(value, match[0].length - value.length - 1);
    const runs = [...value.matchAll(/(?<![%\\]|%[0-9A-Fa-f]|\\u?[0-9a-f]{0,3})[A-Za-z0-9]{2,}/g)].sort(
      (a, b) => b[0].length - a[0].length,
    );
    const longest = runs[0];
    if (longest === undefined || choose() >= share) continue;
    // A number keeps its first digit: JSON knows no leading zero.
    const keep = /^\d+$/.test(longest[0]) ? 1 : 0;
    const at = start + longest.index + keep;
    pieces.push(text.slice(from, at), { kind: kindOf(longest[0]), length: longest[0].length - keep });
    from = start + longest.index + longest[0].length;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => typeof piece !== 'string' || piece !== '');
}

const inAddress = /[=/]([^&=/?#]{2,})/g; // query values and path segments
const inForm = /=([^&=]{2,})/g;
const inCookie = /=([^;]{8,})/g;
const inJson = /:\s*"((?:[^"\\]|\\.){2,})"|(?<=[:[,]\s*)(\d{3,})(?=[,}\]])/g;

/** Headers whose value must stay: framing, negotiation, and the boundary of multipart. */
const fixedHeaders = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-language',
  'accept-encoding',
  'user-agent',
  'connection',
  'transfer-encoding',
  'origin',
]);

function fromRow(row: MixRow, share: number, choose: () => number): Template {
  const isAttack = row.label === 'attack'; // its payload stays what it is; only cookies change
  const body =
    row.body_b64 === undefined
      ? Buffer.from(row.body ?? '', 'utf8').toString('latin1')
      : Buffer.from(row.body_b64, 'base64').toString('latin1');
  const pieces: (string | Slot)[] = [
    `${row.method} `,
    ...(isAttack ? [row.uri] : freshen(row.uri, inAddress, share, choose)),
    ' HTTP/1.1\r\n',
  ];
  for (const [name, value] of row.headers) {
    const key = name.toLowerCase();
    if (key === 'connection') continue; // wrk keeps its connections
    const changed =
      key === 'cookie'
        ? freshen(value, inCookie, 1, choose)
        : isAttack || fixedHeaders.has(key)
          ? [value]
          : freshen(value, inAddress, share, choose);
    pieces.push(`${name}: `, ...changed, '\r\n');
  }
  const type = row.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const values = type.includes('json') ? inJson : type.includes('urlencoded') ? inForm : null;
  pieces.push('\r\n', ...(isAttack || values === null ? [body] : freshen(body, values, share, choose)));
  return {
    name: `${row.kind} ${row.id}`,
    label: row.label,
    pieces: pieces.filter((piece) => typeof piece !== 'string' || piece !== ''),
  };
}

/** Share of the values that change in every request; chosen so that the measured share of new values is 16–30 %. */
const freshShare = 0.8;

/** The corpus' performance mix as templates, or null where the corpora are absent. */
export function loadPerfMix(root: string): readonly Template[] | null {
  const file = resolve(root, process.env['GATEHOUSE_SHARED'] ?? '../shared', 'corpora/traffic/perf-mix.jsonl');
  if (!existsSync(file)) return null;
  const choose = createChooser(20_261_121);
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return rows.map((line) => fromRow(JSON.parse(line) as MixRow, freshShare, choose));
}

/**
 * What fresh.lua reads: `R pieces`, then per piece `L bytes` + the bytes, or `F kind length`; every line ends with \n.
 */
export function encodeTemplates(templates: readonly Template[]): Buffer {
  const parts: string[] = [];
  for (const { pieces } of templates) {
    parts.push(`R ${pieces.length}\n`);
    for (const piece of pieces)
      parts.push(typeof piece === 'string' ? `L ${piece.length}\n${piece}\n` : `F ${piece.kind} ${piece.length}\n`);
  }
  return Buffer.from(parts.join(''), 'latin1');
}

/** Endless raw requests (latin1), templates in turn. `random` gives numbers in [0, 1). */
export function createGenerator(
  templates: readonly Template[],
  random: () => number,
): () => { readonly raw: string; readonly template: Template } {
  let next = 0;
  return () => {
    const template = templates[next++ % templates.length] as Template;
    let raw = '';
    for (const piece of template.pieces) {
      if (typeof piece === 'string') raw += piece;
      else
        for (let left = piece.length; left > 0; left--)
          raw += alphabets[piece.kind][Math.floor(random() * alphabets[piece.kind].length)];
    }
    return { raw, template };
  };
}

export interface ParsedRequest {
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  readonly headers: readonly string[]; // flat
  readonly body: string; // latin1
}
/** Takes a request of our own making apart; not a parser for strangers. */
export function parseRequest(raw: string): ParsedRequest {
  const end = raw.indexOf('\r\n\r\n');
  const [line = '', ...fields] = raw.slice(0, end).split('\r\n');
  const [method = '', uri = '', protocol = ''] = line.split(' ');
  const headers = fields.flatMap((field) => [
    field.slice(0, field.indexOf(':')),
    field.slice(field.indexOf(':') + 1).trim(),
  ]);
  return { method, uri, protocol, headers, body: raw.slice(end + 4) };
}

/**
 * The single values of a request: path, names and values of arguments and cookies, header values, leaves of JSON.
 * Header names and JSON keys are left out; they always repeat.
 */
function valuesOf({ uri, headers, body }: ParsedRequest): string[] {
  const [path = '', query = ''] = uri.split('?');
  const values = [path, ...query.split(/[&=]/)];
  let type = '';
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? '').toLowerCase();
    const value = headers[index + 1] ?? '';
    if (name === 'content-type') type = value;
    if (name === 'cookie') values.push(...value.split(/;\s*|=/));
    else values.push(value);
  }
  if (type.includes('json'))
    for (const match of body.matchAll(/"((?:[^"\\]|\\.)*)"(?!\s*:)|-?\d[\d.]*/g)) values.push(match[1] ?? match[0]);
  else if (type.includes('urlencoded')) values.push(...body.split(/[&=]/));
  else if (body !== '') values.push(body);
  return values.filter((value) => value !== '');
}

export interface Freshness {
  /** Distinct values of a request, mean. */
  readonly valuesPerRequest: number;
  /** Of a request's distinct values, the share that no request before had; mean over requests. */
  readonly newShare: number;
}
/** What a memo without limits would not know, over `requests` requests after as many for warming up. */
export function measureFreshness(templates: readonly Template[], requests: number): Freshness {
  const generate = createGenerator(templates, createChooser(7));
  const seen = new Set<string>();
  let values = 0;
  let shares = 0;
  for (let index = 0; index < 2 * requests; index++) {
    const distinct = new Set(valuesOf(parseRequest(generate().raw)));
    let fresh = 0;
    for (const value of distinct) {
      if (seen.has(value)) continue;
      seen.add(value);
      fresh++;
    }
    if (index < requests) continue;
    values += distinct.size;
    shares += fresh / distinct.size;
  }
  return { valuesPerRequest: values / requests, newShare: shares / requests };
}
