// The CRS regression suite over an Inspector. Each stage is the exact bytes that go-ftw would send; a tolerant reader
// takes the place of the web server, reflect.ts that of the backend.
import { readFileSync } from 'node:fs';
import { createMemoryStore, type Inspector } from '#engine';
import { Refusal } from '../refusal.js';
import { formatErrorLog } from './error-log.js';
import { judgeStage, type FtwObserved, type FtwOutput } from './ftw-judge.js';
import { problemOfCase } from './ftw-case.js';
import { reflect } from './reflect.js';
import { runRequest } from './run-request.js';
import { parseWire } from './wire.js';

export interface FtwCase {
  readonly id: string;
  readonly rule_id: number;
  readonly file: string;
  readonly stages: readonly { readonly output: FtwOutput; readonly wire_b64: string }[];
}
export interface FtwFailure {
  readonly id: string;
  readonly file: string;
  readonly stage: number;
  readonly reason: string;
}
export interface FtwReport {
  readonly tests: number;
  readonly stages: number;
  readonly passed: number;
  readonly failures: readonly FtwFailure[];
  /** Passed and failed per rule file (folder of the suite), in the suite's order. */
  readonly files: ReadonlyMap<string, { passed: number; failed: number }>;
}

function reasonPhrase(status: number): string {
  return status === 200 ? 'OK' : status === 400 ? 'Bad Request' : status === 403 ? 'Forbidden' : '';
}

/** One stage through the engine, as a client and the log would see it. */
function observeStage(inspector: Inspector, files: readonly string[], wireBytes: Buffer, stageId: string): FtwObserved {
  const wire = parseWire(wireBytes);
  if (wire === null) return { hasTransportError: true, status: 0, response: '', logLines: [], ids: [] };
  if (wire.isUnreadable)
    return {
      hasTransportError: false,
      status: 400,
      response: 'HTTP/1.1 400 Bad Request\r\n\r\n',
      logLines: [],
      ids: [],
    };
  const backend = reflect(wire.head, wire.body);
  const { transaction } = runRequest(
    inspector,
    { head: wire.head, body: wire.body, response: backend },
    { store: createMemoryStore(), uniqueId: stageId, nowMs: Date.now(), lastPhase: 5 },
  );
  const status = transaction.interruption?.status ?? (wire.objection !== null ? 400 : backend.head.status);
  const body = status === backend.head.status ? backend.body.toString('latin1') : '';
  const logLines = transaction.matched.map((matched) => formatErrorLog(matched, files, transaction));
  return {
    hasTransportError: wire.hasNoStatusLine,
    status,
    response: `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n\r\n${body}`,
    logLines,
    ids: transaction.matched.map(({ rule }) => rule.id),
  };
}

/** Runs the cases; a test passes when all its stages do (stricter than go-ftw, which keeps the last stage's result). */
export function runFtwCases(inspector: Inspector, files: readonly string[], cases: readonly FtwCase[]): FtwReport {
  const failures: FtwFailure[] = [];
  const perFile = new Map<string, { passed: number; failed: number }>();
  let stages = 0;
  for (const test of cases) {
    const folder = test.file.split('/')[0] as string;
    let counts = perFile.get(folder);
    if (counts === undefined) perFile.set(folder, (counts = { passed: 0, failed: 0 }));
    let isFailed = false;
    for (const [index, stage] of test.stages.entries()) {
      stages += 1;
      const reason = judgeStage(
        stage.output,
        observeStage(inspector, files, Buffer.from(stage.wire_b64, 'base64'), `${test.id}-${index}`),
      );
      if (reason === null) continue;
      isFailed = true;
      failures.push({ id: test.id, file: test.file, stage: index + 1, reason });
    }
    if (isFailed) counts.failed += 1;
    else counts.passed += 1;
  }
  const failed = new Set(failures.map(({ id }) => id)).size;
  return { tests: cases.length, stages, passed: cases.length - failed, failures, files: perFile };
}

function parseLine(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Refusal(`${place}: not a JSON line (${error instanceof Error ? error.message : String(error)}).`);
  }
}

/** One JSON case a line. Throws Refusal for the first line that is none: where, what, and what it has to be. */
export function readFtwCases(path: string): FtwCase[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const row = parseLine(line, `${path}:${index + 1}`);
    const problem = problemOfCase(row);
    if (problem !== null) throw new Refusal(`${path}:${index + 1}: ${problem}.`);
    return [row as FtwCase];
  });
}

export function formatFtwReport(report: FtwReport): string {
  const lines: string[] = [];
  for (const [file, { passed, failed }] of report.files)
    lines.push(`${file.padEnd(52)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`);
  for (const failure of report.failures) lines.push(`FAILED ${failure.id} (stage ${failure.stage}): ${failure.reason}`);
  const percent = report.tests === 0 ? '0' : ((100 * report.passed) / report.tests).toFixed(2);
  lines.push(`${report.passed} of ${report.tests} tests passed (${percent} %), ${report.stages} stages`);
  return lines.join('\n');
}
