// /k8s-runtime: what Falco and the audit logs of Kubernetes say, and rules over it.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf } from '../database.js';
import { isUnconfined } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkPredicate, PredicateSchema } from '../kit/predicate.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { placeOf } from './place.js';
import { priorities, readEvents, sources, type ClusterEvent } from './read.js';
import { eventFields, forgetOld, storeEvent, type ClusterRule } from './store.js';

const closed = { additionalProperties: false } as const;
const eventsMax = 500;
const bodyBytesMax = 4 * 1024 * 1024;
const rulesMax = 200;
const Id = Type.String({ maxLength: 20 });
const Free = Type.Unknown({ description: 'as the tool writes it' });

/** Falco sends one event as the body, an audit webhook an EventList, and batches are `events`. */
const Batch = Type.Object(
  {
    events: Type.Optional(Type.Array(Free, { minItems: 1, maxItems: eventsMax })),
    items: Type.Optional(Type.Array(Free, { minItems: 1, maxItems: eventsMax, description: 'of an EventList' })),
    rule: Type.Optional(Type.String({ maxLength: 1000, description: 'of a single event of Falco, with its members' })),
  },
  {
    additionalProperties: true,
    examples: [
      {
        events: [
          {
            rule: 'Terminal shell in container',
            priority: 'Notice',
            time: '2026-02-28T10:00:00.000000000Z',
            output: 'A shell was started in a container',
            output_fields: { 'k8s.ns.name': 'shop', 'k8s.pod.name': 'web-7d4b9c6f5d-x2x9k' },
          },
        ],
      },
    ],
  },
);

const eventsOf = (body: Readonly<Record<string, unknown>>): readonly unknown[] => {
  if (Array.isArray(body['events'])) return body['events'];
  if (Array.isArray(body['items'])) return body['items'];
  if (typeof body['rule'] === 'string') return [body];
  throw unfit('/events', 'is missing', 'send {"events": […]}, an EventList of an audit webhook, or one event of Falco');
};

const send = endpoint({
  method: 'POST',
  path: '/k8s-runtime/events',
  permission: 'ingest_runtime',
  kind: 'I',
  summary: `Events of Falco or of the audit log of Kubernetes, at most ${eventsMax} at once`,
  query: Type.Object(
    {
      cluster: Type.Optional(Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9._-]*$' })),
      application_id: Type.Optional(Id),
    },
    closed,
  ),
  raw: { bytesMax: bodyBytesMax },
  body: Batch,
  status: 202,
  answer: Type.Object({
    accepted: Type.Integer({ description: 'new rows' }),
    counted: Type.Integer({ description: 'like one that began within five minutes, which counts them' }),
    deduped: Type.Integer({ description: 'events that were here already' }),
    skipped: Type.Integer({ description: 'stages of audited requests that a later event completes' }),
    unmapped: Type.Integer({ description: 'accepted, and of no application' }),
    hits: Type.Integer({ description: 'rules that hold' }),
    linked: Type.Integer({ description: 'new events that a finding rests on' }),
    refused: Type.Array(Type.Object({ index: Type.Integer(), reason: Type.String() })),
  }),
  handle: async (call) => {
    const { cluster = '', application_id: application } = call.query;
    const given = eventsOf(call.body);
    const { events, skipped, refused } = readEvents(given, cluster, call.now);
    if (application === undefined && !isUnconfined(call.reach))
      throw unfit('application_id', 'is missing', 'your token or grant is of a part: say which application it is');
    return call.audited(
      'vm.import',
      (made: { accepted: number }) => `sent ${made.accepted} events of clusters`,
      async (tx) => {
        // batches one after another: two of them may count into the same rows, and hold the same events
        await tx`select pg_advisory_xact_lock(hashtext('vm_k8s_events'))`;
        const made = { accepted: 0, counted: 0, deduped: 0, skipped, unmapped: 0, hits: 0, linked: 0, refused };
        const named = application === undefined ? null : await requireApplication(tx, call.reach, application);
        const rules = await tx<ClusterRule[]>`
          select name, predicate, effect, severity, cwe from vm_k8s_rules where enabled order by id`;
        await forgetOld(tx, call.now);
        for (const event of events) {
          const place =
            named === null
              ? await placeOf(tx, call.reach, event)
              : { applicationId: named.id, projectId: named.project_id };
          const stored = await storeEvent(tx, event, place, rules, call.caller.actor, call.now);
          if (stored.outcome === 'known') made.deduped++;
          if (stored.outcome === 'counted') made.counted++;
          if (stored.outcome !== 'accepted') continue;
          made.accepted++;
          made.hits += stored.hits;
          if (place === null) made.unmapped++;
          if (stored.linked) made.linked++;
        }
        return made;
      },
    );
  },
});

