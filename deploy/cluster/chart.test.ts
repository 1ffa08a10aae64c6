// The chart, rendered with every example: shapes, references, confinement, and that each name of the product is real.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { isVariableName, variableOf, type VariableName } from '#settings/environment';
import { recipes } from '../release/images.js';
import {
  chart,
  documentsOf,
  exampleFiles,
  isManifest,
  objectsOf,
  releaseName,
  render,
  root,
  withoutRenderer,
  writeValues,
  type KubernetesObject,
  type Rendering,
} from './chart.js';
import { kubernetesShapes } from './kubernetes-shapes.js';
import { containersOf, findObject, selects, workloadsOf } from './manifest-kit.js';

const skip = withoutRenderer;
const ajv = new Ajv({ allErrors: true, strict: false });
const shapes = new Map(Object.entries(kubernetesShapes).map(([name, shape]) => [name, ajv.compile(shape)]));
const cases = new Map<string, Rendering>();
if (skip === false) {
  cases.set('defaults', render());
  for (const file of exampleFiles()) cases.set(basename(file, '-values.yaml'), render(file));
}
const all = [...cases].map(([name, rendering]) => ({ name, rendering, objects: objectsOf(rendering) }));

t.test('every document has the shape of its kind', { skip }, async (t) => {
  for (const { name, rendering, objects } of all) {
    t.equal(rendering['error'], undefined, name);
    t.ok(objects.length > 5, name);
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    t.equal(new Set(names).size, names.length, `${name}: each object once`);
    for (const object of objects) {
      const label = `${name}: ${object.kind}/${object.metadata.name}`;
      const validate = shapes.get(`${object.apiVersion} ${object.kind}`);
      if (validate === undefined) t.fail(`${label}: ${object.apiVersion} ${object.kind} is not known`);
      else if (!validate(object)) t.same(validate.errors, [], label);
    }
  }
});

t.test('the check of shapes finds what is wrong', { skip }, async (t) => {
  const deployment = all[0]?.objects.find(({ kind }) => kind === 'Deployment');
  const validate = shapes.get('apps/v1 Deployment');
  t.equal(validate?.({ ...deployment, spec: { ...deployment?.spec, replica: 1 } }), false);
  t.equal(validate?.({ ...deployment, spec: { ...deployment?.spec, replicas: '1' } }), false);
});

function referencesOf(objects: readonly KubernetesObject[]): string[] {
  const problems: string[] = [];
  const workloads = workloadsOf(objects);
  for (const { object, labels, pod } of workloads) {
    const name = `${object.kind}/${object.metadata.name}`;
    const selector = (object.spec?.['selector'] as { matchLabels?: Record<string, string> } | undefined)?.matchLabels;
    if (object.kind !== 'Pod' && !selects(selector ?? { '': '' }, labels)) problems.push(`${name} selects other pods`);
    const volumes = new Set([
      ...(pod.volumes ?? []).map((one) => one.name),
      ...((object.spec?.['volumeClaimTemplates'] as { metadata: { name: string } }[] | undefined) ?? []).map(
        (one) => one.metadata.name,
      ),
    ]);
    const containers = containersOf({ object, labels, pod });
    const mounted = containers.flatMap((one) => (one.volumeMounts ?? []).map((mount) => mount.name));
    for (const mount of mounted) if (!volumes.has(mount)) problems.push(`${name}: volume ${mount}`);
    for (const one of volumes) if (!mounted.includes(one)) problems.push(`${name}: nothing mounts ${one}`);
    for (const { ports = [], name: container, ...probes } of containers)
      for (const probe of [probes.startupProbe, probes.livenessProbe, probes.readinessProbe])
        if (probe?.httpGet !== undefined && !ports.some((port) => port.name === probe.httpGet?.port))
          problems.push(`${name}/${container}: port ${probe.httpGet.port}`);
    if (
      pod.serviceAccountName !== undefined &&
      findObject(objects, 'ServiceAccount', pod.serviceAccountName) === undefined
    )
      problems.push(`${name}: ServiceAccount ${pod.serviceAccountName}`);
  }
  for (const { kind, metadata, spec } of objects) {
    const named = spec as { selector?: Record<string, string>; ports?: { targetPort: string }[] } | undefined;
    if (kind !== 'Service') continue;
    const chosen = workloads.filter(({ labels }) => selects(named?.selector ?? { '': '' }, labels));
    if (chosen.length !== 1) problems.push(`Service/${metadata.name} selects ${chosen.length} workloads`);
    for (const { targetPort } of named?.ports ?? [])
      if (
        !chosen.some((one) =>
          containersOf(one).some(({ ports = [] }) => ports.some((port) => port.name === targetPort)),
        )
      )
        problems.push(`Service/${metadata.name}: port ${targetPort}`);
  }
  return problems;
}

