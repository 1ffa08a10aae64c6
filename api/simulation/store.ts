// The tables of simulations and self-tests.
import { ApiError } from '../http-kit/index.js';
import type { Queryable, Sql } from '../db/client.js';
import type { Lost, Report, SeenAttack } from './report.js';
import type { WaveType } from './waves.js';

/** What a caller may ask for; bounds stand in the routes. */
export interface Wanted {
  readonly type: WaveType;
  readonly site: string;
  readonly requests: number;
  readonly seconds: number;
  readonly rate: number;
}

export type SimulationStatus = 'running' | 'ended' | 'stopped' | 'failed';
export interface SimulationRow {
  readonly id: number;
  readonly type: WaveType;
  readonly site: string;
  readonly started_by: string;
  readonly self_test: number | null;
  readonly status: SimulationStatus;
  readonly wanted: Wanted;
  readonly sent: number;
  readonly stop_requested: boolean;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly error: string | null;
  readonly report: Report | null;
}

/** A server that did not say for so long that it still sends is gone. */
const silentMsMax = 60_000;
const keptMax = 1000;

/** Throws ApiError `conflict` while another one runs. */
export async function beginSimulation(
  sql: Sql,
  wanted: Wanted,
  by: { readonly name: string; readonly selfTest: number | null },
  now: Date,
  inSameTransaction: (tx: Queryable, id: number) => Promise<void>,
): Promise<SimulationRow> {
  return sql.begin(async (tx) => {
    await tx`
      update simulations set status = 'failed', ended_at = ${now}, error = 'the server that sent it is gone'
      where status = 'running' and seen_at < ${new Date(now.getTime() - silentMsMax)}`;
    const [row] = await tx<SimulationRow[]>`
      insert into simulations (type, site, started_by, self_test, status, wanted, started_at, seen_at)
      values (${wanted.type}, ${wanted.site}, ${by.name}, ${by.selfTest}, 'running',
        ${JSON.stringify(wanted)}::text::jsonb, ${now}, ${now})
      on conflict ((status)) where status = 'running' do nothing returning *`;
    if (row === undefined)
      throw new ApiError('conflict', 'Another simulation runs: wait for its end, or stop it (GET /api/ai/simulate).');
    await inSameTransaction(tx, row.id);
    await tx`delete from simulations where status <> 'running' and id < ${row.id - keptMax}`;
    return row;
  });
}

/** Says that it still goes on; true when somebody wants it stopped. */
export async function noteProgress(sql: Sql, id: number, sent: number, now: Date): Promise<boolean> {
  const [row] = await sql<{ stop_requested: boolean }[]>`
    update simulations set sent = ${sent}, seen_at = ${now} where id = ${id} returning stop_requested`;
  return row?.stop_requested ?? true;
}

export async function endSimulation(
  sql: Sql,
  id: number,
  end: {
    readonly status: SimulationStatus;
    readonly sent: number;
    readonly report: Report | null;
    readonly error: string | null;
  },
  now: Date,
): Promise<void> {
  const report = end.report === null ? null : JSON.stringify(end.report);
  await sql`
    update simulations set status = ${end.status}, sent = ${end.sent}, report = ${report}::text::jsonb,
      error = ${end.error}, ended_at = ${now} where id = ${id}`;
}

/** False where it runs no more. */
export const requestStop = async (sql: Queryable, id: number): Promise<boolean> =>
  (await sql`update simulations set stop_requested = true where id = ${id} and status = 'running'`).count > 0;

export async function findSimulation(sql: Queryable, id: number): Promise<SimulationRow | null> {
  const [row] = await sql<SimulationRow[]>`select * from simulations where id = ${id}`;
  return row ?? null;
}

/** Newest first, those before `before`. */
export const listSimulations = (sql: Queryable, before: number, limit: number): Promise<SimulationRow[]> =>
  sql<SimulationRow[]>`select * from simulations where id < ${before} order by id desc limit ${limit}`;

export interface SelfTestRow {
  readonly id: number;
  readonly site: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly seen: readonly SeenAttack[] | null;
  readonly lost: readonly Lost[] | null;
  readonly error: string | null;
}

export async function beginSelfTest(sql: Queryable, site: string, now: Date): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into self_tests (site, started_at) values (${site}, ${now}) returning id`;
  if (row === undefined) throw new Error('the self-test was not stored');
  return row.id;
}

/** The last one of that site, also one that was begun and did not come to its end. */
export async function lastTried(sql: Queryable, site: string): Promise<SelfTestRow | null> {
  const [row] = await sql<SelfTestRow[]>`select * from self_tests where site = ${site} order by id desc limit 1`;
  return row ?? null;
}

/** The last one of that site that came to its end. */
export async function lastSelfTest(sql: Queryable, site: string): Promise<SelfTestRow | null> {
  const [row] = await sql<SelfTestRow[]>`
    select * from self_tests where site = ${site} and seen is not null order by id desc limit 1`;
  return row ?? null;
}

export async function endSelfTest(
  sql: Queryable,
  id: number,
  end: Pick<SelfTestRow, 'seen' | 'lost' | 'error'>,
  now: Date,
): Promise<void> {
  await sql`
    update self_tests set ended_at = ${now}, error = ${end.error},
      seen = ${end.seen === null ? null : JSON.stringify(end.seen)}::text::jsonb,
      lost = ${end.lost === null ? null : JSON.stringify(end.lost)}::text::jsonb where id = ${id}`;
}

export const listSelfTests = (sql: Queryable, before: number, limit: number): Promise<SelfTestRow[]> =>
  sql<SelfTestRow[]>`select * from self_tests where id < ${before} order by id desc limit ${limit}`;

/** Simulations that ended since a time while the detection engine scored: how many clients, and its verdicts. */
export async function simulatedOf(
  sql: Queryable,
  since: Date,
): Promise<{ readonly type: string; readonly clients: number; readonly verdicts: readonly unknown[] }[]> {
  const rows = await sql<{ type: string; clients: number; verdicts: readonly unknown[] }[]>`
    select type, (report ->> 'scored_clients')::integer as clients, report -> 'verdicts' as verdicts from simulations
    where status in ('ended', 'stopped') and ended_at >= ${since} and (report ->> 'scored_clients')::integer > 0
    order by id desc limit ${keptMax}`;
  return rows.map(({ type, clients, verdicts }) => ({
    type,
    clients,
    verdicts: Array.isArray(verdicts) ? verdicts : [],
  }));
}