const EventView = Type.Object({
  id: Type.String(),
  application_id: Nullable(Type.String({ description: 'null: its workload is of no application' })),
  vuln_id: Nullable(Type.String()),
  source: OneOf(sources),
  cluster: Type.String(),
  rule: Type.String(),
  priority: OneOf(priorities),
  namespace: Type.String(),
  workload: Type.String(),
  pod: Type.String(),
  container: Type.String(),
  image: Type.String(),
  verb: Type.String(),
  resource: Type.String(),
  username: Type.String(),
  outcome: Type.String(),
  output: Type.String(),
  hits: Type.Array(Type.String()),
  times: Type.Integer(),
  first_at: Time,
  last_at: Time,
});

interface EventRow extends Omit<ClusterEvent, 'at' | 'hash'> {
  readonly id: number;
  readonly application_id: number | null;
  readonly finding_id: number | null;
  readonly hits: readonly string[];
  readonly times: number;
  readonly first_at: Date;
  readonly last_at: Date;
}

const idOf = (id: number | null): string | null => (id === null ? null : String(id));
const view = (row: EventRow) => ({
  ...{ id: String(row.id), application_id: idOf(row.application_id), vuln_id: idOf(row.finding_id) },
  ...{ source: row.source, cluster: row.cluster, rule: row.rule, priority: priorities[row.priority] ?? 'debug' },
  ...{ namespace: row.namespace, workload: row.workload, pod: row.pod, container: row.container, image: row.image },
  ...{ verb: row.verb, resource: row.resource, username: row.username, outcome: row.outcome, output: row.output },
  ...{ hits: row.hits, times: row.times, first_at: row.first_at.toISOString(), last_at: row.last_at.toISOString() },
});

const sorts = { last_at: { column: 'last_at', type: 'time' }, times: { column: 'times', type: 'number' } } as const;
const visible = visibleByApplication('vm_k8s_events');

const list = endpoint({
  method: 'GET',
  path: '/k8s-runtime/events',
  permission: 'view_k8s',
  kind: 'A',
  summary: 'Events of clusters, the newest first; those of no application for who reaches the whole organisation',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      application_id: Type.Optional(Id),
      vuln_id: Type.Optional(Id),
      source: Type.Optional(SomeOf(sources)),
      namespace: Type.Optional(Type.String({ maxLength: 100 })),
      workload: Type.Optional(Type.String({ maxLength: 300 })),
      hit: Type.Optional(Type.Boolean({ description: 'true: only those that a rule holds of' })),
    },
    closed,
  ),
  answer: List(EventView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, vuln_id: finding, source, namespace, workload, hit } = query;
    const where = allOf(sql, [
      visible(sql, reach),
      ...(application === undefined ? [] : [sql`application_id = ${toId(application, 'application')}`]),
      ...(finding === undefined ? [] : [sql`finding_id = ${toId(finding, 'finding')}`]),
      ...(source === undefined ? [] : [hasOneOf(sql, 'source', source)]),
      ...(namespace === undefined ? [] : [sql`namespace = ${namespace}`]),
      ...(workload === undefined ? [] : [sql`workload = ${workload}`]),
      ...(hit === undefined ? [] : [sql`(hits <> '[]') = ${hit}`]),
    ]);
    const page = await readPage<EventRow>(sql, { table: 'vm_k8s_events', where, sorts, sort: '-last_at' }, query);
    return { ...page, items: page.items.map(view) };
  },
});

const rules: Resource = {
  path: '/k8s-runtime/rules',
  noun: 'rule of clusters',
  table: 'vm_k8s_rules',
  ofOrganisation: 'Rules of clusters',
  view: 'view_k8s',
  edit: 'edit_k8s',
  defaultSort: 'name',
  visible: (sql) => sql`true`,
  only: ['list', 'create', 'patch', 'delete'],
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    predicate: { schema: PredicateSchema, as: 'json', write: 'always', required: true },
    effect: {
      schema: OneOf(
        ['note', 'finding', 'proof'],
        'note: the event is marked; finding: it makes a finding, or is tied to the one of its weakness there; proof: ' +
          'that one is proven at run time, too',
      ),
      as: 'plain',
      write: 'always',
      required: true,
    },
    severity: { schema: OneOf(['critical', 'high', 'medium', 'low']), as: 'plain', write: 'always' },
    cwe: { schema: Nullable(Type.Integer({ minimum: 1, maximum: 99_999 })), as: 'plain', write: 'always' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call: Call, values, before) => {
    if (values['predicate'] !== undefined) checkPredicate(values['predicate'], eventFields);
    const [effect, cwe] = [values['effect'] ?? before?.['effect'], values['cwe'] ?? before?.['cwe'] ?? null];
    if (effect === 'proof' && (cwe === null || values['cwe'] === null))
      throw unfit('/cwe', 'is missing', 'a proof is of a weakness: say which');
    if (before !== null) return;
    values['created_by'] = call.caller.actor.name;
    const [count] = await tx<{ n: number }[]>`select count(*)::int as n from vm_k8s_rules`;
    if ((count?.n ?? 0) >= rulesMax) throw new ApiError('conflict', `There are ${rulesMax} rules, which is the most.`);
  },
};

export const k8sRuntimeEndpoints: readonly Endpoint[] = [send, list, ...resourceEndpoints(rules)];
