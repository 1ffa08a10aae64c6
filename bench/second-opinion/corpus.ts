// The labelled requests beside the project, as the engine takes them, each with the half and the part of its group
// (groups.ts). They are no part of the project: where they are absent, the report says so.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHead } from '#engine';
import { HarnessProblem } from '../processes.js';
import { placesOf, type Place, type Row } from '../../fixtures/traffic/groups.js';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const corpora = resolve(root, process.env['GATEHOUSE_SHARED'] ?? '../shared', 'corpora');

export interface Labelled extends Place {
  readonly id: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly isAttack: boolean;
  readonly source: string;
}

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const peer = { clientIp: '203.0.113.7', clientPort: 40_000, serverIp: '192.0.2.80', serverPort: 80 };

function rowsOf<T>(path: string): T[] {
  if (!existsSync(path)) throw new HarnessProblem(`${path} is not there: the corpora are no part of the project.`);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

/** Every labelled request, attacks and honest ones. */
export function trafficOf(): Labelled[] {
  const rows = ['attack', 'benign'].flatMap((label) => rowsOf<Row>(join(corpora, `traffic/${label}.jsonl`)));
  const places = placesOf(rows);
  return rows.map((row, index) => {
    const text = typeof row.body === 'string' ? Buffer.from(row.body, 'utf8') : null;
    const body = typeof row.body_b64 === 'string' ? Buffer.from(row.body_b64, 'base64') : text;
    const headers = row.headers.flat().map(bytes);
    const head = { method: row.method, uri: bytes(row.uri), protocol: 'HTTP/1.1', headers, ...peer };
    const place = places[index] ?? { group: '', half: 0, fold: 0 };
    return { id: row.id, source: row.source, head, body, isAttack: row.label === 'attack', ...place };
  });
}

/** Stages of the regression suite that are to match a rule. */
export function regressionOf(): Labelled[] {
  interface Stage {
    readonly wire_b64: string;
    readonly output?: { readonly log?: { readonly expect_ids?: readonly number[] } };
  }
  const cases = rowsOf<{ readonly id: string; readonly stages: readonly Stage[] }>(join(corpora, 'ftw/cases.jsonl'));
  return cases.flatMap(({ id, stages }) =>
    stages.flatMap(({ wire_b64, output }) => {
      const raw = Buffer.from(wire_b64, 'base64');
      const end = raw.indexOf('\r\n\r\n');
      if ((output?.log?.expect_ids ?? []).length === 0 || end < 0) return [];
      const [line = '', ...fields] = raw.toString('latin1', 0, end).split('\r\n');
      const [method = '', uri = ''] = line.split(' ');
      const headers = fields.flatMap((field) => {
        const colon = field.indexOf(':');
        return colon < 0 ? [] : [field.slice(0, colon), field.slice(colon + 1).trim()];
      });
      const body = raw.subarray(end + 4);
      const head = { method, uri, protocol: 'HTTP/1.1', headers, ...peer };
      const place = { group: id, half: 0, fold: 0 } as const;
      return [{ id, source: 'suite', head, body: body.length === 0 ? null : body, isAttack: true, ...place }];
    }),
  );
}
