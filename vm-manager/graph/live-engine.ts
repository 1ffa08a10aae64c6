// The chain engine over the database: built at the first question, and brought up to date at each one by what was
// committed since the last (vm_chain_changes). Several control planes have one each; none needs to tell the others.
import { ChainEngine } from '../chains/engine.js';
import type { Queryable, Sql } from '../database.js';
import type { Host } from '../host.js';
import { rulesIn } from './own/store.js';
import { applicationsPerRead, loadApplications, type Loaded } from './rows.js';

/** Changes are kept for an hour; who has not looked for half of it reads everything anew. */
const changesKeptMs = 3_600_000;
const restMaxMs = changesKeptMs / 2;

interface Look {
  readonly snapshot: string;
  readonly atMs: number;
}

class LiveEngine {
  readonly #sql: Sql;
  #withPack = false;
  #own = { rules: '[]', weaknesses: '[]' };
  #engine = new ChainEngine();
  #last: Look | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The engine with everything that was committed before the call. */
  async current(withPack: boolean): Promise<ChainEngine> {
    const turn = this.#turn.then(async () => this.#catchUp(withPack));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #catchUp(withPack: boolean): Promise<ChainEngine> {
    const [look] = await this.#sql<{ snapshot: string; at_ms: number; rules: string; weaknesses: string }[]>`
      select pg_current_snapshot()::text as snapshot, (extract(epoch from now()) * 1000)::float8 as at_ms,
        (select coalesce(json_agg(json_build_array(slug, name, slots) order by id), '[]')::text
          from vm_toxic_rules) as rules,
        (select coalesce(json_agg(json_build_array(cwe, stage, capability) order by id), '[]')::text
          from vm_capabilities where cwe is not null) as weaknesses`;
    if (look === undefined) throw new Error('the database gave no snapshot');
    const { rules, weaknesses } = look;
    // Other rules, and other meanings of weaknesses, make other chains everywhere; those of one finding are a change of
    // its application.
    const isOther = rules !== this.#own.rules || weaknesses !== this.#own.weaknesses;
    if (isOther || withPack !== this.#withPack) this.#last = null;
    this.#withPack = withPack;
    this.#own = { rules, weaknesses };
    const now: Look = { snapshot: look.snapshot, atMs: look.at_ms };
    const last = this.#last;
    if (last === null || now.atMs - last.atMs > restMaxMs) await this.#build();
    else await this.#apply(last.snapshot, now.snapshot);
    this.#last = now;
    return this.#engine;
  }

  async #build(): Promise<void> {
    const engine = new ChainEngine({ withPack: this.#withPack, ownRules: rulesIn(this.#own.rules) });
    const load = (after: string): Promise<Loaded[]> => loadApplications(this.#sql, this.#sql`a.id > ${after}`);
    // The database reads the next applications while these are worked out.
    for (let next: Promise<Loaded[]> | null = load('0'); next !== null; ) {
      const loaded: readonly Loaded[] = await next;
      const last = loaded.at(-1);
      next = last === undefined || loaded.length < applicationsPerRead ? null : load(last.application.id);
      for (const { application, findings } of loaded) engine.set(application, findings);
    }
    this.#engine = engine;
  }

  /** What one look does not see and the next does. What is read may be newer than both; it is then read once more. */
  async #apply(before: string, now: string): Promise<void> {
    const rows = await this.#sql<{ id: string }[]>`
      select distinct application_id::text as id from vm_chain_changes
      where for_chains and changed_in >= pg_snapshot_xmin(${before}::pg_snapshot)
        and not pg_visible_in_snapshot(changed_in, ${before}::pg_snapshot)
        and pg_visible_in_snapshot(changed_in, ${now}::pg_snapshot)`;
    for (let at = 0; at < rows.length; at += applicationsPerRead) {
      const ids = rows.slice(at, at + applicationsPerRead).map(({ id }) => id);
      const loaded = await loadApplications(this.#sql, this.#sql`a.id in ${this.#sql(ids)}`);
      const found = new Set(loaded.map(({ application }) => application.id));
      for (const id of ids) if (!found.has(id)) this.#engine.remove(id);
      for (const { application, findings } of loaded) this.#engine.set(application, findings);
    }
  }
}

const engines = new WeakMap<Sql, LiveEngine>();

export type ChainHost = Pick<Host, 'sql' | 'withToxicPack'>;

/** The engine of a database, up to date, with the rules that are in force. */
export async function currentChains({ sql, withToxicPack }: ChainHost): Promise<ChainEngine> {
  const withPack = (await withToxicPack?.()) ?? false;
  const known = engines.get(sql) ?? new LiveEngine(sql);
  engines.set(sql, known);
  return known.current(withPack);
}

/** Removes changes that nobody will ask for, by the clock of the database that wrote them; returns how many. */
export async function forgetChanges(sql: Queryable): Promise<number> {
  const { count } = await sql`
    delete from vm_chain_changes where at < now() - make_interval(secs => ${changesKeptMs / 1000})`;
  return count;
}
