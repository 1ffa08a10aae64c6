// `gatehouse explain`: one raw HTTP request through the rules, told for people (or --json for programs).
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMemoryStore, type Transaction, type Verdict } from '#engine';
import { severityNames } from '../program/actions/index.js';
import { compileSettings, loadActive, type NamedProgram } from './compile.js';
import { createEngine, parseEngineName } from './engine-choice.js';
import { loadRules, RefusedError, UsageError } from './rule-files.js';
import { runRequest } from './run-request.js';
import type { WireRequest } from './wire.js';
import { parseWire } from './wire.js';

const shownCharactersMax = 300;

/** Bytes as printable text: a terminal must not be steered by a request. */
function printable(text: string): string {
  let shown = '';
  for (let index = 0; index < Math.min(text.length, shownCharactersMax); index += 1) {
    const code = text.charCodeAt(index);
    shown += code < 0x20 || code > 0x7e ? `\\x${code.toString(16).padStart(2, '0')}` : (text[index] as string);
  }
  return text.length > shownCharactersMax ? `${shown}… (${text.length} bytes)` : shown;
}

export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly protocol: string;
    readonly headers: number;
    readonly bodyBytes: number;
    readonly bodyProcessor: string;
    readonly objection: string | null;
  };
  readonly matched: readonly {
    readonly id: number;
    readonly phase: number;
    readonly severity: string | null;
    readonly msg: string;
    readonly logdata: string;
    readonly variable: string;
    readonly value: string;
    readonly tags: readonly string[];
    readonly file: string;
    readonly line: number;
  }[];
  readonly inboundScore: number;
  readonly outboundScore: number;
  readonly engineMode: string;
  readonly verdict: 'pass' | 'flag' | 'block';
  readonly interruption: Verdict['interruption'];
  readonly truncated: boolean;
  readonly phases: readonly number[];
}

/** The explanation of a finished transaction, as data. */
function explainTransaction(
  transaction: Transaction,
  verdict: Verdict,
  wire: WireRequest,
  files: readonly string[],
): Explanation {
  const { method, uri, protocol, headers } = wire.head;
  return {
    request: {
      method,
      uri,
      protocol,
      headers: headers.length / 2,
      bodyBytes: transaction.requestBodyBytes,
      bodyProcessor: transaction.requestBodyProcessor,
      objection: wire.objection,
    },
    matched: verdict.matched.map(({ rule, phase, msg, logdata, variable, value, tags }) => ({
      id: rule.id,
      phase,
      severity: rule.severity === null ? null : (severityNames[rule.severity] ?? String(rule.severity)),
      msg,
      logdata,
      variable,
      value,
      tags,
      file: files[rule.links[0]?.file ?? -1] ?? '',
      line: rule.links[0]?.line ?? 0,
    })),
    inboundScore: verdict.inboundScore,
    outboundScore: verdict.outboundScore,
    engineMode: transaction.engineMode,
    verdict: verdict.kind,
    interruption: verdict.interruption,
    truncated: verdict.truncated,
    phases: verdict.phases,
  };
}

function describeVerdict({ verdict, interruption, engineMode }: Explanation): string {
  if (interruption === null) return `PASS (engine ${engineMode})`;
  const what = `${interruption.action}, status ${interruption.status}, by rule ${interruption.ruleId} in phase ${interruption.phase}`;
  return verdict === 'block' ? `BLOCK: ${what}` : `FLAG: DetectionOnly withheld ${what}`;
}

/** For people to read. */
function formatExplanation(explanation: Explanation): string {
  const { request, matched } = explanation;
  const lines = [
    `${printable(request.method)} ${printable(request.uri)} ${printable(request.protocol)}`,
    `${request.headers} headers, body of ${request.bodyBytes} bytes${request.bodyProcessor === '' ? '' : ` read as ${request.bodyProcessor}`}`,
  ];
  if (request.objection !== null) lines.push(`The proxy would answer 400: ${request.objection}.`);
  lines.push('');
  if (matched.length === 0) lines.push('No rule matched.');
  for (const rule of matched) {
    lines.push(`${rule.id}  phase ${rule.phase}  ${rule.severity ?? '-'}  ${printable(rule.msg)}`);
    if (rule.variable !== '') lines.push(`    ${printable(rule.variable)} = ${printable(rule.value)}`);
    if (rule.logdata !== '') lines.push(`    ${printable(rule.logdata)}`);
    lines.push(`    ${rule.file}:${rule.line}`);
  }
  lines.push(
    '',
    `Score: inbound ${explanation.inboundScore}, outbound ${explanation.outboundScore}. Phases ${explanation.phases.join(' ')}.${explanation.truncated ? ' A limit was reached: not everything was inspected.' : ''}`,
    `Verdict: ${describeVerdict(explanation)}`,
  );
  return lines.join('\n');
}

function readRequest(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new RefusedError(`${path}: cannot be read (${error instanceof Error ? error.message : String(error)}).`);
  }
}

const usage =
  'Usage: gatehouse explain FILE|- [--settings FILE | --rules GLOB…] [--engine compiled|interpreter] [--json]';

function chooseProgram(rules: readonly string[] | undefined, settings: string | undefined): NamedProgram {
  if (rules !== undefined && settings !== undefined)
    throw new UsageError('explain: give either --rules or --settings.');
  if (rules !== undefined) return { program: loadRules(rules).program, name: rules.join(', ') };
  return settings === undefined ? loadActive() : compileSettings(settings);
}

/**
 * Runs the command; exit code 0 whatever the verdict is. Without --rules and --settings it asks the rules that serve.
 */
export async function runExplain(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      rules: { type: 'string', multiple: true },
      settings: { type: 'string' },
      engine: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const path = positionals[0];
  if (path === undefined || positionals.length > 1)
    throw new UsageError(`explain needs one file, or - for standard input.\n${usage}`);
  const wire = parseWire(readRequest(path));
  if (wire === null) throw new RefusedError(`${path}: holds no HTTP request.`);
  const { program, name } = chooseProgram(values.rules, values.settings);
  const { inspector } = await createEngine(parseEngineName(values.engine), program);
  const { transaction, verdict } = runRequest(
    inspector,
    { head: wire.head, body: wire.body, response: null },
    { store: createMemoryStore(), uniqueId: 'explain', nowMs: Date.now(), lastPhase: 5 },
  );
  const explanation = explainTransaction(transaction, verdict as Verdict, wire, program.files);
  console.log(
    values.json
      ? JSON.stringify({ rules: name, ...explanation }, null, 2)
      : `${formatExplanation(explanation)}\nRules: ${name}`,
  );
  return 0;
}
