// Requests and events lie in one partition per UTC day: a day is removed by dropping its table, which costs nothing,
// while deleting a day's rows would cost as much as having written them.
import type { Database, Queryable } from '../db/client.js';
import { pruneCounts } from './facets/rollup.js';

const recordTables = ['request_records', 'security_events'] as const;
export type RecordTable = (typeof recordTables)[number];

const dayMs = 86_400_000;
/**
 * Records from further away than this are taken as of the nearest such day: a wrong clock must not make a thousand
 * tables.
 */
export const skewDaysMax = 2;

export function toDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

const nameOf = (table: RecordTable, day: string): string => `${table}_${day.replaceAll('-', '')}`;

/** Creates the day's partition when it is not there. Safe when several servers do it at once. */
export async function ensurePartition(sql: Queryable, table: RecordTable, day: string): Promise<void> {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`not a day: ${day}`);
  const next = toDay(new Date(Date.parse(`${day}T00:00:00Z`) + dayMs));
  try {
    await sql.unsafe(
      `create table if not exists ${nameOf(table, day)} partition of ${table} ` +
        `for values from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`,
    );
  } catch (error) {
    // another server was faster: 42P07 table exists, 23505 its catalogue row, 42P17 it overlaps itself
    if (!['42P07', '23505', '42P17'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

interface DayTable {
  readonly name: string;
  readonly day: string;
}

async function dayTables(sql: Queryable, table: RecordTable): Promise<DayTable[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent where p.relname = ${table}`;
  return rows.flatMap(({ name }) => {
    const digits = /_(\d{8})$/.exec(name)?.[1];
    return digits === undefined
      ? []
      : [{ name, day: `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}` }];
  });
}

/**
 * Drops the partitions of days that ended before `before`, and makes those of today and tomorrow. Returns how many days
 * went.
 */
export async function pruneRecords(database: Database, before: Date, now: Date): Promise<number> {
  const { sql } = database;
  const gone = new Set<string>();
  for (const table of recordTables) {
    for (const { name, day } of await dayTables(sql, table)) {
      if (Date.parse(`${day}T00:00:00Z`) + dayMs > before.getTime()) continue;
      await sql.unsafe(`drop table if exists ${name}`);
      gone.add(day);
    }
    for (const offset of [0, 1]) await ensurePartition(sql, table, toDay(new Date(now.getTime() + offset * dayMs)));
  }
  return gone.size;
}

/** The oldest day before that of `now`, of requests and events; false: there is none. */
export async function dropOldestDay({ sql }: Database, now: Date): Promise<boolean> {
  const tables = (await Promise.all(recordTables.map((table) => dayTables(sql, table)))).flat();
  const oldest = tables
    .map(({ day }) => day)
    .filter((day) => day < toDay(now))
    .sort()[0];
  if (oldest === undefined) return false;
  for (const { name, day } of tables) if (day === oldest) await sql.unsafe(`drop table if exists ${name}`);
  await pruneCounts(sql, new Date(Date.parse(`${oldest}T00:00:00Z`) + dayMs));
  return true;
}

/** Of the days from that of `now` on: the clocks of nodes differ. */
export async function emptyToday({ sql }: Database, table: RecordTable, now: Date): Promise<void> {
  for (const { name, day } of await dayTables(sql, table)) if (day >= toDay(now)) await sql.unsafe(`truncate ${name}`);
}
