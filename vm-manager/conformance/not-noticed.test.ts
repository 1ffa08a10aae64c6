// Part 2, section 5: what others have shows nowhere. Everything that somebody of one application may read is asked in
// every way that its row offers (values of each filter, order, group and format), then a sibling in the project and
// another project are filled with one of everything, with the same rules, packages and words; every answer is the
// same as before, to the byte: no row, number, facet, order, suggestion or export of theirs depends on it.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { endpoints } from '../endpoints.js';
import type { Endpoint } from '../kit/endpoint.js';
import { permissionNames } from '../kit/permissions.js';
import { fillOrganisation } from '../testing/filled-organisation.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

/** Of the whole organisation, and shown to whoever may read them: docs/imports.md, integrations, templates. */
const ofAll: readonly RegExp[] = [
  /^\/(?:integrations|templates|findings\/views|imports\/mappings|target-groups|people)(?:[/?]|$)/,
  /^\/(?:scans\/profiles|gate\/definitions|sla\/policies|policies|bi\/dashboards|rbac\/roles)(?:[/?]|$)/,
  /^\/(?:graph\/toxic-rules|k8s-runtime\/rules|reports\/channels)(?:[/?]|$)/,
  /^\/(?:secrets\/detectors|sast\/rules|iac\/rules|k8s-posture\/controls|branding)(?:[/?]|$)/,
];

interface Shape {
  readonly type?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly (string | number | boolean)[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly minimum?: number;
}

/** Values of a parameter that its schema names, and words that both sides have. */
function valuesOf(name: string, shape: Shape, own: Json): readonly string[] {
  const known = own[name] as string | undefined;
  if (known !== undefined) return [known];
  if (shape.const !== undefined) return [String(shape.const)];
  // of orders a few: all read the same rows
  if (shape.enum !== undefined) return shape.enum.map(String).slice(0, name === 'sort' ? 2 : 12);
  if (shape.anyOf !== undefined)
    return shape.anyOf.flatMap((one) => valuesOf(name, one, own)).slice(0, name === 'sort' ? 2 : 12);
  if (shape.items !== undefined) return valuesOf(name, shape.items, own);
  if (shape.type === 'boolean') return ['true', 'false'];
  if (name === 'limit' || name === 'offset') return ['1'];
  if (shape.type === 'integer' || shape.type === 'number') return [String(shape.minimum ?? 1)];
  return ['q', 'search', 'tag', 'name'].includes(name) ? ['zebra', 'left'] : [];
}

function waysOf(row: Endpoint, own: Json): string[] {
  const module = row.path.split('/:')[0] ?? row.path;
  const id = (own['ids'] as Json)[module] as string | undefined;
  if (row.path.includes('/:') && id === undefined) return [];
  const path = row.path.replace(/:\w+/, id ?? '');
  const parameters = Object.entries((row.query?.properties ?? {}) as unknown as Record<string, Shape>);
  const required = new Set((row.query?.required as readonly string[] | undefined) ?? []);
  const base = parameters.flatMap(([name, shape]) =>
    required.has(name) ? [[name, valuesOf(name, shape, own)[0] ?? '1'] as [string, string]] : [],
  );
  const ways = parameters.flatMap(([name, shape]) =>
    valuesOf(name, shape, own).map((value) => [...base.filter(([other]) => other !== name), [name, value]]),
  );
  return [base, ...ways].map((query) => `${path}?${new URLSearchParams(query as [string, string][]).toString()}`);
}

const sarif = (word: string) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'R1', properties: { tags: ['external/cwe/cwe-078'] } }] } },
      results: [1, 2, 3].map((line) => ({
        ...{ ruleId: 'R1', level: 'error', message: { text: `${word} ${line}` } },
        locations: [{ physicalLocation: { artifactLocation: { uri: `src/${word}.js` }, region: { startLine: line } } }],
      })),
    },
  ],
});
const bill = {
  ...{ bomFormat: 'CycloneDX', specVersion: '1.5' },
  components: [{ 'bom-ref': 'l', type: 'library', name: 'left', version: '1.0.0', purl: 'pkg:npm/left@1.0.0' }],
  vulnerabilities: [{ id: 'CVE-2021-44228', ratings: [{ severity: 'critical' }], affects: [{ ref: 'l' }] }],
};

