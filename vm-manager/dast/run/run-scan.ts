// A scan as a run of the hub. It lives in this process, under a lease: a process that ends leaves a run that failed,
// with what it covered so far, and nothing is closed by it. Only a scan that came to its end closes findings, and only
// where the same check looked at the same place again.
import { ApiError } from '#http-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type Tx } from '../../database.js';
import type { Format } from '../../imports/formats/format.js';
import { siteOf } from '../../imports/run/looked-at.js';
import { runImport, termsFor } from '../../imports/run/run-import.js';
import type { Acting } from '../../kit/endpoint.js';
import { finishRun, insertRun, leaseMs, type Run, type RunEnd } from '../../kit/runs.js';
import { findChromium } from '../browser/process.js';
import { isInWindow, type Bounds } from '../http/bounds.js';
import { Budget, rateOf } from '../http/pace.js';
import type { Found, Profile, ScanMethod, ScanOver } from '../model.js';
import { recipeOf } from '../targets/sessions.js';
import { whyStopped } from '../targets/heed.js';
import { isVerified, verifiedDays, wafEntryOf, type TargetRow } from '../targets/verify.js';
import { tryBehindWaf, type Tried } from './behind-waf.js';
import { createCallbacks, type CallbackList } from './callbacks.js';
import { recordOf } from './evidence.js';
import type { ChosenProfile, OwnProfile } from './profiles.js';
import { ScanLog } from './scan-log.js';
import { Scanner, type BrowserChoice, type ScanPlan } from './scanner.js';
import { apiTestKind, insertFound, kindsOfTargets, linkFindings, markBehindWaf } from './store.js';
import { readSwitch, scanKind } from './store.js';
import type { BehindWaf } from './store.js';

export const heartbeatMs = 500;
const atOnceMax = 4;
export interface Running {
  readonly targetId: number;
  readonly budget: Budget;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}
const running = new Map<number, Running>();
/** Findings that are being proved again. */
const proving = new Set<AbortController>();

/** Of this process; the token is known to the target that was asked alone. */
export const callbackList: CallbackList = createCallbacks(() => '');

export function boundsOf(target: TargetRow): Bounds {
  return {
    origins: [new URL(target.url).origin],
    scopePaths: target.scope_paths,
    excludedPaths: target.excluded_paths,
    methods: target.scan_methods as readonly ScanMethod[],
    requestsMax: target.requests_max,
    perSecond: target.requests_per_second,
    secondsMax: target.seconds_max,
    windows: target.scan_windows,
  };
}

/** Throws ApiError where the target may not be scanned now. */
export async function planFor(call: Acting, target: TargetRow, profile: Profile, runId: string, signal: AbortSignal) {
  const { host, sql, now } = call;
  const { wayOut } = host;
  if (wayOut === undefined)
    throw new ApiError('not_ready', 'This server sends nothing to other systems, so that no target can be scanned.');
  const halt = await readSwitch(sql);
  if (halt.halted) throw new ApiError('conflict', `Scans are stopped by ${halt.changed_by}: ${halt.reason}.`);
  if (!isVerified(target, now))
    throw new ApiError(
      'conflict',
      `The target is not verified, or was more than ${verifiedDays} days ago: POST /targets/${target.id}/verify.`,
    );
  if (!isInWindow(target.scan_windows, now))
    throw new ApiError('conflict', 'The target may not be scanned at this time: see its scan_windows.');
  await wayOut.check(target.url);
  const seen = (await host.seenEndpoints?.(new URL(target.url).hostname)) ?? [];
  const base = target.callback_url?.replace(/\/+$/, '');
  const plan: ScanPlan = {
    runId,
    base: target.url,
    bounds: boundsOf(target),
    profile,
    recipe: await recipeOf(host, target),
    seen,
    callbacks:
      base === undefined
        ? null
        : {
            issue: () => {
              const made = callbackList.issue();
              return { ...made, url: `${base}/api/v1/scan-callbacks/${made.token}` };
            },
          },
    way: wayOut,
    signal,
    now: host.now,
    rate: rateOf(new URL(target.url).origin),
    budget: new Budget(boundsOf(target)),
    browser: browserOf(call),
  };
  return plan;
}

