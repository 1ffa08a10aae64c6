// Since when chains stand, and when they went. A job compares the chains of every trust group that has changed since
// its last run with the open rows of vm_chain_history, some hundred applications in a transaction. Kill chains and
// toxic combinations are written all; of the pairs of a project, whose number grows with its square, those that were
// once among its best: such a row stays open as long as its pair stands, listed or not.
import type { Member, GroupChains } from '../chains/group.js';
import type { GroupMembers } from '../chains/engine.js';
import type { Chain } from '../chains/chain.js';
import { startOf } from '../chains/chain.js';
import { chainId, chainName } from '../chains/present.js';
import { json, type Queryable, type Sql, type Tx } from '../database.js';
import { emit } from '../kit/events.js';
import { currentChains, type ChainHost } from './live-engine.js';

/** Rows of chains that went longer ago than this are removed. */
const goneKeptDays = 400;
const rowsPerStatement = 500;
/** Parts of the name of a chain come from people: titles of applications. */
const nameCharactersMax = 1000;

export interface HistoryRow {
  readonly id: number;
  readonly chain_id: string;
  readonly hop_ids: string;
  readonly application_id: number;
  readonly application_ids: readonly number[];
  readonly kind: string;
  readonly name: string;
  readonly score: number;
  readonly danger: boolean;
  readonly proven_hops: number;
  readonly first_seen: Date;
  readonly since: Date;
  readonly gone_at: Date | null;
}

type OpenRow = Pick<HistoryRow, 'id' | 'chain_id' | 'hop_ids' | 'kind' | 'name' | 'score' | 'danger' | 'proven_hops'>;

export interface Recorded {
  readonly added: number;
  readonly gone: number;
}

const hopIdsOf = (chain: Chain): string => chain.hops.map(({ finding }) => finding.id).join('>');
const keyOf = (id: string, hops: string): string => `${id} ${hops}`;

function toRow(chain: Chain) {
  return {
    chain_id: chainId(chain),
    hop_ids: hopIdsOf(chain),
    application_id: Number(startOf(chain).application.id),
    application_ids: [...new Set(chain.hops.map(({ view }) => Number(view.application.id)))],
    kind: chain.kind,
    name: chainName(chain).slice(0, nameCharactersMax),
    score: chain.score,
    danger: chain.danger,
    proven_hops: chain.proven,
  };
}
type NewRow = ReturnType<typeof toRow>;

/** What is written of groups, by key. */
function chainsOf(groups: readonly GroupMembers[]): Map<string, NewRow> {
  const all = groups.flatMap(({ chains, members }) => [
    ...members.flatMap(({ own }) => own),
    ...chains.ranked,
    ...chains.lateral,
  ]);
  return new Map(all.map(toRow).map((row) => [keyOf(row.chain_id, row.hop_ids), row]));
}

/** Whether a pair that is not among the best of its group any more stands all the same. */
function stillPairs(members: ReadonlyMap<string, Member>, row: OpenRow): boolean {
  if (row.kind !== 'cross-service') return false;
  const [, from = '', suffix = ''] = row.chain_id.split(':');
  const source = members.get(from)?.view;
  const target = members.get(suffix.replace(/^cross-/, ''))?.view;
  if (source?.isInternetFacing !== true || source.source === null || target?.sink == null) return false;
  // Two groups may be looked at together, and nothing links applications of different projects.
  if (source.application.projectId === null || source.application.projectId !== target.application.projectId)
    return false;
  return `${source.source.finding.id}>${target.sink.finding.id}` === row.hop_ids;
}

async function inBatches<T>(items: readonly T[], work: (batch: T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += rowsPerStatement) await work(items.slice(at, at + rowsPerStatement));
}

const isSame = (row: NewRow, open: OpenRow): boolean =>
  row.name === open.name &&
  row.score === open.score &&
  row.danger === open.danger &&
  row.proven_hops === open.proven_hops;

/**
 * New and changed rows; returns their ids by key. A chain that was gone and is back keeps its first_seen and stands
 * since now.
 */
async function write(tx: Tx, rows: readonly NewRow[], now: Date): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  await inBatches(rows, async (batch) => {
    const made = batch.map((row) => ({
      ...row,
      application_ids: json(tx, row.application_ids),
      first_seen: now,
      since: now,
    }));
    const stored = await tx<Pick<HistoryRow, 'id' | 'chain_id' | 'hop_ids'>[]>`
      insert into vm_chain_history ${tx(made as never)}
      on conflict (chain_id, hop_ids) do update set name = excluded.name, score = excluded.score,
        danger = excluded.danger, proven_hops = excluded.proven_hops, application_ids = excluded.application_ids,
        since = case when vm_chain_history.gone_at is null then vm_chain_history.since else excluded.since end,
        gone_at = null
      returning id, chain_id, hop_ids`;
    for (const { id, chain_id: chain, hop_ids: hops } of stored) ids.set(keyOf(chain, hops), id);
  });
  return ids;
}

