// Objects of Kubernetes that break a rule beside their twins that do not, in every way in which they are written.
import t from 'tap';
import { stringify } from 'yaml';
import type { Outcome } from '../contract.js';
import { scan } from '../run/scan.js';
import { openSource } from '../sources/open.js';
import { k8sEngine } from './engine.js';
import { k8sScanner } from './scanner.js';

const check = async (text: string): Promise<Outcome> => k8sEngine.take({ path: 'a.yaml', bytes: Buffer.from(text) });
const rulesOf = async (object: object): Promise<string[]> =>
  (await check(stringify(object))).findings.map(({ rule }) => rule);

const safe = {
  image: 'x.test/a:1',
  name: 'a',
  resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 20_000,
    runAsGroup: 20_000,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const pod = (spec: object, container: object = {}, kind = 'Pod', metadata: object = {}): object => {
  const made = { containers: [{ ...safe, ...container }], ...spec };
  const head = { apiVersion: 'v1', kind, metadata: { name: 'p', ...metadata } };
  if (kind === 'Pod') return { ...head, spec: made };
  if (kind === 'CronJob') return { ...head, spec: { jobTemplate: { spec: { template: { spec: made } } } } };
  return { ...head, spec: { template: { spec: made } } };
};
const context = (more: object): object => ({ securityContext: { ...safe.securityContext, ...more } });

t.test('a pod without a flaw has no finding, as any workload', async (t) => {
  for (const kind of ['Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'ReplicaSet'])
    t.same(await rulesOf(pod({}, {}, kind)), [], kind);
});

t.test('pods and containers', async (t) => {
  for (const [what, object, found] of [
    ['privileged', pod({}, context({ privileged: true })), ['k8s-privileged']],
    ['of a workload', pod({}, context({ privileged: true }), 'CronJob'), ['k8s-privileged']],
    [
      'of an init container',
      pod({ initContainers: [{ ...safe, ...context({ privileged: true }) }] }),
      ['k8s-privileged'],
    ],
    ['hostPID', pod({ hostPID: true }), ['k8s-host-pid']],
    ['hostPath', pod({ volumes: [{ name: 'v', hostPath: { path: '/etc' } }] }), ['k8s-host-path']],
    [
      'the socket',
      pod({ volumes: [{ name: 'v', hostPath: { path: '/var/run/docker.sock' } }] }),
      ['k8s-docker-socket', 'k8s-host-path'],
    ],
    [
      'root by a number',
      pod({}, context({ runAsUser: 0, runAsNonRoot: undefined })),
      ['k8s-runs-as-root', 'k8s-root-user', 'k8s-low-uid'],
    ],
    ['a number above 0 is nobody', pod({}, context({ runAsNonRoot: undefined })), []],
    [
      'what the pod says is inherited',
      pod(
        { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } },
        context({ runAsNonRoot: undefined, seccompProfile: undefined }),
      ),
      [],
    ],
    [
      'privileges are not inherited',
      pod({ securityContext: { allowPrivilegeEscalation: false } }, context({ allowPrivilegeEscalation: undefined })),
      ['k8s-privilege-escalation'],
    ],
    ['a digest is a tag', pod({}, { image: `x.test/a@sha256:${'a'.repeat(64)}` }), []],
    ['a port of the registry is none', pod({}, { image: 'x.test:5000/a' }), ['k8s-latest-tag']],
    ['latest', pod({}, { image: 'a:latest' }), ['k8s-latest-tag']],
  ] as const)
    t.same(await rulesOf(object), found, what);
});

t.test('rights, networks and configuration', async (t) => {
  const role = (rule: object, name = 'r'): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [rule],
  });
  const binding = (subject: object, to = 'cluster-admin'): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'b' },
    roleRef: { name: to },
    subjects: [subject],
  });
  const every = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
  for (const [what, object, found] of [
    ['everything', role(every), ['k8s-wildcard-role']],
    ['of the cluster itself', role(every, 'system:controller'), []],
    ['secrets', role({ resources: ['secrets'], verbs: ['get'] }), ['k8s-role-secrets']],
    ['named secrets', role({ resources: ['secrets'], verbs: ['get'], resourceNames: ['a'] }), []],
    ['exec', role({ resources: ['pods/exec'], verbs: ['create'] }), ['k8s-role-exec']],
    ['escalation', role({ resources: ['clusterroles'], verbs: ['bind'] }), ['k8s-role-escalation']],
    ['an administrator', binding({ kind: 'ServiceAccount', name: 'ci' }), ['k8s-cluster-admin']],
    ['the administrators', binding({ kind: 'Group', name: 'system:masters' }), []],
    ['everybody', binding({ kind: 'User', name: 'system:anonymous' }, 'view'), ['k8s-anonymous']],
    [
      'a secret',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { password: 's3cr3tValue9' } },
      ['k8s-config-map-secret'],
    ],
    [
      'a reference',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { password: '${PASSWORD}' } },
      [],
    ],
  ] as const)
    t.same(await rulesOf(object), found, what);
});