/** Throws 409 where something runs on the target: two runs would together be above its rate. Locks the target. */
export async function requireNoOther(tx: Tx, target: TargetRow): Promise<void> {
  await tx`select 1 from vm_targets where id = ${target.id} for update`;
  const changed = await whyStopped(tx, target);
  if (changed !== null) throw new ApiError('conflict', `${changed} Begin again.`);
  const [other] = await tx<{ id: number; kind: string }[]>`
    select id, kind from vm_runs where kind in ${tx(kindsOfTargets)} and status in ('queued', 'running')
      and input ->> 'target_id' = ${String(target.id)} limit 1`;
  if (other === undefined) return;
  const what = other.kind === scanKind ? 'scan' : other.kind === apiTestKind ? 'test of APIs' : 'exploit run';
  throw new ApiError('conflict', `The ${what} ${other.id} of this target is running.`);
}

/** The plan with the checks and the limits of a profile of the organisation, which are never wider. */
function within(plan: ScanPlan, own: OwnProfile | null): ScanPlan {
  if (own === null) return plan;
  const bounds = {
    ...plan.bounds,
    requestsMax: Math.min(plan.bounds.requestsMax, own.requests_max ?? Infinity),
    secondsMax: Math.min(plan.bounds.secondsMax, own.seconds_max ?? Infinity),
  };
  return { ...plan, bounds, budget: new Budget(bounds), only: new Set(own.checks) };
}

/** The browser of this installation. */
export function browserOf({ host }: Pick<Acting, 'host'>, isWanted = true): BrowserChoice {
  if (!isWanted) return { program: null, why: 'The scan was begun without one.' };
  if (host.chromium === 'none')
    return { program: null, why: 'This installation uses none: the variable CHROMIUM of the control plane says none.' };
  const program = findChromium(host.chromium ?? null);
  const why =
    host.chromium == null || host.chromium === ''
      ? 'No Chromium was found on the path of the control plane (its variable CHROMIUM names one).'
      : `The variable CHROMIUM of the control plane says ${host.chromium.slice(0, 200)}, which is no program.`;
  return { program, why };
}

/** Throws 429 where this process has enough to do. */
export function requirePlace(): void {
  if (running.size >= atOnceMax)
    throw new ApiError('busy', `${atOnceMax} scans are running; try again when one of them is done.`);
}

/** Work on a target that is stopped as scans are: one by one, and all at once. */
export function keepRunning(runId: number, work: Running): void {
  running.set(runId, { ...work, done: work.done.finally(() => running.delete(runId)) });
}

export async function beginScan(call: Acting, target: TargetRow, chosen: ChosenProfile): Promise<Run> {
  requirePlace();
  const stop = new AbortController();
  const { name: profile, own } = chosen;
  const planned = await planFor(call, target, chosen.profile, '', stop.signal);
  const draft = { ...within(planned, own), browser: browserOf(call, chosen.browser) };
  const run = await call.audited(
    'vm.create',
    (made: Run) => `began the scan ${made.id} (${profile}) of ${target.url}`,
    async (tx) => {
      await requireNoOther(tx, target);
      const entry = wafEntryOf(target, call.now);
      const notes = entry === null || entry.why === '' ? [] : [entry.why];
      const input = {
        target_id: String(target.id),
        url: target.url,
        profile,
        waf_url: entry?.url ?? null,
        notes,
        browser: chosen.browser,
      };
      const { name: createdBy } = call.caller.actor;
      const { application_id: applicationId } = target;
      return insertRun(tx, { kind: scanKind, applicationId, input, createdBy, status: 'running' }, call.now);
    },
  );
  const job = new ScanJob(call, target, { ...draft, runId: `scan-${run.id}` }, run.id, stop);
  keepRunning(run.id, { targetId: target.id, budget: draft.budget, stop, done: job.work() });
  return run;
}

/** Stops it at once where it runs in this process; another process sees the row within its next beat. */
export function stopHere(runId: number | 'all'): void {
  for (const [id, { stop }] of running) if (runId === 'all' || runId === id) stop.abort('The scan was stopped.');
  if (runId === 'all') for (const stop of proving) stop.abort('All scans were stopped.');
}

