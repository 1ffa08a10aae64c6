// Rules applied to findings, and what they did taken back: some findings in one transaction, each locked.
import type { Actor } from '#http-kit';
import { json, type Queryable, type Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { refreshFindings } from '../findings/refresh.js';
import { transition } from '../findings/transition.js';
import type { SeverityBasis, Status } from '../findings/words.js';
import { emit, type NewEvent } from '../kit/events.js';
import { keyOf, plan, type Change, type Past, type Rule } from './effects.js';

/** Those in force, in their order. */
export const readRules = (sql: Queryable): Promise<Rule[]> =>
  sql<Rule[]>`
    select id, name, predicate, effects, stop, revision from vm_rules where enabled order by position, id`;

/** What rules have done to these findings so far. */
export async function readPast(sql: Queryable, ids: readonly number[]): Promise<Past> {
  if (ids.length === 0) return new Map();
  const rows = await sql<
    {
      rule_id: number;
      revision: number;
      finding_id: number;
      member: string;
      after: { is: unknown };
      is_undone: boolean;
    }[]
  >`
    select rule_id, revision, finding_id, member, after, undone_at is not null as is_undone from vm_rule_changes
    where finding_id in ${sql(ids)} order by id`;
  return new Map(
    rows.map((row) => [
      keyOf(row.rule_id, row.revision, row.finding_id, row.member, row.after.is),
      row.is_undone ? 'undone' : 'done',
    ]),
  );
}

/** Returns how many of these (open, locked) findings were changed. */
export async function applyRules(
  tx: Tx,
  rules: readonly Rule[],
  rows: readonly FindingRow[],
  runId: number,
  actor: Actor,
  now: Date,
): Promise<number> {
  const past = await readPast(
    tx,
    rows.map(({ id }) => id),
  );
  const plans = rows.map((row) => ({ before: row, ...plan(rules, row, past, now) }));
  const changed = plans.filter(({ changes }) => changes.length > 0);
  if (changed.length === 0) return 0;
  await tx`
    update vm_findings f set tags = n.tags, assignee_id = n.assignee_id, severity = n.severity,
      severity_basis = n.severity_basis, updated_at = ${now}, version = f.version + 1
    from jsonb_to_recordset(${json(
      tx,
      changed.map(({ row }) => columnsOf(row)),
    )})
      as n(id bigint, tags jsonb, assignee_id text, severity smallint, severity_basis text)
    where f.id = n.id`;
  for (const { before, changes } of changed)
    for (const { member, after, effect } of changes)
      if (member === 'status')
        await transition(
          tx,
          before,
          {
            to: after as Status,
            by: 'policy',
            ...(effect.reason === undefined ? {} : { reason: effect.reason }),
            ...(effect.justification === undefined ? {} : { justification: effect.justification }),
          },
          actor,
          now,
        );
  const entries = changed.flatMap(({ before, changes }) =>
    changes.map((change) => ({ ...change, before: before, was: change.before })),
  );
  await tx`
    insert into vm_rule_changes (run_id, rule_id, revision, finding_id, member, before, after, at)
    select ${runId}::bigint, rule_id, revision, finding_id, member, before, after, ${now}::timestamptz
    from jsonb_to_recordset(${json(
      tx,
      entries.map(({ rule, before, member, was, after }) => ({
        rule_id: rule.id,
        revision: rule.revision,
        finding_id: before.id,
        member,
        before: { is: was },
        after: { is: after },
      })),
    )}) as n(rule_id bigint, revision integer, finding_id bigint, member text, before jsonb, after jsonb)`;
  const rated = changed.filter(({ changes }) => changes.some(({ member }) => member === 'severity'));
  await refreshFindings(
    tx,
    rated.map(({ row }) => row.id),
    now,
  );
  await emit(
    tx,
    changed.flatMap(({ row, changes }) => changes.flatMap((change) => eventOf(row, change))),
    now,
  );
  return changed.length;
}

const columnsOf = ({ id, tags, assignee_id, severity, severity_basis }: FindingRow) => ({
  id,
  tags,
  assignee_id,
  severity,
  severity_basis,
});

function eventOf(row: FindingRow, { member, after, rule }: Change): NewEvent[] {
  const of = { entity: 'finding', entityId: row.id, applicationId: row.application_id } as const;
  if (member === 'assignee') return [{ ...of, type: 'finding.assigned', payload: { user: after } }];
  if (member !== 'notice') return [];
  return [{ ...of, type: 'rule.notice', payload: { rule_id: String(rule.id), rule: rule.name } }];
}

interface Done {
  readonly id: number;
  readonly finding_id: number;
  readonly member: string;
  readonly before: { readonly is: unknown };
  readonly after: { readonly is: unknown };
}

export interface Undone {
  readonly last: number;
  readonly undone: number;
  /** Changed again since: they stay as they are. */
  readonly kept: number;
  readonly isAll: boolean;
}

/** Takes some changes of a run back, the latest first, below the change `before`; null: from the end. */
export async function undoSome(
  tx: Tx,
  runId: number,
  before: number | null,
  most: number,
  actor: Actor,
  now: Date,
): Promise<Undone> {
  const changes = await tx<Done[]>`
    select id, finding_id, member, before, after from vm_rule_changes
    where run_id = ${runId} and undone_at is null and ${before === null ? tx`true` : tx`id < ${before}`}
    order by id desc limit ${most}`;
  const rated: number[] = [];
  let undone = 0;
  for (const change of changes) {
    const [row] = await tx<FindingRow[]>`select * from vm_findings where id = ${change.finding_id} for update`;
    if (row === undefined || !(await takeBack(tx, row, change, actor, now))) continue;
    undone += 1;
    if (change.member === 'severity') rated.push(row.id);
  }
  if (changes.length > 0)
    await tx`
      update vm_rule_changes set undone_at = ${now} where id in ${tx(changes.map(({ id }) => id))}`;
  await refreshFindings(tx, rated, now);
  return {
    last: changes.at(-1)?.id ?? 0,
    undone,
    kept: changes.filter(({ member }) => member !== 'notice').length - undone,
    isAll: changes.length < most,
  };
}

/** False where the finding is no longer what the rule had made of it: then a person wants it as it is. */
async function takeBack(tx: Tx, row: FindingRow, { member, before, after }: Done, actor: Actor, now: Date) {
  const set = async (columns: Record<string, unknown>): Promise<true> => {
    await tx`
      update vm_findings set ${tx({ ...columns, updated_at: now, version: row.version + 1 } as never)}
      where id = ${row.id}`;
    return true;
  };
  switch (member) {
    case 'tag':
      if (!row.tags.includes(after.is as string)) return false;
      return set({
        tags: json(
          tx,
          row.tags.filter((tag) => tag !== after.is),
        ),
      });
    case 'assignee':
      return row.assignee_id === after.is ? set({ assignee_id: null }) : false;
    case 'severity': {
      if (row.severity !== after.is || row.severity_basis !== 'person') return false;
      const [severity, basis] = before.is as [number, SeverityBasis];
      return set({ severity, severity_basis: basis });
    }
    case 'status': {
      if (row.status !== after.is) return false;
      const to = before.is as Status;
      await transition(tx, row, { to, by: 'policy', reason: 'what a rule did was undone' }, actor, now);
      return true;
    }
    default:
      return false; // what was said is said
  }
}
