// A test of the access to an API as a run on a target, under the same safety as scans: verified, in its window, within
// its bounds, budget and rate, one at a time, stopped within a second by its own button, by the switch, and by a change
// of the target. What it did not ask closes nothing.
import { ApiError } from '#http-kit';
import { json } from '../../database.js';
import { Budget } from '../../dast/http/pace.js';
import { ScanOver } from '../../dast/model.js';
import { heartbeatMs, keepRunning, planFor, requireNoOther, requirePlace } from '../../dast/run/run-scan.js';
import { apiTestKind } from '../../dast/run/store.js';
import { whyStopped } from '../../dast/targets/heed.js';
import { recipeOf } from '../../dast/targets/sessions.js';
import type { TargetRow } from '../../dast/targets/verify.js';
import { Attempt, type Step } from '../../exploit/attempt.js';
import { massAssignment } from '../../exploit/techniques/assignment.js';
import type { FindingRecord } from '../../imports/record.js';
import type { Acting } from '../../kit/endpoint.js';
import { finishRun, insertRun, leaseMs, type Run, type RunEnd } from '../../kit/runs.js';
import { keepAsFindings } from '../keep.js';
import { siteOfApplication } from '../operations.js';
import { judge, type CheckName, type Judged } from './judge.js';
import { planOf, type Planned } from './plan.js';
import { Cleared } from './cleared.js';
import { recordOf } from './record.js';

const requestsMax = 5000;
const secondsMax = 1800;
const stepsMax = 30;

export interface WantedTest {
  readonly target: TargetRow;
  readonly checks: readonly CheckName[];
  readonly isFirstPrivileged: boolean;
  readonly isCloseConfirmed: boolean;
}

/** Throws 409 for what the target, or its identities, do not allow. */
async function requireIdentities(call: Acting, { target, checks }: WantedTest) {
  if (checks.includes('members') && !target.exploit_writes)
    throw new ApiError(
      'conflict',
      'The check members changes what the target stores: allow it with exploit_writes of the target, or leave it out.',
    );
  const first = await recipeOf(call.host, target);
  const second = await recipeOf(call.host, target, 'second');
  if (first !== null && second !== null) return second;
  const more = first === null ? '' : ' with "identity": "second"';
  throw new ApiError(
    'conflict',
    `The matrix compares two users, and the ${first === null ? 'first' : 'second'} one is missing: ` +
      `PUT /targets/${target.id}/auth-profile${more}.`,
  );
}

export async function beginTest(call: Acting, wanted: WantedTest): Promise<Run> {
  const { target, checks } = wanted;
  requirePlace();
  const second = await requireIdentities(call, wanted);
  const stop = new AbortController();
  const draft = await planFor(call, target, 'api', '', stop.signal);
  const bounds = {
    ...draft.bounds,
    requestsMax: Math.min(requestsMax, draft.bounds.requestsMax),
    secondsMax: Math.min(secondsMax, draft.bounds.secondsMax),
  };
  const budget = new Budget(bounds);
  const run = await call.audited(
    'vm.create',
    (made: Run) => `began the test ${made.id} of the access to ${target.url}`,
    async (tx) => {
      await requireNoOther(tx, target);
      const input = {
        ...{ target_id: String(target.id), url: target.url, checks },
        first_is_privileged: wanted.isFirstPrivileged,
      };
      const { name: createdBy } = call.caller.actor;
      const { application_id: applicationId } = target;
      return insertRun(tx, { kind: apiTestKind, applicationId, input, createdBy, status: 'running' }, call.now);
    },
    () => ({ target_id: String(target.id), checks }),
  );
  const plan = { ...draft, bounds, budget, runId: `api-test-${run.id}` };
  const job = new TestJob(call, wanted, new Attempt({ plan, second, options: {}, near: '' }), run.id, stop);
  keepRunning(run.id, { targetId: target.id, budget, stop, done: job.work() });
  return run;
}

class TestJob {
  readonly #call: Acting;
  readonly #wanted: WantedTest;
  readonly #attempt: Attempt;
  readonly #id: number;
  readonly #stop: AbortController;
  readonly #records: FindingRecord[] = [];
  readonly #cleared = new Cleared();
  readonly #counts: Record<Judged['verdict'] | 'not_tried', number> = { holds: 0, broken: 0, unknown: 0, not_tried: 0 };
  #total = 0;
  #done = 0;
  #beatAt = performance.now();