/** Does some work on a target beside scans: it ends when all scans are stopped, and when the target is changed. */
export async function besideScans<T>(
  { sql }: Pick<Acting, 'sql'>,
  target: TargetRow,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const look = async (): Promise<void> => {
    const why = await whyStopped(sql, target);
    if (why !== null) stop.abort(why);
  };
  // a switch that cannot be read may have been pressed
  const end = (): void => stop.abort('The database does not answer, so that the switch for all scans is not known.');
  const timer = setInterval(() => void look().catch(end), heartbeatMs);
  timer.unref();
  proving.add(stop);
  try {
    return await work(stop.signal);
  } finally {
    proving.delete(stop);
    clearInterval(timer);
  }
}

/**
 * What is left of the scan of this target that goes on, null where none does. Throws `conflict` for one in another
 * process, whose rate cannot be shared.
 */
export async function budgetOfRunning({ sql }: Pick<Acting, 'sql'>, target: TargetRow): Promise<Budget | null> {
  for (const { targetId, budget } of running.values()) if (targetId === target.id) return budget;
  const [other] = await sql<{ id: number }[]>`
    select id from vm_runs where kind in ${sql(kindsOfTargets)} and status in ('queued', 'running')
      and input ->> 'target_id' = ${String(target.id)} limit 1`;
  if (other === undefined) return null;
  throw new ApiError('conflict', `The run ${other.id} runs in another process: prove it again when that has ended.`);
}

/** For tests, and for a server that ends. */
export const whenScansEnd = async (): Promise<void> =>
  void (await Promise.all([...running.values()].map(({ done }) => done)));

class ScanJob {
  readonly #call: Acting;
  readonly #target: TargetRow;
  readonly #plan: ScanPlan;
  readonly #id: number;
  readonly #stop: AbortController;
  readonly #scanner: Scanner;
  readonly #rows = new Map<Found, number>();
  readonly #unwritten: Found[] = [];
  readonly #log: ScanLog;
  #isLost = false;
  #beatAt = performance.now();

