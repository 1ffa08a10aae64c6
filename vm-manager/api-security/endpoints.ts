// /api-security: operations as they are seen and declared, one of them with its requests, posture and its findings.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { authTruths, dataClasses, type ApiPort, type OperationDetail } from '../apis/port.js';
import { requireApplication } from '../assets/resources.js';
import { isPlace } from '../assets/site.js';
import { severityNames } from '../findings/words.js';
import { listOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../kit/endpoint.js';
import { List } from '../kit/list.js';
import { maskSecrets } from '../secrets/mask.js';
import { findingsOfOperations } from './findings.js';
import { requireApis } from './known-apis.js';
import { ConfirmClose, keepAsFindings } from './keep.js';
import { operationsOf, operationStates, sitesWithin, type Operation } from './operations.js';
import { hintOf, postureOf, PostureView } from './posture.js';
import { keptMax, recordsOf } from './records.js';
import { specificationEndpoints } from './spec-endpoints.js';
import { matrixEndpoints } from './matrix/endpoints.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });

const FindingView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  severity: OneOf(severityNames),
  rule_id: Type.String(),
  tool: Type.String(),
  application_id: Type.String(),
});

const operationView = {
  id: Type.String({ description: 'of its site, method and template: the same each time' }),
  site: Type.String(),
  applications: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  method: Type.String(),
  template: Type.String(),
  state: OneOf(
    operationStates,
    'declared: seen, and in a specification; shadow: seen, and in none; zombie: declared and never seen; ' +
      'undocumented: seen at a site that has no specification',
  ),
  deprecated: Type.Boolean(),
  specification: Nullable(Type.String()),
  needs_credentials: Nullable(Type.Boolean({ description: 'as declared; null: nothing is said of it' })),
  auth: OneOf(authTruths, 'what became of requests without credentials; unknown: nobody came without'),
  classification: Nullable(OneOf(dataClasses, 'null: it was never seen')),
  categories: Type.Array(Type.String({ description: 'kinds of personal data and secrets that went through it' })),
  regulations: Type.Array(Type.String()),
  risk: Type.Number({ minimum: 0, maximum: 5 }),
  band: Type.String(),
  hits: Type.Integer(),
  first_seen: Nullable(Time),
  last_seen: Nullable(Time),
  open_findings: Nullable(
    Type.Object(
      {
        total: Type.Integer(),
        worst: Nullable(OneOf(severityNames)),
        is_all: Type.Boolean({ description: 'false: there are so many that only the gravest were compared' }),
      },
      { description: 'null: you may not read findings' },
    ),
  ),
};
const OperationView = Type.Object(operationView);

type Sites = Awaited<ReturnType<typeof sitesWithin>>;
type Findings = Awaited<ReturnType<typeof findingsOfOperations>> | null;

const view = (
  one: Operation,
  more: { readonly categories: readonly string[]; readonly regulations: readonly string[] } | undefined,
  sites: Sites,
  findings: Findings,
) => {
  const own = findings?.byOperation.get(one.id) ?? [];
  return {
    ...{ id: one.id, site: one.site, method: one.method, template: one.template, state: one.state },
    applications: (sites.get(one.site) ?? []).map(({ id, name }) => ({ id: String(id), name })),
    ...{ deprecated: one.isDeprecated, specification: one.specification, needs_credentials: one.needsCredentials },
    ...{ auth: one.auth, classification: one.classification },
    ...{ categories: more?.categories ?? [], regulations: more?.regulations ?? [] },
    ...{ risk: one.risk, band: one.band, hits: one.hits },
    ...{ first_seen: one.firstSeen?.toISOString() ?? null, last_seen: one.lastSeen?.toISOString() ?? null },
    open_findings:
      findings === null ? null : { total: own.length, worst: own[0]?.severity ?? null, is_all: findings.isAll },
  };
};

async function joined(call: Call, sites: Sites, operations: readonly Operation[]): Promise<Findings> {
  const reach = call.caller.reach('view_findings', false);
  return reach === null ? null : findingsOfOperations(call.sql, reach, sites, operations);
}

/** Sites that the caller reaches, of one application where that is asked for. Throws 404 for one out of reach. */
async function sitesFor(call: Call, apis: ApiPort, application: string | undefined): Promise<Sites> {
  if (application !== undefined) await requireApplication(call.sql, call.reach, application);
  return sitesWithin(call.sql, call.reach, apis, application);
}

const sorts = {
  risk: (one: Operation) => one.risk,
  hits: (one: Operation) => one.hits,
  last_seen: (one: Operation) => one.lastSeen?.getTime() ?? 0,
} as const;
const sortWords = ['-risk', 'risk', '-hits', 'hits', '-last_seen', 'last_seen'] as const;

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const byPlace = (one: Operation, other: Operation): number =>
  byText(one.site, other.site) || byText(one.template, other.template) || byText(one.method, other.method);