  constructor(call: Acting, wanted: WantedTest, attempt: Attempt, id: number, stop: AbortController) {
    [this.#call, this.#wanted, this.#attempt, this.#id, this.#stop] = [call, wanted, attempt, id, stop];
  }

  get #now(): Date {
    return new Date(this.#call.host.now());
  }

  async work(): Promise<void> {
    const { sql } = this.#call;
    let beating: Promise<void> = Promise.resolve();
    const miss = (): void => {
      if (performance.now() - this.#beatAt > leaseMs) this.#stop.abort('The database does not answer any more.');
    };
    const timer = setInterval(() => (beating = beating.then(async () => this.#beat()).catch(miss)), heartbeatMs);
    timer.unref();
    try {
      const over = await this.#try();
      clearInterval(timer);
      await beating;
      const kept = await this.#keep(over === null);
      const status = over === null ? 'succeeded' : endOf(over);
      const error = over === null ? null : this.#attempt.vault.text(over.message);
      await finishRun(sql, this.#id, { status, error, result: { ...this.#figures(), ...kept } }, this.#now);
    } catch (error) {
      const why = this.#attempt.vault.text(error instanceof Error ? error.message : String(error));
      const end: RunEnd = { status: 'failed', error: why.slice(0, 2000), result: this.#figures() };
      // where the database is away the lease ends, and with it the run
      await finishRun(sql, this.#id, end, this.#now).catch(() => undefined);
    } finally {
      clearInterval(timer);
    }
  }

  #figures() {
    const { requests, failed, refused, slowed } = this.#attempt.client.counts;
    const asked = { requests, failed_requests: failed, refused, slowed };
    return { ...asked, operations: this.#total, operations_done: this.#done, ...this.#counts };
  }

  async #beat(): Promise<void> {
    const { sql } = this.#call;
    const progress = this.#total === 0 ? 5 : Math.min(99, 10 + Math.round((89 * this.#done) / this.#total));
    const [row] = await sql<{ cancel_asked: boolean }[]>`
      update vm_runs set lease_until = ${new Date(this.#now.getTime() + leaseMs)}, progress = ${progress},
        result = ${json(sql, this.#figures())}
      where id = ${this.#id} and status = 'running' returning cancel_asked`;
    this.#beatAt = performance.now();
    const isOver = row === undefined || row.cancel_asked;
    const why = isOver ? 'The test was stopped.' : await whyStopped(sql, this.#wanted.target);
    if (why !== null) this.#stop.abort(why);
  }

  async #site(): Promise<string> {
    return siteOfApplication(this.#call.sql, this.#call.reach, this.#wanted.target.application_id);
  }

  async #try(): Promise<ScanOver | null> {
    const attempt = this.#attempt;
    const { checks, isFirstPrivileged } = this.#wanted;
    try {
      await attempt.logIn();
      const planned = await planOf(this.#call.host.apis, await this.#site(), attempt);
      this.#total = planned.length;
      const wants = new Set(checks);
      for (const one of planned) {
        attempt.begin();
        await this.#write(one, await this.#judged(one, { wants, isFirstPrivileged }));
        this.#done++;
      }
      if (wants.has('members')) await this.#members();
      return null;
    } catch (error) {
      attempt.settle(false);
      if (error instanceof ScanOver) return error;
      throw error;
    }
  }

  async #judged(one: Planned, terms: Parameters<typeof judge>[2]): Promise<Judged | null> {
    const { url } = one;
    return one.why !== '' || url === null ? null : judge(this.#attempt, { ...one, url }, terms);
  }

  /** Members of stored objects; what was changed is set back at once. */
  async #members(): Promise<void> {
    for (const place of await massAssignment.find(this.#attempt)) {
      this.#attempt.begin();
      const proven = await massAssignment.prove(this.#attempt, place);
      const at = {
        method: place.method,
        template: new URL(place.url.replaceAll(/[{}]/g, '')).pathname,
        url: place.url,
      };
      const verdict = proven !== null ? 'broken' : this.#attempt.unanswered > 0 ? 'unknown' : 'holds';
      const why = proven?.summary ?? `the member ${place.name} is not kept`;
      const planned = { ...at, needsCredentials: null, why: '' };
      const cleared = verdict === 'holds' ? (['members'] as const) : [];
      await this.#write(planned, { check: 'members', verdict, why, cells: [], cleared }, place.name);
    }
  }

  async #write(planned: Planned, judged: Judged | null, param?: string): Promise<void> {
    const { sql } = this.#call;
    const { vault } = this.#attempt;
    this.#attempt.settle(true);
    const steps: Step[] = this.#attempt.steps.splice(0).slice(-stepsMax);
    const verdict = judged?.verdict ?? 'not_tried';
    this.#counts[verdict]++;
    const { method } = planned;
    const [template, url] = [vault.text(planned.template), vault.text(planned.url ?? '').slice(0, 1500)];
    const why = vault.text(judged?.why ?? planned.why);
    const shown = verdict === 'broken' ? steps : steps.slice(0, 3);
    await sql`
      insert into vm_api_test_rows (run_id, method, template, url, check_id, verdict, why, cells, steps)
      values (${this.#id}, ${method}, ${template.slice(0, 1500)}, ${url}, ${judged?.check ?? 'authentication'},
        ${verdict}, ${why.slice(0, 2000)}, ${json(sql, judged?.cells ?? [])}, ${json(sql, shown)})`;
    this.#cleared.note(planned, judged);
    if (judged?.verdict === 'broken') this.#records.push(recordOf({ method, url, why, steps, judged, param }));
  }

  /** What would close more than may be closed without a question closes nothing; what is new is kept all the same. */
  async #keep(isWhole: boolean) {
    if (this.#records.length === 0 && !isWhole) return {};
    const { target, isCloseConfirmed } = this.#wanted;
    const keep = async (mayClose: boolean) =>
      keepAsFindings(
        { ...this.#call, now: this.#now },
        {
          ...{ applicationId: target.application_id, tool: 'gatehouse-api-test', label: 'Tests of the access to APIs' },
          ...{ scopeKey: `target:${target.id}`, records: this.#records, isWhole: mayClose, isCloseConfirmed },
          covers: (rule, url) => this.#cleared.covers(rule, url),
          summary: `imported what the test ${this.#id} of the access to ${target.url} found`,
        },
      );
    try {
      return await keep(isWhole);
    } catch (error) {
      if (!(error instanceof ApiError) || error.extras.extensions?.['needs_confirm_close'] !== true) throw error;
      return { ...(await keep(false)), needs_confirm_close: true };
    }
  }
}

const endOf = ({ reason }: ScanOver): RunEnd['status'] =>
  reason === 'stopped' ? 'canceled' : reason === 'unreachable' ? 'failed' : 'timed_out';
