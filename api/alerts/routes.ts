// Alert rules over the API.
import { randomUUID } from 'node:crypto';
import { Type, type Static } from '@sinclair/typebox';
import { keptSecret } from '#settings';
import { ApiError, closed, Nullable, OneOf, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import type { Tx } from '../db/client.js';
import { endState, isAnother, tellEnd } from './end.js';
import type { AlertParts } from './job.js';
import { alertStates } from './machine.js';
import { requireReachable } from '../outbound/reachable.js';
import { notify, type Told } from './notify.js';
import { checkTarget, RuleBody, shownTarget, toRow, type AlertRule } from './rule.js';
import { findRule, listRules, listStates, putRule, type StateRow } from './store.js';
import { explain, type Why } from './why.js';

const tags = ['alerts'];
/** More than people write; what a round evaluates is bounded by it. */
const rulesMax = 200;

const StateName = OneOf(alertStates);
const RuleView = Type.Object({
  ...RuleBody.properties,
  id: Type.String(),
  secret: Nullable(Type.String({ description: 'asterisks, or null: there is none' })),
  state: StateName,
  since: Nullable(Time),
  value: Nullable(Type.Number({ description: 'of the last evaluation' })),
  evaluated_at: Nullable(Time),
});
const Id = Type.Object({ id: Type.String({ maxLength: 64 }) }, closed);
const one = { 200: RuleView, ...refusals };
const listSchema = {
  tags,
  summary: 'Alert rules with their states',
  response: { 200: Type.Object({ items: Type.Array(RuleView) }), ...refusals },
};
const createSchema = { tags, summary: 'Add an alert rule', body: RuleBody, response: { 201: RuleView, ...refusals } };
const getSchema = { tags, summary: 'An alert rule with its state', params: Id, response: one };
const putSchema = {
  tags,
  summary:
    'Replace an alert rule; one that measures another thing, notifies another place, or is switched off begins with a ' +
    'new state, and the channel of one that fires is notified that it is over',
  params: Id,
  body: RuleBody,
  response: one,
};
const deleteSchema = {
  tags,
  summary: 'Remove an alert rule with its history',
  params: Id,
  response: { 204: Type.Null(), ...refusals },
};
const TestBody = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 64, description: 'a rule: its channel is tried' })),
    type: Type.Optional(RuleBody.properties.type),
    target: Type.Optional(RuleBody.properties.target),
    secret: RuleBody.properties.secret,
    endpoint: RuleBody.properties.endpoint,
  },
  closed,
);
const testSchema = {
  tags,
  summary: 'Send a test notice, now: to the channel of a rule, or to `type` and `target`',
  body: TestBody,
  response: {
    200: Type.Object({ sent: Type.Boolean(), reason: Nullable(Type.String({ description: 'why it was not' })) }),
    ...refusals,
  },
};
const WhyView = Type.Object({
  state: StateName,
  since: Nullable(Time),
  evaluated_at: Nullable(Time),
  window: Type.Object({ from: Time, to: Time }),
  requests: Type.Integer(),
  blocked: Type.Integer(),
  errors: Type.Integer(),
  value: Nullable(Type.Number()),
  comparison: Type.String(),
  threshold: Type.Number(),
  holds: Type.Boolean({ description: 'now' }),
  pending_until: Nullable(Time),
  cooldown_until: Nullable(Time),
  reasons: Type.Array(Type.String(), { description: 'in sentences' }),
  history: Type.Array(Type.Object({ at: Time, from: StateName, to: StateName, value: Nullable(Type.Number()) })),
  notices: Type.Array(
    Type.Object({
      action: Type.String(),
      at: Time,
      attempts: Type.Integer(),
      ended_at: Nullable(Time),
      outcome: Nullable(Type.String()),
    }),
  ),
});
const whySchema = {
  tags,
  summary: 'Why a rule fires, or does not: value, threshold, cooldown, history, and what became of its notices',
  params: Id,
  response: { 200: WhyView, ...refusals },
};

function view(rule: AlertRule, state: StateRow | undefined, parts: AlertParts): Static<typeof RuleView> {
  return {
    id: rule.id,
    name: rule.name,
    enabled: rule.enabled,
    metric: rule.metric,
    comparison: rule.comparison,
    threshold: rule.threshold,
    window_min: rule.window_min,
    for_min: rule.for_min,
    cooldown_min: rule.cooldown_min,
    repeat: rule.repeats,
    site: rule.site,
    severity: rule.severity,
    type: rule.type,
    target: shownTarget(rule, parts.sealing),
    secret: rule.secret_sealed === null ? null : keptSecret,
    endpoint: rule.endpoint,
    state: state?.state ?? 'ok',
    since: state?.since.toISOString() ?? null,
    value: state?.value ?? null,
    evaluated_at: state?.evaluated_at.toISOString() ?? null,
  };
}

export function registerAlertRoutes(app: App, parts: AlertParts): void {
  const { sql } = parts.database;
  const find = async (id: string): Promise<AlertRule> => {
    const rule = await findRule(sql, id);
    if (rule === null) throw new ApiError('not_found', `There is no alert rule ${id}; GET /api/alerts lists them.`);
    return rule;
  };
  const stateOf = async (id: string): Promise<StateRow | undefined> =>
    (await listStates(sql)).find(({ rule_id: of }) => of === id);
  app.get('/api/alerts', { schema: listSchema }, async () => {
    const states = await listStates(sql);
    const rules = await listRules(sql);
    return {
      items: rules.map((rule) =>
        view(
          rule,
          states.find(({ rule_id: id }) => id === rule.id),
          parts,
        ),
      ),
    };
  });
  app.get('/api/alerts/:id', { schema: getSchema }, async ({ params: { id } }) =>
    view(await find(id), await stateOf(id), parts),
  );
  app.get('/api/alerts/:id/why', { schema: whySchema }, async ({ params: { id } }) => {
    const rule = await find(id);
    const state = (await stateOf(id)) ?? null;
    return viewWhy(rule, state, await explain(sql, rule, state, new Date(parts.now())));
  });
  registerChanges(app, parts, find);
  app.post('/api/alerts/test', { schema: testSchema }, async ({ body }) => {
    const rule = await ruleToTry(body, parts, find);
    const told = { id: `test-${randomUUID()}`, action: 'test', at: new Date(parts.now()), value: null } as const;
    const sent = await notify(rule, told, parts);
    return { sent: sent.kind === 'sent', reason: sent.kind === 'sent' ? null : sent.reason };
  });
}

