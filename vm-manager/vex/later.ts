// Statements that are kept meet findings that come later: with each import, what it brought and nobody has looked at
// yet follows the newest statement on it, as it would have followed the import of the statement.
import type { Actor } from '#http-kit';
import { json, type Tx } from '../database.js';
import { transition } from '../findings/transition.js';
import { isOfProduct, moveOf } from './apply.js';
import { namesOf } from './names.js';
import type { Found } from './meeting.js';
import type { Stated } from './read.js';

const batch = 500;

interface Kept {
  readonly id: number;
  readonly application_id: number | null;
  readonly vulnerability: string;
  readonly aliases: readonly string[];
  readonly product: string;
  readonly status: Stated['status'];
  readonly justification: Stated['justification'];
  readonly statement: string;
  readonly stated_at: Date | null;
}

/** The newest first. */
const keptFor = (tx: Tx, application: number, names: readonly string[]) => tx<Kept[]>`
  with wanted as (select array(select jsonb_array_elements_text(${json(tx, names)})) as names)
  select s.* from vm_vex_statements s, wanted w
  where (s.application_id is null or s.application_id = ${application})
    and (s.vulnerability = any (w.names) or s.aliases ?| w.names)
  order by coalesce(s.stated_at, s.created_at) desc, s.id desc limit 5000`;

const statedOf = ({ vulnerability, aliases, stated_at: at, ...kept }: Kept): Stated => ({
  ids: [vulnerability, ...aliases],
  product: kept.product,
  within: '',
  status: kept.status,
  justification: kept.justification,
  statement: kept.statement,
  at,
});

type Came = 'changed' | 'conflicts' | null;

async function follow(tx: Tx, kept: Kept, found: Found, actor: Actor, now: Date): Promise<Came> {
  const move = moveOf(statedOf(kept), found);
  if (move === null) return null;
  if (typeof move === 'string') return 'conflicts';
  await transition(tx, found, move, actor, now);
  return 'changed';
}

/** In the row of the application, which one that had met nothing gets now. */
async function count(tx: Tx, kept: Kept, application: number, came: Came, now: Date): Promise<void> {
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
      author, 1, ${changed}::integer, ${conflicts}::integer, stated_at, created_by, ${now}::timestamptz
    from vm_vex_statements where id = ${kept.id}`;
}

/** For findings that the run brought and that are `new`. Nothing is asked where nobody has stated anything. */
export async function meetNewFindings(tx: Tx, actor: Actor, runId: number, now: Date): Promise<void> {
  const [any] = await tx`select 1 from vm_vex_statements limit 1`;
  if (any === undefined) return;
  for (let after = 0; ; ) {
    const rows = await tx<Found[]>`
      select f.*, a.name as application, a.external_id, case when d.location ? 'kind' then d.location end as place
      from vm_findings f join vm_applications a on a.id = f.application_id
        left join vm_finding_details d on d.finding_id = f.id
      where f.id > ${after} and f.status = 'new' and f.vuln_ids <> '[]'
        and f.id in (select finding_id from vm_occurrences where last_run = ${runId})
      order by f.id limit ${batch}`;
    const [first] = rows;
    if (first !== undefined) await meet(tx, rows, actor, now);
    after = rows.at(-1)?.id ?? after;
    if (rows.length < batch) return;
  }
}

async function meet(tx: Tx, rows: readonly Found[], actor: Actor, now: Date): Promise<void> {
  const upper = (row: Found): string[] => row.vuln_ids.map((id) => id.toUpperCase());
  const names = await namesOf(tx, [...new Set(rows.flatMap(upper))]);
  const all = [...new Set([...names.values()].flatMap((some) => [...some]))];
  const application = rows[0]?.application_id ?? 0;
  const kept = await keptFor(tx, application, all);
  const byName = new Map<string, Kept[]>();
  for (const one of kept)
    for (const name of [one.vulnerability, ...one.aliases]) byName.set(name, [...(byName.get(name) ?? []), one]);
  const rank = new Map(kept.map((one, index) => [one.id, index]));
  for (const found of rows) {
    const own = new Set(upper(found).flatMap((id) => [...(names.get(id) ?? [id])]));
    const candidates = [...new Set([...own].flatMap((name) => byName.get(name) ?? []))].sort(
      (left, right) => (rank.get(left.id) ?? 0) - (rank.get(right.id) ?? 0),
    );
    const stated = candidates.find((one) => isOfProduct({ product: one.product, within: '' }, found));
    if (stated === undefined) continue;
    await count(tx, stated, application, await follow(tx, stated, found, actor, now), now);
  }
}
