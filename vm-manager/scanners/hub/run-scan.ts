// A scan in the hub: an upload becomes a run that waits for its turn; its scanner reads the upload as a stream.
// Findings go through the importer of every other report, with the files that were not read: an incomplete scan closes
// nothing, and neither does one that had no file to read.
import { Type } from '@sinclair/typebox';
import { stat, writeFile } from 'node:fs/promises';
import { allFindings } from '../report/people.js';
import { toSarif } from '../report/sarif.js';
import { openSource } from '../sources/open.js';
import { SourceError, type Source } from '../sources/source.js';
import type { ScannerResult, ScanResult } from '../run/result.js';
import { scan, scanLimits, type Progress } from '../run/scan.js';
import { profileOf } from '../../code-rules/profile.js';
import { keepSarif } from '../../code-rules/sarif.js';
import type { Extent, Scanner } from '../contract.js';
import { findFormat } from '../../imports/formats/index.js';
import { runImport, termsFor } from '../../imports/run/run-import.js';
import type { Fields } from '../../imports/run/fields.js';
import { unfit, type Call } from '../../kit/endpoint.js';
import { finishRun, insertRun, leaseMs, renewRun, RunView, viewRun, type Run, type RunEnd } from '../../kit/runs.js';
import type { Upload } from '../../kit/upload/receive.js';
import { requireApplication } from '../../assets/resources.js';
import { maskValues } from '../../secrets/mask.js';
import { inTurn, requirePlace } from './queue.js';
import { afterImport } from './after-import.js';

/** How often a scan asks whether it is to stop, and says how far it is. */
const heartbeatMs = 1000;
const problemsMax = 200;

export interface ScanFields {
  readonly application_id: string;
  readonly branch?: string;
  readonly commit?: string;
  readonly scope_key?: string;
  readonly path?: string;
  readonly covers?: Extent;
  readonly mode?: 'add' | 'sync';
  readonly confirm_close?: boolean;
  /** Of manifests. */
  readonly cluster_id?: string;
}

/** Of a scan that something else than an upload began. */
export interface Begun {
  /** What its run says beside the fields. */
  readonly input?: Readonly<Record<string, string>>;
  /** The files as they are called where they are kept. */
  readonly source?: (source: Source) => Source;
  /** Of what is no source of files by itself, such as an image. */
  readonly open?: () => Source;
  /** Findings as they are to be called. */
  readonly named?: (result: ScanResult) => ScanResult;
  /** Once the findings are stored; what it returns stands in the result of the run. */
  readonly keep?: (result: ScanResult) => Promise<Readonly<Record<string, unknown>>>;
}

export const ScanView = Type.Intersect([RunView, Type.Object({ problems: Type.Array(Type.Unknown()) })]);
export const viewScan = (run: Run) => ({ ...viewRun(run), problems: [...run.problems] });

/** The run, waiting. Throws ApiError for what cannot be scanned; then the upload is gone. */
export async function beginScan(
  call: Call,
  scanner: Scanner,
  sent: Upload<ScanFields>,
  begun: Begun = {},
): Promise<Run> {
  const { fields, file, bytes, fileName } = sent;
  try {
    requirePlace();
    const { id } = await requireApplication(call.sql, call.reach, fields.application_id);
    const opened = begun.open?.() ?? (await sourceOf(file, fields.path ?? fileName));
    const source = begun.source?.(opened) ?? opened;
    const { branch = '', commit = '', mode = 'sync', covers = 'part', scope_key = '' } = fields;
    if (covers === 'whole' && source.isOneFile)
      throw unfit('covers', 'is whole, and the upload is a single file', 'send an archive of the whole checkout');
    const input = { branch, commit, mode, covers, scope_key, bytes, file: fileName.slice(0, 200), ...begun.input };
    const run = await call.audited(
      'vm.import',
      (made: Run) => `began the scan ${made.id} (${scanner.kind})`,
      async (tx) => {
        const made = await insertRun(
          tx,
          { kind: scanner.kind, applicationId: id, input, createdBy: call.caller.actor.name },
          call.now,
        );
        // a run whose process ends while it waits is lost like one that runs
        await tx`update vm_runs set lease_until = ${new Date(call.now.getTime() + leaseMs)} where id = ${made.id}`;
        return made;
      },
    );
    const waits = keepWaiting(call, run.id);
    inTurn(async () => {
      clearInterval(waits);
      try {
        await runScan({ call, scanner, sent, begun }, source, run.id);
      } finally {
        await sent.discard();
      }
    });
    return run;
  } catch (error) {
    await sent.discard();
    throw error;
  }
}

