// Statements that are kept meet findings that come later: with each import, what it brought and nobody has looked at
// yet follows the newest statement on it, as it would have followed the import of the statement.
import type { Actor } from '#http-kit';
import type { Tx } from '../database.js';
import { transition } from '../findings/transition.js';
import type { Within } from '../imports/run/scope.js';
import { packageName } from '../imports/same-weakness.js';
import { decisiveOf, isOfProduct, moveOf } from './apply.js';
import { namesOf } from './names.js';
import type { Found } from './meeting.js';
import type { Stated } from './read.js';

/** Statements on one vulnerability of one package, the newest: versions differ, and the newest of ours is wanted. */
const keptMax = 200;

interface Kept {
  readonly id: number;
  readonly application_id: number | null;
  readonly vulnerability: string;
  readonly aliases: readonly string[];
  readonly product: string;
  readonly status: Stated['status'];
  readonly justification: Stated['justification'];
  readonly statement: string;
  readonly document: string;
  readonly stated_at: Date | null;
  readonly created_at: Date;
}

/** Of these findings those that the run has brought are counted where they meet something, and others are not again. */
type Met = Found & { readonly is_brought: boolean };

/** What a finding may be called in a statement: vulnerability, and package, '' for none. */
interface Pair {
  readonly name: string;
  readonly package: string;
  /** The longest part of its name that every spelling of a purl has as it is. */
  readonly hint: string;
}

function pairsOf(found: Found, names: Iterable<string>): Pair[] {
  const { place } = found;
  if (place?.kind !== 'package') return [...names].map((name) => ({ name, package: '', hint: '' }));
  const parts =
    packageName(place)
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const [hint = ''] = parts.sort((one, other) => other.length - one.length);
  return [...names].map((name) => ({ name, package: place.name.toLowerCase(), hint }));
}

const keyOf = ({ name, package: of, hint }: Pair): string => JSON.stringify([name, of, hint]);

/**
 * By the keys of pairs, the newest first; of what one document says of the same, the first counts, as with its import.
 * Looked up by name for each pair, and by no other index: a supplier may say a hundred thousand things.
 */
async function keptFor(tx: Tx, { application_id: id, application, external_id: external }: Found, pairs: Pair[]) {
  const own = ['', application, external ?? '', String(id), `urn:gatehouse:application:${id}`];
  const rows = await tx<(Kept & Pair)[]>`
    select w.name, w.package, w.hint, k.*
    from json_to_recordset(${JSON.stringify(pairs)}::text::json) as w(name text, package text, hint text)
      cross join lateral (
        select s.* from (
          select * from vm_vex_statements where vulnerability = w.name
          union all
          select * from vm_vex_statements where aliases ? w.name and vulnerability <> w.name) s
        where coalesce(s.application_id, ${id}) = ${id}
          and (lower(s.product) in ${tx(own.map((one) => one.toLowerCase()))}
            or (w.package <> '' and lower(s.product) = w.package)
            or (w.package <> '' and s.product like 'pkg:%' and strpos(lower(s.product), w.hint) > 0))
        order by coalesce(s.stated_at, s.created_at) desc, s.created_at desc, s.id limit ${keptMax}) k`;
  const byPair = new Map<string, Kept[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const of = byPair.get(key);
    if (of === undefined) byPair.set(key, [row]);
    else of.push(row);
  }
  return byPair;
}

const timeOf = ({ stated_at: stated, created_at: created }: Kept): number => (stated ?? created).getTime();
const newestFirst = (one: Kept, other: Kept): number =>
  timeOf(other) - timeOf(one) || other.created_at.getTime() - one.created_at.getTime() || one.id - other.id;

const statedOf = ({ vulnerability, aliases, stated_at: at, ...kept }: Kept): Stated => ({
  ids: [vulnerability, ...aliases],
  product: kept.product,
  within: '',
  status: kept.status,
  justification: kept.justification,
  statement: kept.statement,
  at,
});

const isOfOneDocument = (one: Kept, other: Kept): boolean =>
  one.document === other.document && one.created_at.getTime() === other.created_at.getTime();

type Came = 'changed' | 'conflicts' | null;

async function follow(tx: Tx, kept: Kept, found: Found, actor: Actor, now: Date): Promise<Came> {
  const move = moveOf(statedOf(kept), found);
  if (move === null) return null;
  if (typeof move === 'string') return 'conflicts';
  await transition(tx, found, move, actor, now);
  return 'changed';
}