const ListOfOperations = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 20_000, default: 0 })),
    cursor: Type.Optional(Type.String({ pattern: '^\\d{1,5}$', description: '`next_cursor` of the page before' })),
    sort: Type.Optional(OneOf(sortWords, '-risk, the default')),
    application_id: Type.Optional(Id),
    site: Type.Optional(Type.String({ maxLength: 200 })),
    q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the method and the template' })),
    method: Type.Optional(SomeOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])),
    state: Type.Optional(SomeOf(operationStates)),
    auth: Type.Optional(SomeOf(authTruths)),
    classification: Type.Optional(SomeOf(dataClasses)),
    risk_min: Type.Optional(Type.Number({ minimum: 0, maximum: 5 })),
  },
  closed,
);

const list = endpoint({
  method: 'GET',
  path: '/api-security/endpoints',
  permission: 'view_api_security',
  kind: 'A',
  summary: 'Operations of APIs, as traffic shows and specifications declare them, the riskiest first',
  query: ListOfOperations,
  answer: List(OperationView),
  handle: async (call) => {
    const apis = requireApis(call.host);
    const { limit = 50, cursor, sort = '-risk', site, q, risk_min: riskMin = 0, ...query } = call.query;
    const offset = cursor === undefined ? (query.offset ?? 0) : Number(cursor);
    const sites = await sitesFor(call, apis, query.application_id);
    const asked = [...sites.keys()].filter((name) => site === undefined || name === site);
    const { all, isAll } = await operationsOf(apis, asked);
    const words = q?.toLowerCase();
    const among = (name: 'method' | 'state' | 'auth' | 'classification') => {
      const given = query[name];
      const wanted = given === undefined ? null : new Set<string>(listOf(given));
      return (one: Operation): boolean => wanted?.has(one[name] ?? '') ?? true;
    };
    const tests = (['method', 'state', 'auth', 'classification'] as const).map(among);
    const found = all.filter(
      (one) =>
        one.risk >= riskMin &&
        (words === undefined || `${one.method} ${one.template}`.toLowerCase().includes(words)) &&
        tests.every((fits) => fits(one)),
    );
    const value = sorts[sort.replace('-', '') as keyof typeof sorts];
    const sign = sort.startsWith('-') ? -1 : 1;
    found.sort((one, other) => sign * (value(one) - value(other)) || byPlace(one, other));
    const page = found.slice(offset, offset + limit);
    const described = await apis.described(page);
    const more = new Map(described.map((one) => [`${one.site}\n${one.method}\n${one.template}`, one]));
    const findings = await joined(call, sites, page);
    return {
      items: page.map((one) => view(one, more.get(`${one.site}\n${one.method}\n${one.template}`), sites, findings)),
      ...{ total: found.length, total_is_estimate: !isAll, limit, offset },
      next_cursor: offset + limit < found.length ? String(offset + limit) : null,
    };
  },
});

const Sums = Type.Record(Type.String(), Type.Integer());
const DetailView = Type.Intersect([
  OperationView,
  Type.Object({
    findings: Nullable(Type.Array(FindingView)),
    statuses: Sums,
    credentials: Type.Record(
      Type.String(),
      Type.Object({ ok: Type.Integer(), denied: Type.Integer(), other: Type.Integer() }),
    ),
    parameters: Type.Record(Type.String(), Sums),
    personal_data: Type.Record(Type.String(), Sums),
    risk_parts: Type.Array(Type.Object({ factor: Type.String(), points: Type.Number(), why: Type.String() })),
    clients: Sums,
    samples: Type.Array(
      Type.Object({
        ...{ at: Time, request_id: Type.String(), uri: Type.String(), status: Type.Integer() },
        ...{ client: Type.String(), user_agent: Type.String() },
      }),
      { description: 'the newest requests, masked' },
    ),
    callers: Type.Array(Type.Object({ client: Type.String(), requests: Type.Integer(), last_at: Time })),
    waf_hits: Type.Array(
      Type.Object({
        ...{ at: Time, request_id: Type.String(), kind: Type.String(), verdict: Type.String() },
        ...{ rule_id: Nullable(Type.Integer()), uri: Type.String(), client: Type.String() },
      }),
    ),
    threats: Type.Array(
      Type.Object({
        ...{ id: Type.String(), kind: Type.String(), owasp: Type.String(), severity: Type.String() },
        ...{ reason: Type.String(), count: Type.Integer(), last_at: Time, status: Type.String() },
      }),
    ),
  }),
]);