function keepWaiting({ sql, host }: Call, id: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    void sql`
      update vm_runs set lease_until = ${new Date(host.now() + leaseMs)} where id = ${id} and status = 'queued'`.catch(
      () => undefined, // the job of lost runs ends it where the database stays away
    );
  }, leaseMs / 3);
  timer.unref();
  return timer;
}

async function sourceOf(file: string, name: string): Promise<Source> {
  try {
    return await openSource(file, name === '' ? 'file' : name.replace(/^\/+/, ''));
  } catch (error) {
    if (error instanceof SourceError) throw unfit('file', 'cannot be scanned', error.message);
    throw error;
  }
}

/** Where a scan is in its own number of files, so far as anybody knows. */
const percentOf = ({ files, total }: Progress): number =>
  total === null || total === 0
    ? Math.min(90, Math.round(30 * Math.log10(1 + files)))
    : Math.min(99, Math.round((files * 100) / total));

interface Work {
  readonly call: Call;
  readonly scanner: Scanner;
  readonly sent: Upload<ScanFields>;
  readonly begun: Begun;
}

async function runScan(given: Work, source: Source, id: number) {
  const { begun } = given;
  const { sql, host } = given.call;
  const now = (): Date => new Date(host.now());
  const taken = await sql`
    update vm_runs set status = 'running', started_at = ${now()}, lease_until = ${new Date(host.now() + leaseMs)}
    where id = ${id} and status = 'queued' returning id`;
  if (taken.length === 0) return; // canceled while it waited
  const stop = new AbortController();
  let progress = 0;
  const heartbeat = setInterval(() => {
    void renewRun(sql, id, progress, now()).then(
      (goesOn) => goesOn || stop.abort(),
      () => undefined,
    );
  }, heartbeatMs);
  heartbeat.unref();
  try {
    const tell = (at: Progress): void => void (progress = percentOf(at));
    const application = Number(given.sent.fields.application_id);
    const { scanner, additions, adjust, told } = await profileOf(sql, given.scanner, application, now());
    const found = adjust(await scan(source, [scanner], tell, stop.signal, scanLimits, additions));
    const end = await endOf({ ...given, scanner }, begun.named?.(found) ?? found, id);
    await finishRun(sql, id, { ...end, result: { ...(end.result as object | undefined), ...told } }, now());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await finishRun(sql, id, { status: 'failed', error: why.slice(0, 2000) }, now()).catch(() => undefined);
  } finally {
    clearInterval(heartbeat);
  }
}

const idleReason = 'files that this scanner does not read, and no other file';
/** An upload of something else is no proof that the findings of before are gone. */
const hasReadNothing = ({ scanned }: ScannerResult): boolean => scanned.length === 0;

/** What a scan says of itself, whatever became of its findings. */
function resultOf(scanned: ScanResult, own: ScannerResult) {
  const isIdle = hasReadNothing(own);
  const by: Record<string, number> = {};
  for (const { severity, suppressed } of allFindings(scanned))
    if (suppressed === undefined) by[severity] = (by[severity] ?? 0) + 1;
  return {
    files: scanned.files,
    bytes: scanned.bytes,
    seconds: Math.round(scanned.seconds * 1000) / 1000,
    complete: own.complete && !isIdle && scanned.stopped === null,
    files_scanned: own.scanned.length,
    packages: own.packages.length,
    not_scanned: isIdle ? { ...own.notScannedByReason, [idleReason]: scanned.files } : own.notScannedByReason,
    fault_reasons: isIdle ? [...own.faultReasons, idleReason] : own.faultReasons,
    findings: own.findings.length,
    findings_by_severity: by,
  };
}