t.test('documents, lists, JSON and dumps are read; findings have the line of what is wrong', async (t) => {
  const bad = pod({}, context({ privileged: true }));
  const two = `${stringify(pod({}))}---\n${stringify(bad)}`;
  const { findings } = await check(two);
  t.match(findings, [{ rule: 'k8s-privileged', address: 'Pod/p' }]);
  t.match(two.split('\n')[(findings[0]?.line ?? 0) - 1], /privileged: true/);
  const list = { apiVersion: 'v1', kind: 'List', items: [bad, pod({})] };
  t.equal((await check(JSON.stringify(list, null, 2))).findings.length, 1, 'as kubectl writes it');
  t.equal((await check(stringify(list))).findings.length, 1);
});

const manyAliases = Array.from({ length: 30 }, (_, index) => `b${index}: [${'*a, '.repeat(20)}]\n`).join('');

t.test('what is no manifest is passed, what cannot be read is refused, templates are told', async (t) => {
  t.same((await check('a: 1\n')).scanned, []);
  t.match(await check('apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n'), {
    notScanned: [{ isFault: false }],
  });
  for (const text of ['apiVersion: v1\nkind: Pod\n  x: [\n', `apiVersion: v1\nkind: Pod\na: &a [x]\n${manyAliases}`])
    await t.rejects(async () => check(text));
});

t.test('rules have what a person needs', async (t) => {
  t.equal(new Set(k8sScanner.rules.map(({ id }) => id)).size, k8sScanner.rules.length, 'each id once');
  for (const { id, description, remediation } of k8sScanner.rules)
    t.ok(description.length > 15 && remediation.length > 8, id);
});

t.test('what a file is follows from its documents, and what is not looked at is named', async (t) => {
  const flawed = pod({}, context({ privileged: true }));
  const text = stringify(flawed);
  const template = { template: { spec: { containers: [{ name: 'c', image: 'x' }] } } };
  for (const [what, given] of [
    ['compact JSON', JSON.stringify(flawed)],
    ['pretty JSON', JSON.stringify(flawed, null, 2)],
    ['a JSON list', JSON.stringify([flawed])],
    ['a List', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [flawed] })],
    ['double quotes', text.replace(/^kind:/m, '"kind":').replace(/^apiVersion:/m, '"apiVersion":')],
    ['single quotes', text.replace(/^kind:/m, "'kind':").replace(/^apiVersion:/m, "'apiVersion':")],
    ...['yes', 'Yes', 'YES', 'on', 'On', 'y', 'True'].map((word) => [
      word,
      text.replace('privileged: true', `privileged: ${word}`),
    ]),
  ] as const)
    t.same(
      (await check(String(given))).findings.map(({ rule }) => rule),
      ['k8s-privileged'],
      what,
    );
  for (const word of ['no', 'off', 'n', 'false', '"yes"'])
    t.same((await check(text.replace('privileged: true', `privileged: ${word}`))).findings, [], word);
  for (const [kind, spec] of [
    ['Rollout', template],
    ['Service', template],
    ['DeploymentConfig', template],
    ['Anything', { list: [{ deep: template }] }],
  ] as const) {
    const { notScanned } = await check(stringify({ apiVersion: 'x.test/v1', kind, metadata: { name: 'n' }, spec }));
    t.match(notScanned, [{ path: 'a.yaml', reason: new RegExp(kind), isFault: true }], kind);
  }
  t.same(await check('{"kind": 1, "apiVersion": 2}'), { findings: [], packages: [], notScanned: [], scanned: [] });
});