t.test('what objects name is there', { skip }, async (t) => {
  for (const { name, objects } of all) t.same(referencesOf(objects), [], name);
  for (const { name, rendering, objects } of all)
    for (const [, service = '', port = ''] of Object.values(rendering)
      .join('\n')
      .matchAll(
        new RegExp(`(?:http|https|redis)://(${releaseName}-[a-z-]+)(?:\\.${releaseName}\\.svc)?:(\\d+)`, 'g'),
      )) {
      const ports = (findObject(objects, 'Service', service)?.spec?.['ports'] ?? []) as { port: number }[];
      t.ok(
        ports.some((one) => one.port === Number(port)),
        `${name}: the address ${service}:${port}`,
      );
    }
});

t.test('variables, ports and commands are those of the product', { skip }, async (t) => {
  const readers = { 'data-plane': 'data plane', 'control-plane': 'control plane', console: 'console' } as const;
  for (const { name, objects } of all)
    for (const workload of workloadsOf(objects)) {
      const component = workload.labels['app.kubernetes.io/component'] ?? '';
      const reader = readers[component as keyof typeof readers];
      if (reader === undefined || workload.object.kind === 'Pod') continue;
      const image = component === 'data-plane' ? 'data-plane' : 'control-plane';
      for (const { env = [], ports = [], args, command } of containersOf(workload)) {
        for (const { name: variable, value } of env) {
          const row = variable.endsWith('_FILE') && !isVariableName(variable) ? variable.slice(0, -5) : variable;
          if (!isVariableName(row)) t.fail(`${name}: ${component} has ${variable}`);
          else {
            t.ok(variableOf(row).readBy.includes(reader), `${name}: the ${reader} reads ${variable}`);
            t.equal(
              variableOf(row).isSecret === true && !variable.endsWith('_FILE') && row !== 'REDIS_URL',
              false,
              row,
            );
            if (variable !== row) t.match(value, /^\/etc\/gatehouse\/secrets\/[a-z0-9-]+$/);
          }
        }
        t.equal(new Set(env.map((one) => one.name)).size, env.length, `${name}: each variable of ${component} once`);
        for (const { containerPort } of ports)
          t.ok(
            recipes[image].ports.includes(containerPort) || containerPort === 8096,
            `${component}: ${containerPort}`,
          );
        if (command === undefined) t.same(args, [component], 'the command of the image');
      }
    }
});

t.test('needed secrets are there as files', { skip }, async (t) => {
  const needed: Readonly<Record<string, readonly VariableName[]>> = {
    'control-plane': ['AUTH_SESSION_SECRET', 'SETTINGS_ENCRYPTION_SECRET', 'DATA_ADMIN_TOKEN', 'CONSOLE_TOKEN'],
    'data-plane': ['GATEHOUSE_ADMIN_TOKEN'],
    console: ['CONSOLE_TOKEN'],
  };
  for (const { name, objects } of all)
    for (const workload of workloadsOf(objects).filter(({ object }) => object.kind === 'Deployment')) {
      const component = workload.labels['app.kubernetes.io/component'] ?? '';
      const volume = workload.pod.volumes?.find((one) => one.name === 'secrets');
      const sources = ((volume?.['projected'] as { sources?: unknown } | undefined)?.sources ?? []) as {
        secret: { items: { path: string }[] };
      }[];
      const paths = sources.flatMap(({ secret }) => secret.items.map((one) => one.path));
      const [main] = workload.pod.containers;
      const files = (main?.env ?? [])
        .filter((one) => one.value?.startsWith('/etc/gatehouse/secrets/'))
        .map((one) => basename(one.value ?? ''));
      t.same([...files].sort(), [...paths].sort(), `${name}: ${component} has each file that it names`);
      for (const variable of needed[component] ?? [])
        t.ok(paths.includes(variable.toLowerCase().replaceAll('_', '-')), `${name}: ${component} has ${variable}`);
    }
});

