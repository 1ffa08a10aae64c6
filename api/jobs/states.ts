// The rows of `job_state`: when each job ran, what came of it, and whether it runs past its time limit.
import type { Sql } from '../db/client.js';

/** A job past its time limit that does not end. */
export interface HangingJob {
  readonly name: string;
  readonly running_since: Date;
}

export class JobStates {
  constructor(
    private readonly sql: Sql,
    private readonly now: () => number,
  ) {}

  /** Milliseconds since 1970 of the last start, by name. */
  async lastStarts(): Promise<Map<string, number>> {
    const rows = await this.sql<{ name: string; at: Date }[]>`
      select name, last_started_at as at from job_state where last_started_at is not null`;
    return new Map(rows.map(({ name, at }) => [name, at.getTime()]));
  }

  /** What ran on the leader before does not run any more, except what this process still has. */
  async forgetRunning(except: readonly string[]): Promise<void> {
    await this.sql`
      update job_state set running_since = null, timed_out_at = null
      where running_since is not null
        and name not in (select value from jsonb_array_elements_text(${this.sql.json([...except])}::jsonb))`;
  }

  async begin(names: readonly string[], at: Date): Promise<void> {
    if (names.length === 0) return;
    await this.sql`
      insert into job_state (name, runs, last_started_at, running_since)
      select value, 1, ${at}, ${at} from jsonb_array_elements_text(${this.sql.json([...names])}::jsonb)
      on conflict (name) do update set runs = job_state.runs + 1, last_started_at = excluded.last_started_at,
        running_since = excluded.running_since, timed_out_at = null`;
  }

  async succeeded(name: string, result: string): Promise<void> {
    await this.sql`
      update job_state set last_ended_at = ${new Date(this.now())}, running_since = null, last_error = null,
        last_result = ${result.slice(0, 500)} where name = ${name}`;
  }

  /** `isOver`: false where the time limit has passed and the work goes on. */
  async failed(name: string, reason: string, isOver: boolean): Promise<void> {
    const at = new Date(this.now());
    await this.sql`
      update job_state set failures = failures + 1, last_ended_at = ${at}, last_error = ${reason.slice(0, 500)},
        running_since = case when ${isOver} then null else running_since end,
        timed_out_at = case when ${isOver} then null else ${at}::timestamptz end
      where name = ${name}`;
  }

  async endedLate(name: string): Promise<void> {
    await this.sql`
      update job_state set running_since = null, timed_out_at = null, last_ended_at = ${new Date(this.now())}
      where name = ${name}`;
  }
}

export const hangingJobs = (sql: Sql): Promise<HangingJob[]> =>
  sql<HangingJob[]>`
    select name, running_since from job_state where timed_out_at is not null and running_since is not null
    order by name`;