type Find = (id: string) => Promise<AlertRule>;

function registerChanges(app: App, parts: AlertParts, find: Find): void {
  const { sql } = parts.database;
  const save = (work: (tx: Tx) => Promise<void>, name: string): Promise<unknown> =>
    sql.begin(work).catch((error: unknown) => {
      if ((error as { code?: string }).code === '23505')
        throw new ApiError('conflict', `Another alert rule is called ${name}.`);
      throw error;
    });
  app.post('/api/alerts', { schema: createSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const rule = toRow(randomUUID(), request.body, null, parts.sealing, new Date(parts.now()));
    await requireReachable(parts.outbound, newTargets(request.body, null));
    await save(async (tx) => {
      const [count] = await tx<{ n: number }[]>`select count(*) as n from alert_rules`;
      if ((count?.n ?? 0) >= rulesMax) throw new ApiError('conflict', `There are ${rulesMax} alert rules already.`);
      await putRule(tx, rule);
      await parts.audit.record(tx, { actor, action: 'alert.create', summary: `added the alert rule ${rule.name}` });
    }, rule.name);
    return reply.code(201).send(view(rule, undefined, parts));
  });
  app.put('/api/alerts/:id', { schema: putSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const before = await find(request.params.id);
    const rule = toRow(before.id, request.body, before, parts.sealing, new Date(parts.now()));
    await requireReachable(parts.outbound, newTargets(request.body, shownTarget(before, parts.sealing)));
    const because = rule.enabled ? 'The rule was changed' : 'The rule was switched off';
    let told: Told | null = null;
    await save(async (tx) => {
      await putRule(tx, rule);
      if (isAnother(rule, before, parts)) told = await endState(tx, before, because, rule.updated_at);
      await parts.audit.record(tx, { actor, action: 'alert.update', summary: `changed the alert rule ${rule.name}` });
    }, rule.name);
    await tellEnd(parts, before, told);
    return view(
      rule,
      (await listStates(sql)).find(({ rule_id: id }) => id === rule.id),
      parts,
    );
  });
  app.delete('/api/alerts/:id', { schema: deleteSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const rule = await find(request.params.id);
    const { id, name } = rule;
    let told: Told | null = null;
    await sql.begin(async (tx) => {
      told = await endState(tx, rule, 'The rule was removed', new Date(parts.now()));
      await tx`delete from alert_rules where id = ${id}`;
      await parts.audit.record(tx, { actor, action: 'alert.delete', summary: `removed the alert rule ${name}` });
    });
    await tellEnd(parts, rule, told);
    return reply.code(204).send(null);
  });
}

/** Where notices would go that did not go there before; `shown`: the target until now, as readers see it. */
function newTargets(
  { type, target }: RuleBody,
  shown: string | null,
): { readonly target: string; readonly path: string }[] {
  const isUrl = type !== 'pagerduty' && URL.canParse(target) && target !== shown;
  return isUrl ? [{ target, path: '/target' }] : [];
}

/** The rule that is named, or one that exists for this call only. */
async function ruleToTry(body: Static<typeof TestBody>, parts: AlertParts, find: Find): Promise<AlertRule> {
  if (body.id !== undefined) return find(body.id);
  const { type, target } = body;
  if (type === undefined || target === undefined)
    throw new ApiError('validation_failed', 'Either id, or type and target are needed.', {
      errors: [{ path: '/id', reason: 'names no rule', fix: 'write id, or type and target' }],
    });
  checkTarget(type, target);
  const made = { name: 'test', metric: 'requests', threshold: 0, window_min: 5, cooldown_min: 0 } as const;
  const { secret = null, endpoint = '' } = body;
  return toRow(randomUUID(), { ...made, type, target, secret, endpoint }, null, parts.sealing, new Date(parts.now()));
}

function viewWhy(rule: AlertRule, state: StateRow | null, why: Why): Static<typeof WhyView> {
  const { measured, history, notices } = why;
  return {
    state: state?.state ?? 'ok',
    since: state?.since.toISOString() ?? null,
    evaluated_at: state?.evaluated_at.toISOString() ?? null,
    window: { from: measured.from.toISOString(), to: measured.to.toISOString() },
    requests: measured.requests,
    blocked: measured.blocked,
    errors: measured.errors,
    value: measured.value,
    comparison: rule.comparison,
    threshold: rule.threshold,
    holds: measured.holds,
    pending_until: why.pendingUntil?.toISOString() ?? null,
    cooldown_until: why.cooldownUntil?.toISOString() ?? null,
    reasons: [...why.reasons],
    history: history.map(({ at, from_state: from, to_state: to, value }) => ({
      at: at.toISOString(),
      from,
      to,
      value,
    })),
    notices: notices.map(({ action, at, attempts, ended_at: ended, outcome }) => ({
      action,
      at: at.toISOString(),
      attempts,
      ended_at: ended?.toISOString() ?? null,
      outcome,
    })),
  };
}
