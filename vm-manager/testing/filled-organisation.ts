// An organisation in which there is one of everything that an endpoint can name by an id, and for each endpoint a body
// that fits, so that what is tested is the one thing that a test changes.
import type { TestApp } from '#api/testing/app';
import type { onBothDatabases } from '#api/testing/databases';
import type { Endpoint } from '../kit/endpoint.js';
import { apiBodies, confinedApis, fillApis } from './api/filled-apis.js';
import { clusterRule, fillModels, insertEvent, modelBodies } from './api/filled-models.js';
import { allowed, bodiesOfRules, fixedIds, idsOfRules } from './api/fixed-ids.js';
import * as inserted from './api/inserted.js';
import { anyScan, channel, everyNight, gateBody, hook, mailChannel, runtimeEvent, tracker } from './api/some-bodies.js';
import { confinedRecords, fillWebhooks, insertViolation, newestEntry, recordBodies } from './api/records.js';
import { Client, type Json } from './import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

export interface Filled {
  readonly project: string;
  readonly application: string;
  readonly finding: string;
  /** What `:id` of the path stands for here. Throws for a module that it does not know. */
  idOf(path: string): string;
  /** Members that a body needs beyond its schema: ids, predicates, moments. */
  bodyOf(row: Pick<Endpoint, 'method' | 'path'>): Json;
  /** Modules whose objects belong to the application or its project. */
  readonly confined: ReadonlySet<string>;
}

