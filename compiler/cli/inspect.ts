// `gatehouse inspect`: requests from a JSONL file through the engine, without a network; one result row per request.
import { createReadStream, createWriteStream, openSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createMemoryStore, type CollectionStore, type Inspector, type RequestHead } from '#engine';
import { createEngine, parseEngineName } from './engine-choice.js';
import { isReflection, reflect } from './reflect.js';
import { loadRules, UsageError } from './rule-files.js';
import type { RunInput } from './run-request.js';
import { runRequest } from './run-request.js';
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
  readonly response?: {
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

/** What a row asks to inspect. Throws Error with a message for the row when it cannot be read. */
function readRow(row: InputRow, withReflection: boolean): RunInput {
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
  if (row.response !== undefined) {
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

interface InspectOptions {
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

function parseLastPhase(text: string): number {
  const match = /^(?:1-)?([1-5])$/.exec(text);
  if (match === null) throw new UsageError(`--phases ${text}: give the range that begins with 1, e.g. 1-2 or 1-5.`);
  return Number(match[1]);
}

const usage = `Usage: gatehouse inspect --rules GLOB… --requests FILE.jsonl [--engine compiled|interpreter] [--phases 1-5] [--reflect] -o OUT.jsonl`;

/** Runs the command; the exit code is 0 when every row was written (rows may hold errors of their own). */
export async function runInspect(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rules: { type: 'string', multiple: true },
      requests: { type: 'string' },
      engine: { type: 'string' },
      phases: { type: 'string', default: '1-5' },
      reflect: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.requests === undefined || values.output === undefined)
    throw new UsageError(`inspect needs --requests and -o.\n${usage}`);
  const { program } = loadRules(values.rules ?? []);
  const { inspector } = await createEngine(parseEngineName(values.engine), program);
  const options: InspectOptions = {
    inspector,
    store: createMemoryStore(),
    lastPhase: parseLastPhase(values.phases),
    withReflection: values.reflect,
  };
  // opened at once: what cannot be opened is thrown here, not in a stream that nobody listens to
  const input = values.requests === '-' ? process.stdin : createReadStream('', { fd: openSync(values.requests, 'r') });
  const output = values.output === '-' ? process.stdout : createWriteStream('', { fd: openSync(values.output, 'w') });
  const lines = createInterface({ input, crlfDelay: Infinity });
  let failure: Error | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    lines.close();
  };
  input.once('error', fail);
  output.once('error', fail);
  let number = 0;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    number += 1;
    if (failure === null && !output.write(`${JSON.stringify(inspectLine(line, number, options))}\n`))
      await once(output, 'drain');
  }
  if (failure !== null) throw failure as Error;
  if (output !== process.stdout) {
    output.end();
    await once(output, 'finish');
  }
  return 0;
}

function inspectLine(line: string, number: number, options: InspectOptions): OutputRow {
  try {
    const row: unknown = JSON.parse(line);
    return inspectRow(typeof row === 'object' && row !== null ? row : {}, number, options);
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