function viewDetail(detail: OperationDetail | null) {
  const one = detail ?? null;
  return {
    statuses: one?.statuses ?? {},
    credentials: Object.fromEntries(
      Object.entries(one?.credentials ?? {}).map(([kind, [ok, denied, other]]) => [kind, { ok, denied, other }]),
    ),
    parameters: one?.parameters ?? {},
    personal_data: one?.personalData ?? {},
    risk_parts: one?.riskParts.map((part) => ({ ...part })) ?? [],
    clients: one?.clients ?? {},
    samples: (one?.samples ?? []).map(({ at, requestId, uri, status, client, userAgent }) => ({
      ...{ at: at.toISOString(), request_id: requestId, uri: maskSecrets(uri).slice(0, 1000), status, client },
      user_agent: userAgent.slice(0, 300),
    })),
    callers: (one?.callers ?? []).map(({ client, requests, lastAt }) => ({
      ...{ client, requests, last_at: lastAt.toISOString() },
    })),
    waf_hits: (one?.wafHits ?? []).map(({ at, requestId, kind, verdict, ruleId, uri, client }) => ({
      ...{ at: at.toISOString(), request_id: requestId, kind, verdict, rule_id: ruleId, client },
      uri: maskSecrets(uri).slice(0, 1000),
    })),
    threats: (one?.threats ?? []).map(({ id, kind, owasp, severity, reason, count, lastAt, status }) => ({
      ...{ id, kind, owasp, severity, reason, count, last_at: lastAt.toISOString(), status },
    })),
  };
}

const get = endpoint({
  method: 'GET',
  path: '/api-security/endpoints/:id',
  permission: 'view_api_security',
  kind: 'A',
  summary: 'One operation: newest requests (masked), who calls it, open findings, what the firewall met there, threats',
  answer: DetailView,
  handle: async (call) => {
    const apis = requireApis(call.host);
    const wanted = call.params['id'] ?? '';
    if (!/^[0-9a-f]{32}$/.test(wanted)) throw notFound('operation', wanted.slice(0, 60));
    const sites = await sitesFor(call, apis, undefined);
    const { all } = await operationsOf(apis, [...sites.keys()]);
    const one = all.find(({ id }) => id === wanted);
    if (one === undefined) throw notFound('operation', wanted);
    const detail = await apis.detail(one.site, one.method, one.template);
    const findings = await joined(call, sites, [one]);
    return {
      ...view(one, detail ?? undefined, sites, findings),
      findings: findings === null ? null : [...(findings.byOperation.get(one.id) ?? [])].slice(0, 200),
      ...viewDetail(detail),
    };
  },
});

const readPosture = endpoint({
  method: 'GET',
  path: '/api-security/posture',
  permission: 'view_api_security',
  kind: 'A',
  summary: 'How far traffic is covered by specifications, and what differs between the two, by site',
  query: Type.Object(
    { application_id: Type.Optional(Id), site: Type.Optional(Type.String({ maxLength: 200 })) },
    closed,
  ),
  answer: PostureView,
  handle: async (call) => {
    const apis = requireApis(call.host);
    const sites = await sitesFor(call, apis, call.query.application_id);
    const { site } = call.query;
    return postureOf(apis, sites, site ?? null);
  },
});

const keepPosture = endpoint({
  method: 'POST',
  path: '/api-security/posture',
  permission: 'edit_api_security',
  kind: 'R',
  summary: 'Keep what traffic and specifications of an application show as findings, one an operation and a rule',
  body: Type.Object(
    { application_id: Id, confirm_close: ConfirmClose },
    { ...closed, examples: [{ application_id: '1' }] },
  ),
  answer: Type.Object({
    import_id: Type.String(),
    gaps: Type.Integer(),
    hint: Nullable(Type.String({ description: 'why this says little: then nothing that seems gone is closed' })),
    report: Type.Unknown({ description: 'counts of the import: created, updated, reopened, closed and others' }),
  }),
  handle: async (call) => {
    const apis = requireApis(call.host);
    const id = toId(call.body.application_id, 'application');
    const { name } = await requireApplication(call.sql, call.reach, id);
    const [site = ''] = (await sitesWithin(call.sql, call.reach, apis, id)).keys();
    if (site === '') throw new ApiError('conflict', 'The application is archived: its traffic is not looked at.');
    const { gaps, total, ...posture } = await apis.posture(site, keptMax);
    const hint = hintOf({ ...posture, gaps: [], total }, isPlace(site), name);
    if (posture.specifications.length === 0 && posture.endpoints === 0)
      throw new ApiError('conflict', `There is nothing to look at: ${hint ?? 'neither a specification nor traffic'}.`);
    const kept = await keepAsFindings(call, {
      ...{ applicationId: id, tool: 'gatehouse-api-posture', label: 'Posture of APIs', scopeKey: 'api-posture' },
      records: await recordsOf(site, gaps, 'traffic'),
      // what did not come along may be what seems gone
      isWhole: gaps.length === total && hint === null,
      isCloseConfirmed: call.body.confirm_close === true,
      summary: `imported what the APIs of ${name} show`,
    });
    return { ...kept, gaps: total, hint };
  },
});

export const apiSecurityEndpoints: readonly Endpoint[] = [
  list,
  get,
  ...specificationEndpoints,
  readPosture,
  keepPosture,
  ...matrixEndpoints,
];
