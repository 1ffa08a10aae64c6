// Rows of `gatehouse inspect`: a JSON line that asks for an inspection becomes one that says what came of it.
import type { CollectionStore, Inspector, RequestHead } from '#engine';
import { isReflection, reflect } from './reflect.js';
import { runRequest, type RunInput } from './run-request.js';
import { parseWire } from './wire.js';

/**
 * A row of the input file: `wire_b64` (bytes as on the wire), or the parts of a request. Text fields hold UTF-8 in JSON
 * and are sent as those bytes.
 */
interface InputRow {
  readonly id?: unknown;
  readonly wire_b64?: string;
  readonly client_ip?: string;
  readonly method?: string;
  readonly uri?: string;
  readonly version?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | null;
  readonly body_b64?: string | null;
  readonly response?: null | {
    readonly status: number;
    readonly headers?: readonly (readonly [string, string])[];
    readonly body?: string;
    readonly body_b64?: string;
  };
}

interface OutputRow {
  id: unknown;
  matched: {
    id: number;
    phase: number;
    msg: string;
    severity: number | null;
    variable: string;
    value: string;
    tags: readonly string[];
  }[];
  matched_ids: number[];
  tx: Record<string, string>;
  interruption: null | { rule_id: number; action: string; status: number; phase: number; data: string };
  error: string | null;
  us: number;
}

/** UTF-8 text → one code unit per byte. */
function bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function flatten(pairs: readonly (readonly [string, string])[] | undefined): string[] {
  const flat: string[] = [];
  for (const [name, value] of pairs ?? []) flat.push(bytes(name), bytes(value));
  return flat;
}

function bodyOf(row: { readonly body?: string | null; readonly body_b64?: string | null }): Buffer | null {
  if (typeof row.body_b64 === 'string') return Buffer.from(row.body_b64, 'base64');
  return typeof row.body === 'string' ? Buffer.from(row.body, 'utf8') : null;
}

function protocolOf(version: string | undefined): string {
  const text = version ?? '1.1';
  return /^\d/.test(text) ? `HTTP/${text}` : text;
}

type Members = Readonly<Record<string, unknown>>;

const isPairs = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string'));

/** Which member is not what it has to be; null: none. Members that are left out or null are fine. */
function problemOf(row: Members, place = ''): string | null {
  for (const name of ['wire_b64', 'client_ip', 'method', 'uri', 'version', 'body', 'body_b64'])
    if ((row[name] ?? null) !== null && typeof row[name] !== 'string') return `${place}${name} has to be a string`;
  if ((row['headers'] ?? null) !== null && !isPairs(row['headers']))
    return `${place}headers has to be a list of [name, value] pairs of strings`;
  return null;
}

function problemOfResponse(response: unknown): string | null {
  if (response === undefined || response === null) return null;
  if (typeof response !== 'object' || Array.isArray(response)) return 'response has to be an object';
  const { status } = response as Members;
  if (!Number.isInteger(status) || (status as number) < 100 || (status as number) > 999)
    return 'response.status has to be a number from 100 to 999';
  return problemOf(response as Members, 'response.');
}

/** What a row asks to inspect. Throws Error with a message for the row when it cannot be read. */
function readRow(row: InputRow, withReflection: boolean): RunInput {
  const problem = problemOf(row as Members) ?? problemOfResponse(row.response);
  if (problem !== null) throw new Error(problem);
  const clientIp = row.client_ip ?? '127.0.0.1';
  let head: RequestHead;
  let body: Buffer | null;
  if (typeof row.wire_b64 === 'string') {
    const wire = parseWire(Buffer.from(row.wire_b64, 'base64'), { clientIp });
    if (wire === null) throw new Error('wire_b64 holds no request line');
    ({ head, body } = wire);
  } else {
    if (typeof row.uri !== 'string') throw new Error('the row has neither wire_b64 nor method and uri');
    head = {
      method: bytes(row.method ?? 'GET'),
      uri: bytes(row.uri),
      protocol: protocolOf(row.version),
      headers: flatten(row.headers),
      clientIp,
      clientPort: 54_321,
      serverIp: '127.0.0.1',
      serverPort: 80,
    };
    body = bodyOf(row);
  }
  if (row.response !== undefined && row.response !== null) {
    const responseBody = bodyOf(row.response) ?? Buffer.alloc(0);
    return {
      head,
      body,
      response: {
        head: { status: row.response.status, protocol: 'HTTP/1.1', headers: flatten(row.response.headers) },
        body: responseBody,
      },
    };
  }
  return { head, body, response: withReflection && isReflection(head) ? reflect(head, body) : null };
}

export interface InspectOptions {
  readonly inspector: Inspector;
  readonly store: CollectionStore;
  readonly lastPhase: number;
  readonly withReflection: boolean;
}

function inspectRow(row: InputRow, number: number, options: InspectOptions): OutputRow {
  const id = row.id ?? number;
  const failed = (error: unknown): OutputRow => ({
    id,
    matched: [],
    matched_ids: [],
    tx: {},
    interruption: null,
    error: error instanceof Error ? error.message : String(error),
    us: 0,
  });
  let input: RunInput;
  try {
    input = readRow(row, options.withReflection);
  } catch (error) {
    return failed(error);
  }
  const start = process.hrtime.bigint();
  try {
    const { transaction } = runRequest(options.inspector, input, {
      store: options.store,
      uniqueId: `inspect-${number}`,
      nowMs: Date.now(),
      lastPhase: options.lastPhase,
    });
    const us = Number(process.hrtime.bigint() - start) / 1000;
    const { interruption } = transaction;
    return {
      id,
      matched: transaction.matched.map(({ rule, phase, msg, variable, value, tags }) => ({
        id: rule.id,
        phase,
        msg,
        severity: rule.severity,
        variable,
        value,
        tags,
      })),
      matched_ids: transaction.matched.map(({ rule }) => rule.id),
      tx: Object.fromEntries(transaction.tx),
      interruption:
        interruption === null
          ? null
          : {
              rule_id: interruption.ruleId,
              action: interruption.action,
              status: interruption.status,
              phase: interruption.phase,
              data: interruption.data,
            },
      error: null,
      us: Math.round(us * 10) / 10,
    };
  } catch (error) {
    return failed(error);
  }
}

/** What a line of the input becomes; it may hold an error of its own. */
export function inspectLine(line: string, number: number, options: InspectOptions): OutputRow {
  try {
    const row: unknown = JSON.parse(line);
    return inspectRow(typeof row === 'object' && row !== null && !Array.isArray(row) ? row : {}, number, options);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {
      id: number,
      matched: [],
      matched_ids: [],
      tx: {},
      interruption: null,
      error: `not a JSON line: ${error.message}`,
      us: 0,
    };
  }
}
