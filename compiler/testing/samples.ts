// Requests of the shared corpora as samples, and mutations of them. Reads files: tests and tools only.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseWire } from '#cli/inspect/wire';
import { reflect, isReflection } from '#cli/inspect/reflect';
import { placesOf, type Row } from '../../fixtures/traffic/groups.js';
import type { Sample } from './agreement.js';

function* rowsOf(path: string): Generator<Record<string, unknown>> {
  for (const line of readFileSync(path, 'utf8').split('\n'))
    if (line !== '') yield JSON.parse(line) as Record<string, unknown>;
}

/** All stages of the CRS regression suite; POST /reflect brings its response along. */
export function* ftwSamples(shared: string): Generator<Sample> {
  for (const row of rowsOf(join(shared, 'corpora/ftw/cases.jsonl'))) {
    const stages = row.stages as { wire_b64: string }[];
    for (const [index, stage] of stages.entries()) {
      const parsed = parseWire(Buffer.from(stage.wire_b64, 'base64'));
      if (parsed === null) continue; // no request at all
      const { head, body } = parsed;
      const answer = reflect(head, body);
      yield {
        id: `ftw ${String(row.id)}/${index}`,
        head,
        body,
        response: isReflection(head) ? { head: answer.head, body: answer.body } : null,
      };
    }
  }
}

/** Rows of traffic/*.jsonl. */
export function trafficSamples(shared: string, file: 'benign' | 'attack' | 'perf-mix'): Generator<Sample> {
  return samplesOf(join(shared, `corpora/traffic/${file}.jsonl`), file);
}

/** Ids of `trafficSamples` in half B, which the second opinion was not drafted from (fixtures/traffic/groups.ts). */
export function heldOutTraffic(shared: string): ReadonlySet<string> {
  const files = ['attack', 'benign'] as const;
  const rows = files.flatMap((file) => [...rowsOf(join(shared, `corpora/traffic/${file}.jsonl`))] as unknown as Row[]);
  const places = placesOf(rows);
  return new Set(rows.filter((_, index) => places[index]?.half === 1).map(({ id, label }) => `${label} ${id}`));
}

/** Our own requests, fixtures/requests: they are there on every machine. */
export function ownSamples(root: string, file: 'attacks' | 'benign'): Generator<Sample> {
  return samplesOf(join(root, `fixtures/requests/${file}.jsonl`), file);
}

function* samplesOf(path: string, file: string): Generator<Sample> {
  for (const row of rowsOf(path)) {
    const headers = (row.headers as [string, string][])
      .flat()
      .map((text) => Buffer.from(text, 'utf8').toString('latin1'));
    const body =
      typeof row.body_b64 === 'string'
        ? Buffer.from(row.body_b64, 'base64')
        : typeof row.body === 'string'
          ? Buffer.from(row.body, 'utf8')
          : null;
    yield {
      id: `${file} ${String(row.id)}`,
      head: {
        method: String(row.method),
        uri: Buffer.from(String(row.uri), 'utf8').toString('latin1'),
        protocol: 'HTTP/1.1',
        headers,
        clientIp: '203.0.113.7',
        clientPort: 40_000,
        serverIp: '192.0.2.80',
        serverPort: 80,
      },
      body,
      response: null,
    };
  }
}

/** A small deterministic generator (xorshift32), so that a seed names a run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/** Bytes that rules care about: delimiters, quotes, comments, encodings, controls, high bytes. */
const spice = [
  "'",
  '"',
  '`',
  '<',
  '>',
  '(',
  ')',
  ';',
  '|',
  '&',
  '$',
  '%',
  '%25',
  '%27',
  '%3c',
  '%u0027',
  '&lt;',
  '&#39;',
  '\\',
  '\\x27',
  '\\u003c',
  '/*',
  '*/',
  '--',
  '#',
  '\0',
  '%00',
  '\t',
  '+',
  ' ',
  '\n',
  '../',
  '..\\',
  '//',
  '\xe9',
  '\xff',
  '\xc0\xae',
  '{',
  '}',
  '[',
  ']',
  '=',
  '!',
  '^',
  '~',
  ',',
  '@',
  ':',
  'A',
  'z',
  '0',
];

/** Draws `count` mutations: fragments of one sample spliced into others, case flips, encodings, insertions, cuts. */
export function* mutations(samples: readonly Sample[], count: number, seed: number): Generator<Sample> {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const fragment = (): string => {
    const { head, body } = pick(samples);
    const text = body !== null && body.length > 0 && random(2) === 0 ? body.toString('latin1', 0, 4096) : head.uri;
    const from = random(Math.max(1, text.length));
    return text.slice(from, from + 1 + random(40));
  };
  const mutate = (text: string): string => {
    const at = random(text.length + 1);
    switch (random(7)) {
      case 0:
        return text.slice(0, at) + pick(spice) + text.slice(at);
      case 1:
        return text.slice(0, at) + fragment() + text.slice(at);
      case 2:
        return text.slice(0, at) + text.slice(at + 1 + random(5));
      case 3:
        return text.slice(0, at) + (random(2) === 0 ? text.slice(at).toUpperCase() : text.slice(at).toLowerCase());
      case 4: {
        const code = text.charCodeAt(at);
        return Number.isNaN(code)
          ? text
          : `${text.slice(0, at)}%${code.toString(16).padStart(2, '0')}${text.slice(at + 1)}`;
      }
      case 5:
        return text.slice(0, at) + text.slice(at, at + random(20)) + text.slice(at);
      default:
        return text + pick(spice) + fragment();
    }
  };
  const latin1 = (text: string): string =>
    [...text].map((character) => String.fromCharCode(character.charCodeAt(0) & 255)).join('');
  for (let index = 0; index < count; index += 1) {
    const base = pick(samples);
    let { uri } = base.head;
    let headers = base.head.headers;
    let body = base.body;
    for (let step = random(3); step >= 0; step -= 1) {
      const where = random(4);
      if (where === 0 && headers.length > 1) {
        const at = 2 * random(headers.length / 2) + 1;
        headers = headers.map((value, position) => (position === at ? latin1(mutate(value)) : value));
      } else if (where <= 2 && body !== null && body.length < 16_384)
        body = Buffer.from(mutate(body.toString('latin1')), 'latin1');
      else uri = latin1(mutate(uri));
    }
    yield { ...base, id: `mutation ${seed}/${index} of ${base.id}`, head: { ...base.head, uri, headers }, body };
  }
}
