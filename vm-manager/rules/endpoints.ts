// /rules: what is done with findings by itself; in order, tried before, and undone where it was wrong.
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Name } from '../assets/resources.js';
import { allOf, type Sql, type Tx } from '../database.js';
import { findingFields, FindingView, viewFinding, type FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { checkPredicate, PredicateSchema, toSql } from '../kit/predicate.js';
import { requireRow, resourceEndpoints, toView, viewSchema, type Resource } from '../kit/resource.js';
import { readPast, readRules } from './apply.js';
import { checkEffects, EffectsSchema, plan, type Effect, type Rule } from './effects.js';
import { followRules } from './mutes.js';
import { queueStored, RuleRunView, usable, viewRuleRun, workOn, type RuleRun } from './runs.js';

const closed = { additionalProperties: false } as const;
const rulesMax = 200;
/** An answer within a second or so; what takes longer goes on, and is asked for again. */
const answerMs = 1500;

const rules: Resource = {
  path: '/rules',
  noun: 'rule',
  table: 'vm_rules',
  ofOrganisation: 'Rules',
  view: 'view_policies',
  edit: 'manage_rules',
  defaultSort: 'position',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    position: { schema: Type.Integer(), as: 'plain', write: 'never', sort: 'number' },
    predicate: { schema: PredicateSchema, as: 'json', write: 'always', required: true },
    effects: { schema: EffectsSchema, as: 'json', write: 'always', required: true },
    stop: { schema: Type.Boolean(), as: 'plain', write: 'always' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    revision: { schema: Type.Integer(), as: 'plain', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  ask: async (call, values) => {
    await checkPeople(call, (values['effects'] ?? []) as Effect[]);
  },
  check: async (tx, call, values, before) => {
    if (values['predicate'] !== undefined) checkPredicate(values['predicate'], findingFields);
    if (values['effects'] !== undefined) checkEffects(values['effects'] as Effect[], call.now);
    if (before !== null) {
      if (values['predicate'] !== undefined || values['effects'] !== undefined)
        values['revision'] = Number(before['revision']) + 1;
      return;
    }
    const [last] = await tx<{ n: number; most: number | null }[]>`
      select count(*)::int as n, max(position) as most from vm_rules`;
    if ((last?.n ?? 0) >= rulesMax) throw new ApiError('conflict', `There are ${rulesMax} rules, which is the most.`);
    values['position'] = (last?.most ?? -1) + 1;
    values['created_by'] = call.caller.actor.name;
  },
  after: async (tx, call) => void (await followRules(tx, call.caller.actor, call.now)),
  beforeDelete: async (tx, call, row) => {
    await tx`update vm_rules set enabled = false where id = ${row.id}`;
    await followRules(tx, call.caller.actor, call.now); // what it had muted comes back
  },
};

async function checkPeople({ host }: Call, effects: readonly Effect[]): Promise<void> {
  for (const [at, { set, value = '' }] of effects.entries())
    if (set === 'assignee' && (await host.identity.owner(value)) === null)
      throw unfit(`/effects/${at}/value`, 'is the id of no active user');
}

const order = endpoint({
  method: 'PUT',
  path: '/rules/order',
  permission: 'manage_rules',
  ofOrganisation: 'Rules',
  kind: 'B',
  summary: 'The order in which rules are asked: the ids of all of them',
  body: Type.Object(
    { ids: Type.Array(Type.String({ maxLength: 20 }), { maxItems: rulesMax, uniqueItems: true }) },
    closed,
  ),
  answer: Type.Object({ items: Type.Array(viewSchema(rules)) }),
  handle: async (call) => {
    const { ids } = call.body;
    return call.audited(
      'vm.update',
      'changed the order of the rules',
      async (tx) => {
        const rows = await tx<{ id: number }[]>`select id from vm_rules for update`;
        const there = new Set(rows.map(({ id }) => String(id)));
        const unknown = ids.findIndex((id) => !there.has(id));
        if (unknown >= 0) throw unfit(`/ids/${unknown}`, 'is the id of no rule');
        if (ids.length !== there.size)
          throw unfit('/ids', `names ${ids.length} of ${there.size} rules`, 'name each once');
        for (const [position, id] of ids.entries())
          await tx`
            update vm_rules set position = ${position}, version = version + 1, updated_at = ${call.now}
            where id = ${id} and position <> ${position}`;
        await followRules(tx, call.caller.actor, call.now);
        const ordered = await tx<never[]>`select * from vm_rules order by position, id`;
        return { items: ordered.map((row) => toView(rules, row)) };
      },
      () => call.body,
    );
  },
});

const lookedAtMax = 5000;
const sampleMax = 20;

const dryRun = endpoint({
  method: 'POST',
  path: '/rules/:id/dry-run',
  permission: 'view_policies',
  kind: 'B',
  reads: true,
  summary: 'What a rule would do to the open findings there are, in its place among the others, in force or not',
  answer: Type.Object({
    matched: Type.Integer({ description: 'open findings that its predicate holds for' }),
    looked_at: Type.Integer({ description: `of these, the most urgent ${lookedAtMax} at most` }),
    would_change: Type.Integer({ description: 'of those, how many would be changed or muted by it' }),
    sample: Type.Array(
      Type.Object({
        finding: FindingView,
        changes: Type.Array(Type.Object({ member: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
      }),
    ),
  }),
  handle: async ({ host, sql, reach, params, now }) => {
    const row = (await requireRow(sql, rules, reach, params['id'] ?? '')) as unknown as Rule;
    const where = allOf(sql, [
      visibleFindings(sql, reach),
      sql`is_open and source <> 'quality'`,
      toSql(sql, row.predicate, findingFields, now),
    ]);
    const [count] = await sql<{ n: number }[]>`select count(*) as n from vm_findings where ${where}`;
    const found = await sql<FindingRow[]>`
      select * from vm_findings where ${where} order by priority_score desc, id limit ${lookedAtMax}`;
    const tried = await tryOn(sql, row, await usable(host, await rulesWith(sql, row)), found, now);
    return { matched: count?.n ?? 0, looked_at: found.length, ...tried };
  },
});

async function tryOn(sql: Sql, rule: Rule, all: readonly Rule[], found: readonly FindingRow[], now: Date) {
  const past = await readPast(
    sql,
    found.map(({ id }) => id),
  );
  const mute = rule.effects.find(({ set }) => set === 'mute');
  const before = all.slice(
    0,
    all.findIndex(({ id }) => id === rule.id),
  );
  const tried = found.flatMap((row) => {
    const changes = plan(all, row, past, now).changes.filter((change) => change.rule.id === rule.id);
    const own = changes.map(({ member, before: was, after }) => ({ member: member as string, before: was, after }));
    const isStopped = before.some(
      (other) =>
        other.stop && plan([{ ...other, effects: [{ set: 'notice' }] }], row, new Map(), now).changes.length > 0,
    );
    if (mute !== undefined && !isStopped) own.push({ member: 'mute', before: row.status, after: mute.until });
    return own.length === 0 ? [] : [{ row, own }];
  });
  return {
    would_change: tried.length,
    sample: tried.slice(0, sampleMax).map(({ row, own }) => ({ finding: viewFinding(row, now), changes: own })),
  };
}

/** Those in force, and this one at its place. */
async function rulesWith(sql: Sql, rule: Rule): Promise<readonly Rule[]> {
  const inForce = await readRules(sql);
  if (inForce.some(({ id }) => id === rule.id)) return inForce;
  const ids = await sql<{ id: number }[]>`
    select id from vm_rules where enabled or id = ${rule.id} order by position, id`;
  const byId = new Map([...inForce, rule].map((one) => [one.id, one]));
  return ids.flatMap(({ id }) => byId.get(id) ?? []);
}

const run = endpoint({
  method: 'POST',
  path: '/rules/runs',
  permission: 'manage_rules',
  ofOrganisation: 'Rules',
  kind: 'R',
  summary: 'Apply the rules in force to all open findings; ask for the run until it has succeeded',
  status: 202,
  answer: RuleRunView,
  handle: async (call) => {
    const made = await call.audited(
      'vm.update',
      (begun: RuleRun) => `applied the rules to all open findings, run ${begun.id}`,
      (tx) => queueStored(tx, call.caller.actor, call.now),
    );
    return viewRuleRun(await workOn(call.host, made.id, answerMs));
  },
});

const undo = endpoint({
  method: 'POST',
  path: '/rules/runs/:id/undo',
  permission: 'manage_rules',
  ofOrganisation: 'Rules',
  kind: 'S',
  summary: 'Take back what a run did, but for what was changed again since; rules do not do it to these findings again',
  status: 202,
  answer: RuleRunView,
  handle: async (call) => {
    const id = Number(toId(call.params['id'] ?? '', 'run of rules'));
    await call.audited('vm.update', `undoes the run ${id} of the rules`, (tx) => beginUndo(tx, id));
    return viewRuleRun(await workOn(call.host, id, answerMs));
  },
});

async function beginUndo(tx: Tx, id: number): Promise<void> {
  const [row] = await tx<RuleRun[]>`select * from vm_rule_runs where id = ${id} for update`;
  if (row === undefined) throw notFound('run of rules', String(id));
  if (row.status !== 'succeeded')
    throw new ApiError(
      'conflict',
      row.status === 'queued' || row.status === 'running'
        ? 'The run is still under way.'
        : 'The run is undone already.',
    );
  await tx`
    update vm_rule_runs set status = 'undoing', reached = 0, changed = 0, kept = 0, finished_at = null
    where id = ${id}`;
}

const listRuns = endpoint({
  method: 'GET',
  path: '/rules/runs',
  permission: 'view_policies',
  kind: 'R',
  summary: 'Runs of the rules, the newest first: each import, and each time they were applied to what is stored',
  query: Type.Object({ ...ListQuery }, closed),
  answer: List(RuleRunView),
  handle: async ({ sql, reach, query }) => {
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const where = reach.all ? sql`true` : sql`false`;
    const page = await readPage<RuleRun>(sql, { table: 'vm_rule_runs', where, sorts, sort: '-id' }, query);
    return { ...page, items: page.items.map(viewRuleRun) };
  },
});

const oneRun = endpoint({
  method: 'GET',
  path: '/rules/runs/:id',
  permission: 'view_policies',
  kind: 'R',
  summary: 'One run of the rules',
  answer: RuleRunView,
  handle: async ({ sql, reach, params }) => {
    const id = toId(params['id'] ?? '', 'run of rules');
    const [row] = reach.all ? await sql<RuleRun[]>`select * from vm_rule_runs where id = ${id}` : [];
    if (row === undefined) throw notFound('run of rules', id);
    return viewRuleRun(row);
  },
});

/** What has names of its own stands before what has an id. */
export const ruleEndpoints: readonly Endpoint[] = [
  order,
  listRuns,
  oneRun,
  run,
  undo,
  ...resourceEndpoints(rules),
  dryRun,
];