  constructor(call: Acting, target: TargetRow, plan: ScanPlan, id: number, stop: AbortController) {
    [this.#call, this.#target, this.#plan, this.#id, this.#stop] = [call, target, plan, id, stop];
    this.#scanner = new Scanner(plan, (found) => this.#unwritten.push(found));
    this.#log = new ScanLog(this.#scanner.coverage);
  }

  get #now(): Date {
    return new Date(this.#call.host.now());
  }

  async work(): Promise<void> {
    const { sql } = this.#call;
    let beating: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      beating = beating.then(async () => this.#beat()).catch((error: unknown) => this.#missBeat(error));
    }, heartbeatMs);
    timer.unref();
    try {
      const scanned = await this.#scanner.scan();
      const { verdicts, over } = await this.#behind(scanned.over);
      clearInterval(timer);
      await beating;
      await this.#write();
      if (this.#isLost) return;
      if (over === null) this.#scanner.coverage.phase = 'done';
      const imported = await this.#import(over === null, verdicts);
      this.#log.tell(over === null ? 'the scan came to its end' : `the scan ended early: ${over.message}`);
      const result = { ...this.#scanner.coverage.toJson(), complete: over === null, ...imported };
      const status =
        over === null
          ? 'succeeded'
          : over.reason === 'stopped'
            ? 'canceled'
            : over.reason === 'unreachable'
              ? 'failed'
              : 'timed_out';
      const end: RunEnd = { status, result, error: over?.message ?? null };
      await this.#log.write(sql, this.#id, this.#now);
      await finishRun(sql, this.#id, end, this.#now);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const result = { ...this.#scanner.coverage.toJson(), complete: false };
      const end: RunEnd = { status: 'failed', error: why.slice(0, 2000), result };
      // where the database is away the lease ends, and with it the run, as failed (endLostRuns)
      await finishRun(sql, this.#id, end, this.#now).catch(() => undefined);
    } finally {
      clearInterval(timer);
    }
  }

  /** The next beat tries again, until the lease is over: then another process may begin a scan of this target. */
  #missBeat(error: unknown): void {
    const { notes } = this.#scanner.coverage;
    const why = error instanceof Error ? error.message : String(error);
    const note = `The database did not answer for a while: ${why.slice(0, 300)}`;
    if (!notes.includes(note) && notes.length < 20) notes.push(note);
    if (performance.now() - this.#beatAt > leaseMs) this.#stop.abort('The database does not answer any more.');
  }

  /** Reports how far it is, and asks whether it is to stop. */
  async #beat(): Promise<void> {
    const { sql } = this.#call;
    await this.#write();
    const { coverage } = this.#scanner;
    const [row] = await sql<{ cancel_asked: boolean; halted: boolean }[]>`
      update vm_runs set lease_until = ${new Date(this.#now.getTime() + leaseMs)}, progress = ${coverage.percent},
        result = ${json(sql, { ...coverage.toJson(), complete: false })}
      where id = ${this.#id} and status = 'running'
      returning cancel_asked`;
    this.#beatAt = performance.now();
    if (row === undefined) this.#isLost = true;
    const why = row === undefined || row.cancel_asked ? 'The scan was stopped.' : await whyStopped(sql, this.#target);
    if (why !== null) this.#stop.abort(why);
  }

  async #write(): Promise<void> {
    for (let found = this.#unwritten[0]; found !== undefined; found = this.#unwritten[0]) {
      this.#rows.set(found, await insertFound(this.#call.sql, this.#id, found, this.#now));
      this.#unwritten.shift();
      this.#log.found(found);
    }
    await this.#log.write(this.#call.sql, this.#id, this.#now);
  }

  /** Each finding again through the firewall; that it was stopped there ends the scan as stopped, too. */
  async #behind(before: ScanOver | null): Promise<Tried> {
    const { coverage, found: all } = this.#scanner;
    const entry = wafEntryOf(this.#target, this.#now);
    if (entry !== null && entry.why !== '') coverage.notes.push(entry.why);
    if (entry?.url == null || before !== null) return { verdicts: new Map(), over: before };
    coverage.phase = 'firewall';
    const { verdicts, over } = await tryBehindWaf(this.#plan, entry.url, all);
    if (over !== null) coverage.notes.push(`Not all findings were tried behind the firewall: ${over.message}`);
    await this.#write();
    for (const [found, verdict] of verdicts) {
      const id = this.#rows.get(found);
      if (id !== undefined) await this.#call.sql`update vm_scan_findings set behind_waf = ${verdict} where id = ${id}`;
    }
    return { verdicts, over: over?.reason === 'stopped' ? over : null };
  }

  /** Through the importer of every report; what the scan did not cover proves nothing. */
  async #import(isWhole: boolean, verdicts: ReadonlyMap<Found, BehindWaf>) {
    const { coverage, found } = this.#scanner;
    const call = { ...this.#call, now: this.#now };
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-scan-'));
    try {
      const path = join(directory, 'report');
      await writeFile(path, '{}', { mode: 0o600 });
      const origin = new URL(this.#target.url);
      const format: Format = {
        name: 'gatehouse-dast',
        label: 'Scans of running applications',
        detection: '',
        detect: () => false,
        async *read(_, facts) {
          facts.tool = 'gatehouse-dast';
          facts.complete = isWhole;
          facts.looked = {
            by: 'site',
            names: new Set([siteOf(origin.href) ?? '']),
            covers: ({ rule_id: rule, url }) => url !== null && coverage.covers(rule, url),
          };
          yield found.map((one) => recordOf(one, verdicts.get(one) ?? 'not_tried'));
        },
      };
      const fields = {
        application_id: String(this.#target.application_id),
        mode: isWhole ? ('sync' as const) : ('add' as const),
        scope_key: `target:${this.#target.id}`,
      };
      const { run, report } = await runImport(
        call,
        { fields, file: { path, bytes: 2 }, format, terms: await termsFor(call, fields) },
        {
          action: 'vm.import',
          summary: ({ run: made }) => `imported what the scan ${this.#id} found (run ${made.id})`,
          details: ({ report: { problems, ...counts } }) => ({ ...counts, problems: problems.length }),
        },
      );
      await linkFindings(call.sql, this.#id, run.id);
      await markBehindWaf(call.sql, this.#id, this.#now);
      const { problems: _, ...counts } = report;
      return { import_id: String(run.id), report: counts };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}
