// Mutes: predicates that take findings out of sight for a reason and for a while. Muted findings stay in the tables
// with the state `muted`; the end of the mute gives them their state back.
import { ApiError, systemActor, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf, type Queryable, type Tx } from '../database.js';
import { isUnconfined, reachable } from '../kit/caller.js';
import { endpoint, toMoment, unfit, When, type Endpoint } from '../kit/endpoint.js';
import { checkPredicate, holds, PredicateSchema, toSql, type Predicate } from '../kit/predicate.js';
import { resourceEndpoints, type Resource, type Row } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import { Id, Name, requireApplication } from '../assets/resources.js';
import { findingFields, FindingView, viewFinding, type FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { transition } from '../findings/transition.js';

const daysMax = 366;
const closed = { additionalProperties: false } as const;

interface Mute {
  readonly id: number;
  readonly application_id: number | null;
  readonly predicate: Predicate;
  readonly reason: string;
  readonly expires_at: Date;
  readonly looked_snapshot: string | null;
  readonly looked_at: Date | null;
}

/** Throws 422 unless the moment lies ahead, and not further than policy lets it. */
export function checkEnd(text: unknown, now: Date, most = daysMax): Date {
  const at = toMoment(textOf(text), '/expires_at');
  if (at <= now) throw unfit('/expires_at', 'is over already');
  if (at.getTime() > now.getTime() + most * 86_400_000) throw unfit('/expires_at', `is more than ${most} days ahead`);
  return at;
}

export const mutes: Resource = {
  path: '/mutes',
  noun: 'mute',
  table: 'vm_mutes',
  view: 'view_findings',
  edit: 'manage_mutes',
  visible: (sql, reach) =>
    isUnconfined(reach)
      ? sql`true`
      : sql`exists (select 1 from vm_applications a where a.id = vm_mutes.application_id
          and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)})`,
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    application_id: { schema: Id, as: 'id', write: 'create', filter: 'equal' },
    predicate: { schema: PredicateSchema, as: 'json', write: 'always', required: true },
    reason: { schema: Type.String({ minLength: 1, maxLength: 5000 }), as: 'plain', write: 'always', required: true },
    expires_at: { schema: When, as: 'time', write: 'always', required: true, sort: 'time' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    if (values['predicate'] !== undefined) checkPredicate(values['predicate'], findingFields);
    if (values['expires_at'] !== undefined) values['expires_at'] = checkEnd(values['expires_at'], call.now);
    refuseOfRule(before);
    if (before !== null) return;
    if (values['application_id'] !== undefined)
      values['application_id'] = (await requireApplication(tx, call.reach, textOf(values['application_id']))).id;
    else if (!isUnconfined(call.reach)) throw unfit('/application_id', 'is needed: your grant is not for the whole');
    values['created_by'] = call.caller.actor.name;
  },
  // one that is new gives nobody their state back
  after: async (tx, call, _row, before) =>
    void (await applyMutes(tx, call.caller.actor, call.now, { muted: before === null ? 'due' : 'all' })),
  beforeDelete: async (tx, call, row) => {
    refuseOfRule(row);
    await tx`update vm_mutes set expires_at = ${call.now} where id = ${row.id}`;
    await applyMutes(tx, call.caller.actor, call.now);
  },
};

/** What a rule mutes is said in the rule. Throws 409. */
function refuseOfRule(mute: Row | null): void {
  if (mute?.['rule_id'] == null) return;
  throw new ApiError('conflict', `The mute belongs to the rule ${textOf(mute['rule_id'])}: change or delete that.`);
}

const applies = (sql: Queryable, mute: Pick<Mute, 'predicate' | 'application_id'>, now: Date) =>
  allOf(sql, [
    ...(mute.application_id === null ? [] : [sql`application_id = ${mute.application_id}`]),
    toSql(sql, mute.predicate, findingFields, now),
  ]);

/** Findings that are held in memory at once: some organisations mute half a million. */
const atOnce = 2000;

/** Written down at once: each writes its row, and an entry of every index of findings; the others wait for a round. */
const checksMaxDefault = 20_000;

interface Look {
  /** Which muted ones are looked at: those whose time has come (`mute_check_at`), or all, after a mute has changed. */
  readonly muted: 'due' | 'all';
  /**
   * Which open ones are asked: those of applications of which something changed since the mute was asked for last, or
   * all, which is also what is done for a mute that asks for a time.
   */
  readonly open?: 'changed' | 'all';
  /** Ids of findings; absent: all there are. */
  readonly only?: readonly number[];
  readonly checksMax?: number;
}

/**
 * Brings findings and mutes together: open ones for which a mute holds become muted, muted ones for which none holds
 * any more get their state back. Returns how many changed. Predicates see the state before the mute. Only what changes
 * is locked.
 */
export async function applyMutes(tx: Tx, actor: Actor, now: Date, look: Look = { muted: 'all' }): Promise<number> {
  // before anything is read: what is committed meanwhile is looked at twice rather than never
  const [here] = await tx<Here[]>`select pg_current_snapshot()::text as snapshot, now() as clock`;
  const active = await tx<Mute[]>`select * from vm_mutes where expires_at > ${now} order by id`;
  const { only, checksMax = checksMaxDefault } = look;
  const notes = new Checks(tx, active, now, checksMax);
  const within = only === undefined ? tx`true` : only.length === 0 ? tx`false` : tx`id in ${tx(only)}`;
  let changed = await giveBack(tx, { active, actor, now, within, onlyDue: look.muted === 'due', notes });
  const changes = new Changes(tx);
  for (const mute of active) {
    const since = look.open === 'changed' && here !== undefined ? sinceOf(mute, here) : null;
    const applications = since === null ? null : await changes.since(since);
    if (applications?.length === 0) continue;
    const asked = applications === null ? within : tx`${within} and application_id in ${tx(applications)}`;
    const meant = tx`is_open and ${asked} and ${applies(tx, mute, now)}`;
    for await (const rows of applications === null ? inChunks(tx, meant) : inChunksFound(tx, meant, meant)) {
      const locked = await lockThose(
        tx,
        rows.map(({ id }) => id),
        meant,
      );
      for (const row of locked) {
        await transition(tx, row, { to: 'muted', by: 'policy', reason: mute.reason }, actor, now);
        changed += 1;
      }
      await notes.write(locked);
    }
  }
  if (only === undefined && here !== undefined && active.length > 0)
    await tx`
      update vm_mutes set looked_snapshot = ${here.snapshot}, looked_at = ${here.clock}
      where id in ${tx(active.map(({ id }) => id))}`;
  return changed;
}

/** By the clock of the database, which also writes the changes. */
interface Here {
  readonly snapshot: string;
  readonly clock: Date;
}

/** Shorter than changes are kept (graph/live-engine.ts). */
const restMaxMs = 1_800_000;

/** The snapshot since which changes count; null: everything is asked. */
const sinceOf = ({ predicate, looked_snapshot, looked_at }: Mute, { clock }: Here): string | null =>
  looked_at === null || clock.getTime() - looked_at.getTime() > restMaxMs || asksForTime(predicate)
    ? null
    : looked_snapshot;

/** So many applications are named; when more have changed, all are asked. */
const namedMax = 5000;

/** Read once for all mutes that were asked for in the same round. */
class Changes {
  readonly #tx: Tx;
  readonly #known = new Map<string, readonly number[] | null>();

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Applications of which something was committed since the snapshot; null: too many to be named. */
  async since(snapshot: string): Promise<readonly number[] | null> {
    const known = this.#known.get(snapshot);
    if (known !== undefined) return known;
    const tx = this.#tx;
    const rows = await tx<{ id: number }[]>`
      select distinct application_id as id from vm_chain_changes
      where changed_in >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
        and not pg_visible_in_snapshot(changed_in, ${snapshot}::pg_snapshot) limit ${namedMax + 1}`;
    const found = rows.length > namedMax ? null : rows.map(({ id }) => id);
    this.#known.set(snapshot, found);
    return found;
  }
}

interface Round {
  readonly active: readonly Mute[];
  readonly actor: Actor;
  readonly now: Date;
  readonly within: Where;
  readonly onlyDue: boolean;
  readonly notes: Checks;
}

const beforeMute = (row: FindingRow): FindingRow =>
  row.status === 'muted' ? { ...row, status: row.previous_status ?? 'new' } : row;

/** Of muted findings those for which no mute holds any more; the others are noted down for later. */
async function giveBack(tx: Tx, { active, actor, now, within, onlyDue, notes }: Round): Promise<number> {
  let changed = 0;
  const isOver = (row: FindingRow): boolean => !active.some((mute) => fits(mute, beforeMute(row), now));
  const muted = tx`status = 'muted' and ${within}`;
  for await (const rows of onlyDue ? inChunksDue(tx, muted, now) : inChunks(tx, muted)) {
    const over = rows.filter(isOver).map(({ id }) => id);
    for (const row of await lockThose(tx, over, muted)) {
      if (!isOver(row)) continue; // changed by another before it was locked
      const to = row.previous_status ?? 'new';
      await transition(tx, row, { to, by: 'policy', reason: 'no mute holds any more' }, actor, now);
      changed += 1;
    }
    const gone = new Set(over);
    await notes.write(rows.filter(({ id }) => !gone.has(id)));
  }
  return changed;
}

/** Whether time alone can end what it says. */
const asksForTime = (predicate: Predicate): boolean =>
  'and' in predicate
    ? predicate.and.some(asksForTime)
    : 'or' in predicate
      ? predicate.or.some(asksForTime)
      : 'not' in predicate
        ? asksForTime(predicate.not)
        : findingFields[predicate.field]?.type === 'time';

/** Writes down when muted findings are to be looked at again: with the last of the mutes that hold for each. */
class Checks {
  readonly #tx: Tx;
  readonly #lasting: readonly Mute[];
  readonly #now: Date;
  #left: number;

  constructor(tx: Tx, active: readonly Mute[], now: Date, most: number) {
    this.#tx = tx;
    this.#lasting = active.filter(({ predicate }) => !asksForTime(predicate));
    this.#now = now;
    this.#left = most;
  }

  async write(rows: readonly FindingRow[]): Promise<void> {
    const idsOf = new Map<number | null, number[]>();
    for (const row of rows) {
      const holding = this.#lasting.filter((mute) => fits(mute, beforeMute(row), this.#now));
      const at = holding.length === 0 ? null : Math.max(...holding.map((mute) => mute.expires_at.getTime()));
      const noted = row.status === 'muted' ? (row.mute_check_at?.getTime() ?? null) : null;
      if (noted === at || this.#left === 0) continue;
      this.#left -= 1;
      const ids = idsOf.get(at);
      if (ids === undefined) idsOf.set(at, [row.id]);
      else ids.push(row.id);
    }
    for (const [at, ids] of idsOf)
      await this.#tx`
        update vm_findings set mute_check_at = ${at === null ? null : new Date(at)}
        where id in ${this.#tx(ids)} and status = 'muted'`;
  }
}

type Where = ReturnType<typeof allOf>;

/** In the order of their ids, unlocked. */
async function* inChunks(tx: Tx, where: Where): AsyncGenerator<readonly FindingRow[]> {
  for (let last = 0; ; ) {
    const rows = await tx<FindingRow[]>`
      select * from vm_findings where id > ${last} and ${where} order by id limit ${atOnce}`;
    yield rows;
    if (rows.length < atOnce) return;
    last = rows.at(-1)?.id ?? last;
  }
}

/** Those whose time has come. */
const inChunksDue = (tx: Tx, where: Where, now: Date) =>
  inChunksFound(tx, tx`${where} and coalesce(mute_check_at, '-infinity'::timestamptz) <= ${now}`, where);

/** Few of many: their ids are read first; in order of ids, all others would be passed over. */
async function* inChunksFound(tx: Tx, found: Where, where: Where): AsyncGenerator<readonly FindingRow[]> {
  const all = await tx<{ id: number }[]>`select id from vm_findings where ${found}`;
  const ids = all.map(({ id }) => id).sort((left, right) => left - right);
  for (let from = 0; from < ids.length; from += atOnce)
    yield await tx<FindingRow[]>`
      select * from vm_findings where id in ${tx(ids.slice(from, from + atOnce))} and ${where} order by id`;
}

/** Of these ids the findings for which it still holds. */
const lockThose = async (tx: Tx, ids: readonly number[], where: Where): Promise<readonly FindingRow[]> =>
  ids.length === 0
    ? []
    : tx<FindingRow[]>`select * from vm_findings where id in ${tx(ids)} and ${where} order by id for update`;

function fits(mute: Mute, row: FindingRow, now: Date): boolean {
  if (mute.application_id !== null && mute.application_id !== row.application_id) return false;
  return holds(mute.predicate, row as never, findingFields, now);
}

/** For the background: ends what is over, and asks for what changed. */
export const expireMutes = (tx: Tx, now: Date): Promise<number> =>
  applyMutes(tx, systemActor, now, { muted: 'due', open: 'changed' });

const preview = endpoint({
  method: 'POST',
  path: '/mutes/preview',
  permission: 'view_findings',
  kind: 'A',
  reads: true,
  summary: 'Which open findings a predicate would mute',
  body: Type.Object({ predicate: PredicateSchema, application_id: Type.Optional(Id) }, closed),
  answer: Type.Object({ count: Type.Integer(), sample: Type.Array(FindingView) }),
  handle: async (call) => {
    const { sql, reach, body, now } = call;
    const predicate = checkPredicate(body.predicate, findingFields);
    const application =
      body.application_id === undefined ? null : (await requireApplication(sql, reach, body.application_id)).id;
    const where = allOf(sql, [
      sql`is_open`,
      visibleFindings(sql, reach),
      applies(sql, { predicate, application_id: application }, now),
    ]);
    const [count] = await sql<{ n: number }[]>`select count(*) as n from vm_findings where ${where}`;
    const rows = await sql<FindingRow[]>`
      select * from vm_findings where ${where} order by priority_score desc, id limit 20`;
    return { count: count?.n ?? 0, sample: rows.map((row) => viewFinding(row, now)) };
  },
});

export const muteEndpoints: readonly Endpoint[] = [...resourceEndpoints(mutes), preview];