t.test('merge keys, lists of one kind and all encodings of YAML are read', async (t) => {
  const privileged = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nx: &sc {privileged: true}\n';
  const inPod = (context: string, before = privileged): string =>
    `${before}spec:\n  containers:\n  - name: a\n    image: a:1\n    securityContext:\n${context}`;
  const {
    kind: _kind,
    apiVersion: _version,
    ...bare
  } = pod({}, context({ privileged: true })) as Record<string, unknown>;
  const text = stringify(pod({}, context({ privileged: true })));
  const utf16 = Buffer.from(text, 'utf16le');
  const list = (kind: string, item: object): string => JSON.stringify({ apiVersion: 'v1', kind, items: [item] });
  for (const [what, given, isFound] of [
    ['a merge key', inPod('      <<: *sc\n'), true],
    ['of several', inPod('      <<: [*sc, {runAsUser: 1}]\n'), true],
    ['what stands beside it wins', inPod('      <<: *sc\n      privileged: false\n'), false],
    ['a quoted one is a name', inPod('      "<<": *sc\n'), false],
    ['of merged ones', inPod('      <<: *all\n', `${privileged}y: &all {<<: *sc}\n`), true],
    ['PodList', list('PodList', bare), true],
    ['PodList whose items say it', list('PodList', { apiVersion: 'v1', kind: 'Pod', ...bare }), true],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`), true],
    ['UTF-16, little end first', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), true],
    ['UTF-16, big end first', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]), true],
    ['UTF-16 without a mark', utf16, true],
    ['UTF-16 without a mark, big end first', Buffer.from(utf16).swap16(), true],
  ] as const) {
    const { findings } = await k8sEngine.take({ path: 'a.yaml', bytes: Buffer.from(given as string) });
    t.equal(
      findings.some(({ rule }) => rule === 'k8s-privileged'),
      isFound,
      what,
    );
  }
  t.match((await check(list('List', bare))).notScanned, [{ reason: /unknown kind \(none\)/, isFault: true }]);
  for (const [what, given] of [
    ['a merge of a text', Buffer.from(inPod('      <<: text\n'))],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ['half a sign', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16, Buffer.from([1])])],
  ] as const)
    await t.rejects(async () => k8sEngine.take({ path: 'a.yaml', bytes: given }), what);
});

t.test('a file that is named by itself is read whatever its ending', async (t) => {
  const text = stringify(pod({}, context({ privileged: true })));
  const root = t.testdir({
    'pod.txt': text,
    pod: `# a pod\n---\n${text}`,
    'broken.conf': 'apiVersion: v1\nkind: Pod\n  x: [\n',
    'README.md': '# How\nSay it with apiVersion and kind: as [\n',
    'a.py': 'import os\nx = "apiVersion: v1, kind: Pod"\n',
  });
  for (const [name, found, complete] of [
    ['pod.txt', 1, true],
    ['pod', 1, true],
    ['broken.conf', 0, false],
    ['README.md', 0, true],
    ['a.py', 0, true],
  ] as const) {
    const source = await openSource(`${root}/${name}`);
    const { results } = await scan(source, [k8sScanner], () => undefined, new AbortController().signal);
    t.match(results, [{ complete }], name);
    t.equal(results[0]?.findings.length, found, `${name}: findings`);
  }
});