/** An application with findings of each kind, a package and a chain. */
async function fill(t: Test, admin: Client, application_id: string, word: string): Promise<string> {
  for (const report of [sarif(word), bill]) t.equal((await admin.send(application_id, report)).status, 202);
  const made = await admin.call('POST', '/vulnerabilities', {
    ...{ application_id, title: `SSRF of the ${word}`, severity: 'critical', cwe: ['CWE-918'], reachable: true },
    tags: [word],
  });
  t.equal(made.status, 201, made.text);
  await admin.call('POST', '/threat-models', { application_id, name: word });
  await admin.call('POST', '/gate/evaluate', { application_id, commit: 'abcdef1' });
  return String(made.body['id']);
}

async function snapshot(client: Client, own: Json): Promise<ReadonlyMap<string, string>> {
  const all = new Map<string, string>();
  for (const row of endpoints) {
    if (row.method !== 'GET' || row.permission === 'public' || row.path.endsWith('/stream')) continue;
    for (const way of waysOf(row, own)) {
      const { status, text } = await client.call('GET', way);
      // an answer to a control that is given again is another row that says the same
      all.set(way, `${status} ${text.replace(/("attestation":\s*\{\s*"id":\s*)"\d+"/g, '$1"1"')}`);
    }
  }
  return all;
}

/** Where two texts part, with what stands around it. */
function difference(before: string, after: string): string {
  const at = [...before].findIndex((sign, index) => after[index] !== sign);
  const from = Math.max(0, (at < 0 ? before.length : at) - 80);
  return `${before.slice(from, from + 160)} → ${after.slice(from, from + 200)}`;
}

async function unnoticed(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = new Client(at, (await at.user('admin')).token);
  const make = async (url: string, body: object): Promise<string> =>
    String((await admin.call('POST', url, body)).body['id']);
  const project = await make('/projects', { name: 'shared' });
  const [mine, sibling] = await Promise.all(
    ['mine', 'sibling'].map((name) =>
      make('/applications', { name, project_id: project, environment: 'prod', business_criticality: 'critical' }),
    ),
  );
  const finding = await fill(t, admin, mine ?? '', 'own');
  const permissions = permissionNames.filter((one) => one !== 'manage_roles');
  await admin.call('POST', '/rbac/roles', { name: 'all', permissions });
  const { id, token } = await at.user('viewer');
  const items = [{ scope: 'application', scope_id: mine, role: 'all' }];
  const granted = await admin.call('PUT', `/rbac/grants/${id}`, { items, confined: true });
  t.equal(granted.status, 200, granted.text);
  const part = new Client(at, token);
  const ids = {
    ...{ '/applications': mine, '/projects': project, '/vulnerabilities': finding, '/ci/badge': mine },
    ...{ '/bi/datasets': 'findings', '/compliance/frameworks': 'pci-dss', '/compliance/controls': 'pci-dss:6.2.4' },
    ...{ '/threat-intel/cves': 'CVE-2021-44228', '/threat-models': '1', '/imports': '1', '/sca/components': '1' },
  };
  const own: Json = { application_id: mine, project_id: project, framework: 'pci-dss', ids };
  // an answer for the whole organisation is one for each part of it, and shown there
  const answer = { answer: 'met', reason: 'r', owner: 'o', expires_at: '2026-04-01T00:00:00Z' };
  await admin.call('PUT', '/compliance/controls/pci-dss:6.2.4/attestation', answer);
  const before = await snapshot(part, own);
  await fill(t, admin, sibling ?? '', 'zebra');
  await fillOrganisation(at, database, admin.token);
  const after = await snapshot(part, own);
  let compared = 0;
  for (const [way, said] of before) {
    if (ofAll.some((path) => path.test(way))) continue;
    const now = after.get(way) ?? '';
    compared++;
    if (now !== said) t.fail(`GET ${way} shows what others have: ${difference(said, now)}`);
  }
  t.ok(
    compared > 900,
    `${compared} questions, and ${[...before.values()].filter((one) => one.startsWith('200')).length}` +
      ' are answered',
  );
  const seen = [...before.values()].filter((one) => one.startsWith('200') && one.includes('own')).length;
  t.ok(seen > 50, `${seen} answers have something of their own`);
}

t.test('what others have is noticed by nobody, in any answer', (t) => onOneDatabase(t, 'not noticed', unnoticed));