t.test('the end of a node takes less than its grace period', { skip }, async (t) => {
  for (const { name, objects } of all) {
    const node = workloadsOf(objects).find(({ object }) => object.metadata.name === 'gatehouse-data-plane');
    if (node === undefined) continue;
    const hook = node.pod.containers[0]?.lifecycle?.preStop?.exec.command ?? [];
    t.same(hook.slice(0, 5), [
      '/usr/lib/gatehouse/runtime/node',
      '/usr/lib/gatehouse/bin/gatehouse',
      'node',
      'drain',
      '--wait',
    ]);
    // the wait, drain_ms (8 s), what lingers (1 s), records (2 s), the goodbye (3 s)
    const seconds = Number(hook[5]) + 8 + 1 + 2 + 3;
    t.ok((node.pod.terminationGracePeriodSeconds ?? 0) >= seconds + 5, `${name}: ${seconds} s and a reserve`);
  }
});

t.test('no kind asks for an account that may do anything', { skip }, async (t) => {
  for (const { name, objects } of all) {
    t.same(
      objects.filter(({ kind }) => /Role|Secret/.test(kind)).map(({ kind }) => kind),
      [],
      name,
    );
    for (const { object, pod } of workloadsOf(objects))
      t.equal(pod.automountServiceAccountToken, false, `${name}: ${object.metadata.name} has no token`);
  }
});

t.test('our own scanner finds nothing that is not argued', { skip }, async (t) => {
  const directory = t.testdir({});
  for (const { name, rendering } of all)
    for (const [path, text] of Object.entries(rendering)) {
      if (!isManifest(path) || documentsOf(text).length === 0) continue;
      const file = join(directory, name, path);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, text);
    }
  const args = [join(root, 'bin/gatehouse'), 'scan', directory, '--only', 'k8s,iac', '--format', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, [...args, '--fail-on', 'info'], { encoding: 'utf8' });
  const report = JSON.parse(stdout || '{}') as { findings?: Finding[]; complete?: boolean };
  t.ok(Array.isArray(report.findings), stderr);
  const open = (report.findings ?? []).filter((one) => one.suppressed === undefined);
  t.same(
    open.map(({ rule, path, line }) => `${rule} ${path}:${line}`),
    [],
  );
});

interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly suppressed?: string;
}

t.test('values that contradict each other are refused, with what to do', { skip }, async (t) => {
  const directory = t.testdir({});
  const contradictions: readonly [string, unknown, RegExp][] = [
    [
      'embedded-twice',
      { database: { mode: 'embedded' }, controlPlane: { replicas: 2 } },
      /Set database\.mode to external/,
    ],
    ['embedded-lost', { database: { mode: 'embedded' } }, /Set controlPlane\.persistence\.enabled to true/],
    ['one-volume', { controlPlane: { replicas: 2, persistence: { enabled: true } } }, /persistence\.enabled to false/],
    ['nowhere', { controlPlane: { enabled: false }, console: { enabled: false } }, /Set join\.urls/],
    [
      'no-plane',
      { controlPlane: { enabled: false }, join: { urls: ['https://a:8096'] } },
      /Set console\.enabled to false/,
    ],
    ['token-here', { join: { tokenSecret: 'x' } }, /join\.urls names none/],
    [
      'upside-down',
      { dataPlane: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
      /minReplicas is more/,
    ],
    ['too-many', { dataPlane: { autoscaling: { enabled: true, maxReplicas: 200 } } }, /Raise join\.nodesMax/],
  ];
  for (const [name, values, message] of contradictions)
    t.match(render(writeValues(directory, name, values))['error'], message, name);
});

t.test('NOTES say what to do next', { skip }, async (t) => {
  for (const { name, rendering } of all) {
    const notes = rendering['templates/NOTES.txt'] ?? '';
    t.ok(notes.length > 100, name);
    t.notMatch(notes, /<no value>|%!/, name);
  }
  t.match(cases.get('minimal')?.['templates/NOTES.txt'], /port-forward service\/gatehouse-console 3010:3010/);
  t.match(cases.get('ingress-tls')?.['templates/NOTES.txt'], /https:\/\/gatehouse\.example\.org\//);
  t.match(cases.get('ingress-tls')?.['templates/NOTES.txt'], /rl_trusted_proxies/);
});

t.test('a name of another release and long names fit', { skip }, async (t) => {
  const directory = t.testdir({});
  const long = writeValues(directory, 'long', { fullnameOverride: 'x'.repeat(40) });
  for (const { metadata } of objectsOf(render(long))) t.ok(metadata.name.length <= 63, metadata.name);
  t.ok(readFileSync(join(chart, 'Chart.yaml'), 'utf8').includes('name: gatehouse'));
});
