// What a section of a pack is, and the helpers that all of them share: rows as JSON Lines within bounds.
import type { Fragment, Sql } from '../../database.js';
import type { FirewallAnswers, Host } from '../../host.js';
import type { VmPermission } from '../../kit/permissions.js';
import type { Framework } from '../../compliance/catalogue.js';
import type { TopicName } from '../../compliance/topics.js';

export interface Period {
  readonly from: Date;
  readonly to: Date;
}

export interface Collecting {
  readonly host: Host;
  readonly sql: Sql;
  readonly now: Date;
  readonly period: Period;
  /** null: the whole organisation. */
  readonly application: string | null;
  readonly frameworks: readonly Framework[];
  readonly answers: FirewallAnswers | null;
}

/** A file before it is in a pack. */
export interface Collected {
  readonly name: string;
  readonly content: Buffer;
  readonly rows: number | null;
  readonly isCut: boolean;
}

export interface Section {
  readonly title: string;
  readonly about: string;
  /** The part of the program that it comes from. */
  readonly source: string;
  /** What else the one who builds needs to have. */
  readonly needs: readonly VmPermission[];
  /** Controls about these are what it is evidence for. */
  readonly topics: readonly TopicName[];
  readonly collect: (of: Collecting) => Promise<readonly Collected[]>;
}

export const rowsMax = 50_000;
const bytesMax = 48 * 1024 * 1024;
const pageRows = 1000;

export const asJson = (name: string, value: unknown): Collected => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 1)}\n`),
  rows: null,
  isCut: false,
});

/** Rows as JSON Lines, up to the bounds of a pack; `name` without its ending. */
export async function asLines(name: string, rows: AsyncIterable<unknown> | Iterable<unknown>): Promise<Collected> {
  const lines: string[] = [];
  let [bytes, isCut] = [0, false];
  for await (const row of rows) {
    const line = `${typeof row === 'string' ? row : JSON.stringify(row)}\n`;
    bytes += line.length;
    if (lines.length >= rowsMax || bytes > bytesMax) {
      isCut = true;
      break;
    }
    lines.push(line);
  }
  return { name: `${name}.jsonl`, content: Buffer.from(lines.join('')), rows: lines.length, isCut };
}

/** Rows of a statement in the order of their ids, in pages: `select` is given what a page has to begin after. */
export async function* rowsById<T extends { readonly id: number }>(
  sql: Sql,
  select: (after: Fragment, limit: Fragment) => PromiseLike<readonly T[]>,
  idColumn = 'id',
): AsyncGenerator<T> {
  for (let last = 0; ; ) {
    const rows = await select(sql`${sql(idColumn)} > ${last}`, sql`order by ${sql(idColumn)} limit ${pageRows}`);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < pageRows) return;
    last = end.id;
  }
}