async function endOf(work: Work, scanned: ScanResult, id: number): Promise<RunEnd> {
  const [own] = scanned.results;
  if (own === undefined) throw new Error('a scan without a result');
  const problems = own.notScanned
    .filter(({ isFault }) => isFault)
    .slice(0, problemsMax)
    .map(({ path, reason }) => ({ at: path, detail: reason }));
  const result = resultOf(scanned, own);
  if (scanned.stopped !== null)
    return {
      status: scanned.stopped === 'it was stopped' ? 'canceled' : 'timed_out',
      error: `The scan ended early: ${scanned.stopped}. Nothing of it was kept.`,
      result,
      problems,
    };
  if (scanned.files === 0)
    return { status: 'failed', error: 'There was no file to look at: the upload is empty.', result, problems };
  const imported = await importScan(work, scanned);
  if (work.scanner.kind === 'sast')
    await keepSarif(
      work.call.sql,
      id,
      work.sent.fields.application_id,
      JSON.stringify(maskValues(toSarif(scanned, work.sent.fields.covers ?? 'part'))),
    );
  const kept = await work.begun.keep?.(scanned);
  return { status: 'succeeded', result: { ...result, ...imported, ...kept }, problems };
}

async function importScan(work: Work, scanned: ScanResult) {
  const { call, scanner, sent } = work;
  const { application_id, covers = 'part' } = sent.fields;
  const own = scanner.toReport?.(scanned) ?? toSarif(scanned, covers);
  const first = await importReport(work, scanned, own, scanner.kind);
  const also =
    scanner.alsoSarif === true ? await importReport(work, scanned, toSarif(scanned, covers), 'findings') : null;
  const more = await afterImport(call, scanner, application_id, scanned);
  return {
    ...{ import_id: also?.import_id ?? first.import_id, report: also?.report ?? first.report },
    ...(also === null ? {} : { components: first.report }),
    ...more,
  };
}

async function importReport({ call, scanner, sent }: Work, scanned: ScanResult, report: object, name: string) {
  const { application_id, branch, commit, confirm_close, scope_key: given, covers = 'part' } = sent.fields;
  // what was not read may list what seems gone; components do not say which file they are of
  const isWhole = scanned.results.every((one) => one.complete && !hasReadNothing(one));
  const mayClose = isWhole && (covers === 'whole' || scanner.toReport === undefined);
  const mode = mayClose ? (sent.fields.mode ?? 'sync') : 'add';
  // a file of several scans is read by one after the other
  const path = `${sent.file}.${name}.report`;
  // the directory of the upload, which is removed with it
  await writeFile(path, JSON.stringify(report), { mode: 0o600, flag: 'wx' });
  const { size } = await stat(path);
  const named = { application_id, branch, commit, confirm_close, mode };
  const fields = {
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    scope_key: given === undefined || given === '' ? scanner.tool : `${scanner.tool}:${given}`,
  } as Fields;
  const file = { path, bytes: size };
  const format = await findFormat('auto', file);
  const terms = await termsFor(call, fields);
  const { run, report: counted } = await runImport(
    call,
    { fields, file, format, terms, isOfWhole: covers === 'whole' },
    {
      action: 'vm.import',
      summary: ({ run: made }) => `imported what ${scanner.tool} found (run ${made.id})`,
      details: ({ report: { problems, ...counts } }) => ({ ...counts, problems: problems.length }),
    },
  );
  const { problems: _, ...counts } = counted;
  return { import_id: String(run.id), report: counts };
}