/** In the row of the application, which one that had met nothing gets now: as old as the statement is. */
async function count(tx: Tx, kept: Kept, application: number, came: Came): Promise<void> {
  const [changed, conflicts] = [came === 'changed' ? 1 : 0, came === 'conflicts' ? 1 : 0];
  const updated = await tx`
    update vm_vex_statements s set matched = s.matched + 1, changed = s.changed + ${changed},
      conflicts = s.conflicts + ${conflicts}
    from vm_vex_statements o
    where o.id = ${kept.id} and s.application_id = ${application} and s.vulnerability = o.vulnerability
      and s.product = o.product and s.document = o.document and s.status = o.status`;
  if (updated.count > 0) return;
  await tx`
    insert into vm_vex_statements (application_id, vulnerability, aliases, product, status, justification, statement,
      source, document, author, matched, changed, conflicts, stated_at, created_by, created_at)
    select ${application}::bigint, vulnerability, aliases, product, status, justification, statement, source, document,
      author, 1, ${changed}::integer, ${conflicts}::integer, stated_at, created_by, created_at
    from vm_vex_statements where id = ${kept.id}`;
}

/**
 * For findings of a run that are `new`, a batch of `within` at a time: each that follows is a handful of statements.
 * Nothing is asked where nobody has stated anything.
 */
export async function meetNewFindings(
  within: Within,
  { runId, scopeKey, actor, now }: { runId: number; scopeKey: string; actor: Actor; now: Date },
): Promise<void> {
  const ids = await within.run(async (tx) => {
    const [any] = await tx`select 1 from vm_vex_statements limit 1`;
    if (any === undefined) return [];
    return tx<{ id: number; is_brought: boolean }[]>`
      select f.id, min(o.first_run) = ${runId} as is_brought
      from vm_occurrences l join vm_findings f on f.id = l.finding_id join vm_occurrences o on o.finding_id = f.id
      where l.scope_key = ${scopeKey} and l.last_run = ${runId} and f.status = 'new' and f.vuln_ids <> '[]'
      group by f.id order by f.id`;
  });
  for (let from = 0; from < ids.length; ) {
    const some = ids.slice(from, from + within.batchSize);
    const brought = new Set(some.filter((one) => one.is_brought).map(({ id }) => id));
    await within.run(async (tx) => {
      const rows = await tx<Found[]>`
        select f.*, a.name as application, a.external_id, case when d.location ? 'kind' then d.location end as place
        from vm_findings f join vm_applications a on a.id = f.application_id
          left join vm_finding_details d on d.finding_id = f.id
        where f.id in ${tx(some.map(({ id }) => id))} and f.status = 'new' order by f.id for update of f`;
      const met = rows.map((row): Met => ({ ...row, is_brought: brought.has(row.id) }));
      await meet(tx, met, actor, now);
    });
    from += some.length;
  }
}

async function meet(tx: Tx, rows: readonly Met[], actor: Actor, now: Date): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const upper = (row: Found): string[] => row.vuln_ids.map((id) => id.toUpperCase());
  const names = await namesOf(tx, [...new Set(rows.flatMap(upper))]);
  const pairs = new Map<number, Pair[]>(
    rows.map((row) => {
      const own = new Set(upper(row).flatMap((id) => [...(names.get(id) ?? [id])]));
      return [row.id, pairsOf(row, own)];
    }),
  );
  const all = new Map([...pairs.values()].flat().map((pair) => [keyOf(pair), pair]));
  const kept = await keptFor(tx, first, [...all.values()]);
  for (const found of rows) {
    const candidates = (pairs.get(found.id) ?? []).flatMap((pair) => kept.get(keyOf(pair)) ?? []).sort(newestFirst);
    const ofIt = candidates.filter((one) => isOfProduct({ product: one.product, within: '' }, found));
    const [newest] = ofIt;
    // of what one document says of it, what counts is decided as at its import
    const together = ofIt.filter((one) => newest !== undefined && isOfOneDocument(one, newest));
    const stated = decisiveOf(together.map((one) => ({ ...one, at: one.stated_at })));
    if (stated === null) continue;
    const came = await follow(tx, stated, found, actor, now);
    if (came === 'changed' || found.is_brought) await count(tx, stated, found.application_id, came);
  }
}
