// Generated files of the chart, and the messages for values that do not fit. Needs no Go.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { chartReadme } from './chart-readme.js';
import { chart, exampleFiles, merged, readYaml, root, type Json } from './chart.js';
import type { Schema } from './schema-kit.js';
import { ownVariables, valuesSchema } from './values-schema.js';
import { isVariableName } from '#settings/environment';

const isUpdate = process.env['UPDATE'] === '1';
const monitoring = join(root, 'docs/monitoring');
const copies: readonly [string, string][] = [
  [join(monitoring, 'gatehouse.rules.yml'), join(chart, 'files/gatehouse.rules.yml')],
  ...['traffic', 'security', 'fleet', 'control-plane'].map((name): [string, string] => [
    join(monitoring, `grafana-${name}.json`),
    join(chart, `files/dashboards/${name}.json`),
  ]),
];

const schema = valuesSchema();
const values = readYaml(join(chart, 'values.yaml'));
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
/** As helm says it: where, and what. */
function problemsOf(given: unknown): string[] {
  if (validate(merged(values, given))) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message ?? ''} ${(params['additionalProperty'] as string | undefined) ?? ''}`.trim(),
  );
}

function isUpToDate(t: Test, path: string, text: string): void {
  if (isUpdate) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }
  t.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', text, `${basename(path)}: UPDATE=1 writes it`);
}

t.test('schema and README are made of their sources', async (t) => {
  isUpToDate(t, join(chart, 'values.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
  isUpToDate(t, join(chart, 'README.md'), chartReadme(schema, values));
});

t.test('alert rules and dashboards are those of docs/monitoring', async (t) => {
  for (const [from, to] of copies) {
    if (isUpdate) {
      mkdirSync(join(to, '..'), { recursive: true });
      copyFileSync(from, to);
    }
    t.equal(readFileSync(to, 'utf8'), readFileSync(from, 'utf8'), `${basename(to)}: UPDATE=1 copies it`);
  }
});

t.test('the version of the chart is that of the product', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Json;
  t.match(readYaml(join(chart, 'Chart.yaml')), { version, appVersion: version });
});

t.test('every value has a default and a description', async (t) => {
  const walk = (one: Schema, value: unknown, path: string): void => {
    t.ok(((one['description'] as string | undefined) ?? '').length > 0, `${path} is described`);
    const properties = one['properties'] as Readonly<Record<string, Schema>> | undefined;
    if (properties === undefined || path.endsWith('nv')) return;
    t.equal(one['additionalProperties'], false, `${path}: a misspelt key is refused`);
    for (const [name, inner] of Object.entries(properties)) {
      if (`${path}/${name}` === '/global') continue;
      t.ok(typeof value === 'object' && value !== null && name in value, `values.yaml has ${path}/${name}`);
      walk(inner, (value as Json)[name], `${path}/${name}`);
    }
  };
  walk(schema, values, '');
  for (const name of Object.values(ownVariables).flat())
    t.ok(isVariableName(name), `${name} is in the environment table`);
});

t.test('values.yaml and every example fit', async (t) => {
  t.same(problemsOf({}), []);
  for (const file of exampleFiles()) t.same(problemsOf(readYaml(file)), [], basename(file));
});

t.test('values that do not fit are refused with a reason', async (t) => {
  const cases: readonly [string, unknown, RegExp][] = [
    ['a misspelt value', { dataPlane: { replica: 3 } }, /^\/dataPlane must NOT have additional properties replica$/],
    ['a password in the values', { secrets: { adminPassword: 'x' } }, /additional properties adminPassword/],
    ['no Secret', { secrets: { existingSecret: '' } }, /^\/secrets\/existingSecret must match pattern/],
    [
      'a variable that does not exist',
      { controlPlane: { env: { LOG_LEVLE: 'info' } } },
      /additional properties LOG_LEVLE/,
    ],
    ['a variable of another process', { dataPlane: { env: { LOG_LEVEL: 'info' } } }, /additional properties LOG_LEVEL/],
    [
      'a secret as a plain variable',
      { controlPlane: { env: { ACME_EAB: 'a=b:c' } } },
      /additional properties ACME_EAB/,
    ],
    ['a wrong log level', { controlPlane: { env: { LOG_LEVEL: 'loud' } } }, /LOG_LEVEL must be equal to one of/],
    ['a text for a number', { dataPlane: { replicas: 'two' } }, /^\/dataPlane\/replicas must be integer$/],
    ['too many', { controlPlane: { replicas: 21 } }, /^\/controlPlane\/replicas must be <= 20$/],
    ['a digest that is none', { dataPlane: { image: { digest: 'latest' } } }, /\/dataPlane\/image\/digest must match/],
    ['a kind of database', { database: { mode: 'mysql' } }, /^\/database\/mode must be equal to one of/],
    [
      'an ingress without a host',
      { console: { ingress: { enabled: true } } },
      /hosts must NOT have fewer than 1 items/,
    ],
    ['a route without a gateway', { dataPlane: { httpRoute: { enabled: true } } }, /parentRefs must NOT have fewer/],
    ['a port', { dataPlane: { service: { httpPort: 70000 } } }, /httpPort must be <= 65535/],
    [
      'a plain address of nodes',
      { join: { urls: ['http://a.example.org:8096'] } },
      /\/join\/urls\/0 must match pattern/,
    ],
    ['a label', { dataPlane: { nodeLabels: { Ring: 'x' } } }, /property name must be valid|must match pattern/],
  ];
  for (const [what, given, message] of cases)
    t.ok(
      problemsOf(given).some((one) => message.test(one)),
      `${what}: ${problemsOf(given).join('; ')}`,
    );
});