/**
 * Says of chains that they are dangerous and were not before. A name has words of applications that a reader of events
 * may not see, so that the payload is without it; what leaves the room has it from the row.
 */
async function tellOfDanger(
  tx: Tx,
  rows: readonly NewRow[],
  ids: ReadonlyMap<string, number>,
  now: Date,
): Promise<void> {
  const events = rows.map((row) => ({
    type: 'chain.danger' as const,
    entity: 'chain' as const,
    entityId: ids.get(keyOf(row.chain_id, row.hop_ids)) ?? 0,
    applicationId: row.application_id,
    payload: { kind: row.kind, score: row.score, hops: row.hop_ids.split('>').length },
  }));
  await emit(tx, events, now);
}

async function recordGroups(tx: Tx, groups: readonly GroupMembers[], now: Date): Promise<Recorded> {
  const wanted = chainsOf(groups);
  const members = new Map(
    groups.flatMap(({ members: all }) => all.map((member) => [member.view.application.id, member])),
  );
  const open: OpenRow[] = [];
  await inBatches([...members.keys()], async (ids) => {
    open.push(
      ...(await tx<OpenRow[]>`
        select id, chain_id, hop_ids, kind, name, score, danger, proven_hops from vm_chain_history
        where gone_at is null and application_id in ${tx(ids)}`),
    );
  });
  const known = new Map(open.map((row) => [keyOf(row.chain_id, row.hop_ids), row]));
  const isNew = (row: NewRow): boolean => !known.has(keyOf(row.chain_id, row.hop_ids));
  const written = [...wanted].flatMap(([key, row]) => {
    const before = known.get(key);
    return before !== undefined && isSame(row, before) ? [] : [row];
  });
  // An application that was deleted meanwhile has no history; the next run no longer sees it.
  const alive = await livingAmong(tx, written);
  const kept = written.filter(({ application_id: id }) => alive.has(id));
  const ids = await write(tx, kept, now);
  const isDangerNow = (row: NewRow): boolean =>
    row.danger && known.get(keyOf(row.chain_id, row.hop_ids))?.danger !== true;
  await tellOfDanger(tx, kept.filter(isDangerNow), ids, now);
  const gone = open.filter((row) => !wanted.has(keyOf(row.chain_id, row.hop_ids)) && !stillPairs(members, row));
  await inBatches(
    gone.map(({ id }) => id),
    (ids) => tx`update vm_chain_history set gone_at = ${now} where id in ${tx(ids)}`,
  );
  return { added: kept.filter(isNew).length, gone: gone.length };
}

async function livingAmong(tx: Tx, rows: readonly NewRow[]): Promise<Set<number>> {
  const living = new Set<number>();
  await inBatches([...new Set(rows.map(({ application_id: id }) => id))], async (ids) => {
    const found = await tx<{ id: number }[]>`select id from vm_applications where id in ${tx(ids)} for key share`;
    for (const { id } of found) living.add(id);
  });
  return living;
}

/** Groups together, so that ten thousand applications without a project are not as many transactions. */
function portions(groups: readonly GroupMembers[]): GroupMembers[][] {
  const made: GroupMembers[][] = [];
  let applications = Infinity;
  for (const group of groups) {
    applications += group.members.length;
    if (applications > rowsPerStatement) {
      made.push([]);
      applications = group.members.length;
    }
    made.at(-1)?.push(group);
  }
  return made;
}

/** Groups whose present chains are written; the engine makes another object once anything in a group has changed. */
const written = new WeakMap<Sql, WeakSet<GroupChains>>();

/** Writes what has become of the chains since the last call, and removes rows that nobody asks for any more. */
export async function recordHistory(host: ChainHost, now: Date): Promise<Recorded> {
  const { sql } = host;
  const done = written.get(sql) ?? new WeakSet();
  written.set(sql, done);
  const engine = await currentChains(host);
  const changed = [...engine.groups()].filter(({ chains }) => !done.has(chains));
  const total = { added: 0, gone: await closeLeft(sql, now) };
  for (const groups of portions(changed)) {
    const { added, gone } = await sql.begin(async (tx) => recordGroups(tx, groups, now));
    for (const { chains } of groups) done.add(chains);
    total.added += added;
    total.gone += gone;
  }
  await sql`delete from vm_chain_history where gone_at < ${new Date(now.getTime() - goneKeptDays * 86_400_000)}`;
  return total;
}

/** Chains of applications that the engine does not know any more: archived ones. */
async function closeLeft(sql: Queryable, now: Date): Promise<number> {
  const { count } = await sql`
    update vm_chain_history h set gone_at = ${now} where gone_at is null
      and not exists (select 1 from vm_applications a where a.id = h.application_id and a.status = 'active')`;
  return count;
}