const moduleOf = (path: string): string => path.split('/:')[0] ?? path;
const later = '2026-04-01T00:00:00Z';
const answerOfControl = { reason: 'r', owner: 'o', expires_at: later };
const lastMonth = { period: { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z' } };
const predicate = { field: 'severity', op: 'eq', value: 'low' };

class Maker {
  readonly client: Client;
  constructor(client: Client) {
    this.client = client;
  }
  async post(url: string, body: object): Promise<Json> {
    const reply = await this.client.call('POST', url, body);
    if (reply.status >= 300) throw new Error(`POST ${url} → ${reply.status} ${reply.text}`);
    return reply.body;
  }
  async made(url: string, body: object): Promise<string> {
    return String((await this.post(url, body))['id']);
  }
}

async function fillAssets(make: Maker) {
  const project = await make.made('/projects', { name: 'filled' });
  const application = await make.made('/applications', {
    name: 'filled',
    environment: 'prod',
    business_criticality: 'critical',
    project_id: project,
  });
  const target = await make.made('/targets', { application_id: application, url: 'https://filled.example' });
  const finding = await make.made('/vulnerabilities', {
    application_id: application,
    title: 'Server-side request forgery in the zebra',
    severity: 'high',
    cwe: ['CWE-918'],
    reachable: true,
    location: 'GET /preview [url]',
  });
  await make.made('/vulnerabilities', {
    application_id: application,
    title: 'Orders of other zebras can be read',
    severity: 'high',
    cwe: ['CWE-639'],
  });
  return { project, application, target, finding };
}

async function fillOrganisationWide(
  make: Maker,
  database: Database,
  person: string,
  target: string,
): Promise<Record<string, string>> {
  const group = await make.made('/target-groups', { name: 'g' });
  await make.client.call('PUT', `/target-groups/${group}/targets`, { target_ids: [target] });
  await make.client.call('PUT', '/compliance/controls/pci-dss:6.2.4/attestation', {
    ...answerOfControl,
    answer: 'met',
  });
  return {
    ...fixedIds,
    '/users': person,
    '/rbac/roles': await make.made('/rbac/roles', { name: 'filled', permissions: ['view_findings'] }),
    '/rbac/grants': person,
    '/tokens': await make.made('/tokens', { name: 't', scopes: ['read'] }),
    '/target-groups': group,
    '/findings/views': await make.made('/findings/views', { name: 'v', query: predicate }),
    '/imports/mappings': await make.made('/imports/mappings', {
      name: 'm',
      format: 'json',
      rows_path: 'items',
      fields: { title: 't' },
    }),
    '/sla/policies': await make.made('/sla/policies', { name: 's', selector: predicate, matrix: { high: 3 } }),
    '/policies': await make.made('/policies', { name: 'p', predicate, action: 'violation' }),
    ...(await fillRules(make)),
    '/integrations': await make.made('/integrations', { name: 'tracker', ...tracker }),
    ...(await fillNotices(make, database)),
    '/gate/definitions': await make.made('/gate/definitions', gateBody),
    '/scans/profiles': await make.made('/scans/profiles', { name: 's', base: 'full', checks: ['no-csp'] }),
    ...(await inserted.insertEvidence(database)),
    '/templates': await make.made('/templates', { kind: 'ticket', name: 'own' }),
    '/k8s-posture/clusters': await make.made('/k8s-posture/clusters', { name: 'filled' }),
    '/k8s-runtime/rules': await make.made('/k8s-runtime/rules', clusterRule),
  };
}

async function fillNotices(make: Maker, { sql }: Database): Promise<Record<string, string>> {
  const id = await make.made('/notifications/channels', { name: 'c', ...channel });
  await make.made('/notifications/channels', { name: 'mail', ...mailChannel });
  const route = await make.made('/notifications/routes', { name: 'r', channel_id: id, events: [] });
  const [notice] = await sql<{ id: number }[]>`
    insert into vm_notices
      (route_id, channel_id, event_id, type, entity, entity_id, event, state, not_before, created_at)
    values (${route}, ${id}, '1', 'finding.created', 'finding', '1', ${sql.json({ title: null })}, 'failed',
      now(), now())
    returning id`;
  return {
    ...(await fillWebhooks(make, sql)),
    '/notifications/channels': id,
    '/notifications/routes': route,
    '/notifications/deliveries': String(notice?.id),
  };
}

async function fillRules(make: Maker): Promise<Record<string, string>> {
  const rule = await make.made('/rules', { name: 'r', predicate, effects: [{ set: 'notice' }] });
  const { body } = await make.client.call('POST', '/rules/runs');
  return { '/rules': rule, '/rules/runs': String(body['id']) };
}

async function fillFindings(make: Maker, application: string, finding: string): Promise<Record<string, string>> {
  const records = await fillOfFinding(make, application, finding);
  // own rules and acceptances are made by now: they decide which chains there are
  const chains = await make.client.call('GET', '/graph/attack-chains');
  const [chain] = chains.body['chains'] as Json[];
  return { ...records, '/graph/attack-chains': String(chain?.['id']) };
}

async function fillOfFinding(make: Maker, application: string, finding: string): Promise<Record<string, string>> {
  const ends = { expires_at: later };
  return {
    '/vulnerabilities': finding,
    '/findings/clusters': finding,
    '/comments': await make.made('/comments', { entity: 'finding', entity_id: finding, text: 'c' }),
    '/mutes': await make.made('/mutes', { name: 'm', application_id: application, predicate, reason: 'r', ...ends }),
    '/acceptances': await make.made('/acceptances', {
      title: 'a',
      decision: 'accept',
      vuln_ids: [finding],
      justification: 'j',
      ...ends,
    }),
    '/compliance/exceptions': await make.made('/compliance/exceptions', {
      ...answerOfControl,
      application_id: application,
      control: 'pci-dss:6.2.4',
    }),
    ...(await fillModels(make, application, finding)),
    '/assessments': await make.made('/assessments', { application_id: application, name: 'a' }),
    '/reports': await make.made('/reports', { format: 'html', scope: { application_id: application } }),
    '/runtime/events': await insertEvent(make, application),
    '/runtime/sensors': await make.made('/runtime/sensors', { application_id: application, name: 'filled' }),
  };
}

async function fillPipeline(make: Maker, application: string): Promise<Record<string, string>> {
  const sent = await make.client.send(application, 'title,severity,file\nOne,high,a.js\n', {
    format: 'csv',
    mode: 'sync',
    commit: 'abcdef1',
    branch: 'main',
  });
  if (sent.status >= 300) throw new Error(JSON.stringify(sent.body));
  const run = String(sent.body['id']);
  const evaluation = await make.post('/gate/evaluate', { application_id: application, commit: 'abcdef1' });
  return {
    '/imports': run,
    '/runs': run,
    '/gate/evaluations': String(evaluation['evaluation_id']),
    '/ci/runs': await make.made('/ci/runs', { application_id: application, commit: 'abcdef1', branch: 'main' }),
    '/ci/badge': await make.post(`/ci/badge/${application}`, {}).then(() => application),
    '/scm/hooks': await make.made('/scm/hooks', { ...hook, application_id: application }),
    '/sca/components': await listComponent(make, application),
    '/repositories': await make.made('/repositories', { name: 'filled', application_id: application }),
  };
}

/** One of everything in one project, made by an administrator. */
export async function fillOrganisation(at: TestApp, database: Database, admin: string): Promise<Filled> {
  const client = new Client(at, admin);
  const make = new Maker(client);
  const { project, application, target, finding } = await fillAssets(make);
  const person = await at.user('viewer');
  const ids: Readonly<Record<string, string>> = {
    ...(await fillOrganisationWide(make, database, person.id, target)),
    ...(await fillFindings(make, application, finding)),
    ...(await fillPipeline(make, application)),
    '/projects': project,
    '/applications': application,
    '/targets': target,
    ...idsOfRules,
    '/secrets': finding,
    '/sca/sboms': await inserted.insertSbom(database, application),
    '/secrets/allowlist': await make.made('/secrets/allowlist', allowed(application)),
    '/findings/deduplications': await inserted.insertDeduplication(database, application),
    '/containers/images': await inserted.insertImage(database, application),
    '/vpatches': await inserted.insertPatch(database, application, finding),
    ...(await inserted.insertScans(database, application, target)),
    ...(await fillApis(make, database, application)),
    '/schedules': await make.made('/schedules', {
      ...everyNight,
      kind: 'scan',
      payload: { target_id: target, profile: 'quick' },
    }),
  };
  const more: Readonly<Record<string, string>> = {
    '/sla/clocks': finding,
    '/audit': await newestEntry(database),
    '/policies/violations': await insertViolation(database.sql, ids['/policies'] ?? '', finding),
  };
  await make.post(`/reports/${ids['/reports']}/send`, { recipients: ['board@mail.example'] });
  return {
    project,
    application,
    finding,
    idOf(path) {
      const id = ids[moduleOf(path)] ?? more[moduleOf(path)];
      if (id === undefined && path.includes(':')) throw new Error(`the filled organisation has no ${path}`);
      return id ?? '1';
    },
    bodyOf: ({ method, path }) =>
      path === '/rules/order'
        ? { ids: [ids['/rules']] }
        : (bodiesOf(application, finding, target, person.id)[`${method} ${path}`] ?? {}),
    confined: new Set(confinedModules),
  };
}

async function listComponent(make: Maker, application: string): Promise<string> {
  const components = [{ type: 'library', name: 'zebra-lib', version: '1.0.0', purl: 'pkg:npm/zebra-lib@1.0.0' }];
  await make.client.send(application, { bomFormat: 'CycloneDX', specVersion: '1.5', components });
  const list = (await make.client.call('GET', `/sca/components?application_id=${application}`)).body['items'] as Json[];
  return String(list[0]?.['id']);
}

export const confinedModules = [
  ...confinedRecords,
  ...confinedApis,
  '/projects',
  '/applications',
  '/targets',
  '/vulnerabilities',
  '/comments',
  '/imports',
  '/sca/components',
  '/repositories',
  '/containers/images',
  '/secrets',
  '/secrets/allowlist',
  '/findings/deduplications',
  '/sca/sboms',
  '/mutes',
  '/acceptances',
  '/assessments',
  '/threat-models',
  '/compliance/exceptions',
  '/runs',
  '/scans',
  '/exploit/runs',
  '/schedules',
  ...Object.values(inserted.placesOfScans).map((path) => `${path}/scans`),
  '/graph/attack-chains',
  '/gate/evaluations',
  '/ci/runs',
  '/ci/badge',
  '/scm/hooks',
  '/reports',
  '/runtime/events',
  '/runtime/sensors',
  '/vpatches',
];

const bodiesOf = (application: string, finding: string, target: string, person: string): Record<string, Json> => ({
  ...recordBodies(application, finding),
  ...modelBodies(application, finding),
  ...apiBodies(application, target),
  'POST /projects': { name: 'new' },
  'POST /applications': { name: 'new', project_id: null },
  'PATCH /applications/:id': { external_id: 'other', name: 'other', project_id: null, status: 'active', site: null },
  'PUT /applications/:id/site': { site: null },
  'PATCH /projects/:id': { name: 'other' },
  'POST /targets': { application_id: application, url: 'https://new.example', ...anyScan },
  'PATCH /targets/:id': { url: 'https://other.example', ...anyScan },
  'POST /targets/:id/verify': { method: 'dns' },
  'PUT /targets/:id/auth-profile': { profile: null },
  'POST /scans': { target_id: target, profile_id: undefined },
  'POST /scans/profiles': { name: 'new', checks: ['no-csp'] },
  'PATCH /scans/profiles/:id': { name: 'other', checks: ['no-csp'] },
  'POST /target-groups/:id/scan': { profile_id: undefined },
  'POST /schedules': { ...everyNight, kind: 'feed', payload: { set: 'kev' } },
  'PATCH /schedules/:id': { name: 'other', payload: { target_id: target, profile: 'quick' } },
  'POST /exploit/runs': {
    target_id: target,
    technique: 'ssrf-metadata',
    vulnerability_id: undefined,
    replay_of: undefined,
    options: {},
  },
  'PUT /scan-switch': { halted: false },
  'POST /target-groups': { name: 'new' },
  'PATCH /target-groups/:id': { name: 'other' },
  'PUT /target-groups/:id/targets': { target_ids: [target] },
  'POST /vulnerabilities': { application_id: application, cvss_vector: null },
  'PATCH /vulnerabilities/:id': { cvss_vector: null },
  'POST /vulnerabilities/:id/transition': { to: 'fix_pending', canonical_id: undefined },
  'POST /vulnerabilities/:id/assign': { user_id: null },
  'POST /vulnerabilities/bulk': { ids: [finding], action: 'tag', add: ['x'], user_id: null },
  'POST /findings/query': { predicate, cursor: undefined },
  'POST /findings/views': { query: predicate },
  'POST /comments': { entity: 'finding', entity_id: finding },
  'POST /repositories': { name: 'new', application_id: application, url: null },
  'PATCH /repositories/:id': { name: 'other', url: null },
  'POST /repositories/:id/fetch': { branch: 'main' },
  'POST /repositories/:id/scan': { engines: ['secrets'], snapshot_id: undefined },
  ...bodiesOfRules,
  'POST /sca/match': { application_id: application },
  'PATCH /assessments/:id': { name: 'other', status: 'active', checklist: [] },
  'PATCH /imports/mappings/:id': { fields: { title: 't' } },
  'POST /imports/mappings': { fields: { title: 't' } },
  'POST /mutes': { name: 'new', application_id: application, predicate, expires_at: later },
  'PATCH /mutes/:id': { name: 'other', predicate, expires_at: later },
  'POST /mutes/preview': { application_id: application, predicate },
  'POST /acceptances': { vuln_ids: [finding], cve: undefined, project_id: undefined, expires_at: later },
  'POST /sla/policies': { name: 'new', selector: predicate, matrix: { high: 3 } },
  'PATCH /sla/policies/:id': { name: 'other', selector: predicate, matrix: { high: 3 } },
  'POST /policies': { name: 'new', predicate },
  'PATCH /policies/:id': { name: 'other', predicate },
  'POST /rules': { name: 'new', predicate, effects: [{ set: 'notice' }] },
  'PATCH /rules/:id': { name: 'other', predicate, effects: [{ set: 'notice' }] },
  'POST /notifications/channels': { ...channel, name: 'new', quiet: null },
  'PATCH /notifications/channels/:id': { name: 'other', config: channel.config, secret: channel.secret, quiet: null },
  'POST /notifications/routes': { name: 'new', predicate: null, template_id: null },
  'PATCH /notifications/routes/:id': { name: 'other', predicate: null, template_id: null, channel_id: undefined },
  'PUT /branding': { accent: '#3f51b5' },
  'POST /templates': { name: 'new' },
  'PATCH /templates/:id': { name: 'other' },
  'POST /templates/:id/render': { vulnerability_id: finding },
  'POST /templates/:id/restore': { version: null },
  'POST /integrations': { ...tracker, name: 'new' },
  'PATCH /integrations/:id': { name: 'other', config: tracker.config, secret: tracker.secret },
  'POST /integrations/:id/issues': { vuln_ids: [finding], key: undefined },
  'PUT /compliance/controls/:id/attestation': { expires_at: later, evidence: undefined, application_id: application },
  'POST /compliance/exceptions': {
    ...answerOfControl,
    evidence: undefined,
    application_id: application,
    control: 'pci-dss:6.2.4',
  },
  'POST /assessments': { application_id: application, checklist: [] },
  'POST /graph/attack-chains/explain': { hop_vuln_ids: [finding] },
  'POST /graph/attack-chains/what-if': { application_id: application, remove_vuln_ids: [finding], controls: [] },
  'POST /gate/definitions': { ...gateBody, name: 'new' },
  'PATCH /gate/definitions/:id': { ...gateBody, name: 'other' },
  'POST /gate/evaluate': { application_id: application, commit: 'abcdef1', baseline: 'abcdef2' },
  'POST /gate/evaluations/:id/override': { expires_at: later },
  'POST /ci/runs': { application_id: application, commit: 'abcdef1' },
  'POST /scm/hooks': { ...hook, name: 'new', repository: 'team/other', application_id: application },
  'PATCH /scm/hooks/:id': { name: 'other', secret: hook.secret },
  'POST /reports': { template_id: undefined, scope: { application_id: application } },
  'POST /reports/:id/send': { channel_id: null, recipients: undefined },
  'POST /reports/preview': { scope: { application_id: application } },
  'POST /runtime/events': { events: [{ ...runtimeEvent, application_id: application }] },
  'POST /runtime/heartbeat': { application_id: application },
  'POST /vpatches': {
    vulnerability_id: finding,
    parameter: undefined,
    request: { method: 'GET', uri: '/preview?url=http%3A%2F%2Fintranet.internal%2F' },
  },
  'POST /evidence': { ...lastMonth, framework: 'pci-dss', scope: { application_id: application }, sections: ['scans'] },
  'PATCH /evidence/:id': { keep_days: undefined, hold: false },
  'PATCH /evidence/files/:id': { keep_days: undefined, hold: false, controls: ['pci-dss:6.2.4'] },
  'POST /bi/query': { dataset: 'findings', measures: ['count'], dimensions: ['month:changed_at'], predicate },
  'POST /rbac/roles': { name: 'new', permissions: ['view_findings'] },
  'PATCH /rbac/roles/:id': { permissions: ['view_findings'] },
  'PUT /rbac/grants/:user_id': { items: [] },
  'PUT /rbac/grants': { principal: person, items: [] },
  'POST /rbac/check': { permission: 'view_findings', application_id: application },
  'POST /tokens': { expires_at: later, application_ids: [application], allowed_cidrs: ['192.0.2.0/24'] },
  'POST /users': { email: `new-${person}@example.org`, role: 'viewer', password: 'Quiet-river-stone-42' },
  'PATCH /users/:id': { role: 'viewer' },
});
