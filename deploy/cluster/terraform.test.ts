// The modules of Terraform: the environment table is in them, every name is declared and used, values fit the chart,
// and our own reader and scanner take them. There is no `terraform plan` here (docs/terraform.md).
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { variables, type EnvironmentVariable } from '#settings/environment';
import { readYaml, root } from './chart.js';
import type { Schema } from './schema-kit.js';
import { dockerEnvironment, dockerFacts, kubernetesEnvironment } from './terraform-environment.js';
import { valuesSchema } from './values-schema.js';

const terraform = join(root, 'deploy/terraform');
const rows: readonly EnvironmentVariable[] = variables;
const generated: Readonly<Record<string, string>> = {
  'docker-host': dockerEnvironment(),
  kubernetes: kubernetesEnvironment(),
};

/** All files of a module as one text. */
const moduleText = (name: string): string =>
  readdirSync(join(terraform, 'modules', name))
    .filter((file) => file.endsWith('.tf'))
    .map((file) => readFileSync(join(terraform, 'modules', name, file), 'utf8'))
    .join('\n');
const allOf = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = '']) => name)),
];

t.test('environment.tf is made of the table', async (t) => {
  for (const [name, text] of Object.entries(generated)) {
    const path = join(terraform, 'modules', name, 'environment.tf');
    if (process.env['UPDATE'] === '1') writeFileSync(path, text);
    t.equal(readFileSync(path, 'utf8'), text, `${name}: UPDATE=1 writes it`);
  }
  const declared = allOf(generated['docker-host'] ?? '', /^variable "([a-z0-9_]+)"/gm);
  t.same(
    declared,
    rows
      .filter(({ name, readBy }) => readBy.length > 0 && !dockerFacts.includes(name))
      .map(({ name }) => name.toLowerCase()),
  );
  for (const { name, isSecret } of rows.filter((row) => declared.includes(row.name.toLowerCase()))) {
    const block = new RegExp(`variable "${name.toLowerCase()}" \\{[\\s\\S]*?\\n\\}`).exec(
      generated['docker-host'] ?? '',
    )?.[0];
    t.equal(
      block?.includes('sensitive   = true'),
      isSecret === true,
      `${name} is ${isSecret === true ? '' : 'not '}sensitive`,
    );
  }
});

function checkNames(t: Test, name: string): void {
  const text = moduleText(name);
  const bare = text.replaceAll(/^\s*#.*$/gm, '');
  const declared = allOf(bare, /^variable "([a-z0-9_]+)"/gm);
  const validations = bare.replaceAll(/^ {2}validation \{[\s\S]*?^ {2}\}/gm, '');
  const used = allOf(bare, /\bvar\.([a-z0-9_]+)/g);
  t.same(
    used.filter((one) => !declared.includes(one)),
    [],
    `${name}: every var is declared`,
  );
  const reached = allOf(validations, /\bvar\.([a-z0-9_]+)/g);
  t.same(
    declared.filter((one) => !reached.includes(one)),
    [],
    `${name}: every variable is used`,
  );
  const locals = allOf(bare, /^ {2}([a-z_]+)\s+= /gm);
  for (const one of allOf(bare, /\blocal\.([a-z_]+)/g)) t.ok(locals.includes(one), `${name}: local.${one}`);
  for (const one of allOf(bare, /\b((?:docker|kubernetes|helm|random)_[a-z0-9_]+\.[a-z_]+)\b/g)) {
    const [type = '', label = ''] = one.split('.');
    t.ok(bare.includes(`resource "${type}" "${label}"`), `${name}: ${one} is there`);
  }
  for (const kind of ['variable', 'output'])
    for (const block of bare.matchAll(new RegExp(`^${kind} "([a-z0-9_]+)" \\{([\\s\\S]*?)^\\}`, 'gm')))
      t.match(block[2], /description\s+= "/, `${name}: ${kind} ${block[1]} is described`);
}

t.test('names are declared, and used', async (t) => {
  for (const name of readdirSync(join(terraform, 'modules'))) checkNames(t, name);
  for (const name of readdirSync(join(terraform, 'examples'))) {
    const declared = allOf(moduleText(name), /^variable "([a-z0-9_]+)"/gm);
    const example = readFileSync(join(terraform, 'examples', name, 'main.tf'), 'utf8');
    const block = /^module "gatehouse" \{([\s\S]*?)^\}/m.exec(example)?.[1] ?? '';
    const given = allOf(block, /^ {2}([a-z0-9_]+)\s+= /gm).filter((one) => one !== 'source');
    t.same(
      given.filter((one) => !declared.includes(one)),
      [],
      `example ${name} gives what the module takes`,
    );
    const needed = [...moduleText(name).matchAll(/^variable "([a-z0-9_]+)" \{([\s\S]*?)^\}/gm)].filter(
      ([, , body = '']) => !/^ {2}default/m.test(body),
    );
    for (const [, one = ''] of needed) t.ok(given.includes(one), `example ${name} gives ${one}`);
  }
});

t.test('values of the chart that the module sets exist', async (t) => {
  const text = readFileSync(join(terraform, 'modules/kubernetes/main.tf'), 'utf8');
  const body = /^ {2}values = \{\n([\s\S]*?)^ {2}\}/m.exec(text)?.[1] ?? '';
  const path: string[] = [];
  let count = 0;
  for (const [, indent = '', key = ''] of body.matchAll(/^( +)([A-Za-z]+)\s+= /gm)) {
    path.length = indent.length / 2 - 2;
    path.push(key);
    if (path[2] === 'requests' || path[2] === 'limits') continue;
    const found = path.reduce<Schema | undefined>(
      (schema, name) => (schema?.['properties'] as Readonly<Record<string, Schema>> | undefined)?.[name],
      valuesSchema(),
    );
    t.ok(found, path.join('.'));
    count += 1;
  }
  t.ok(count > 25, `${count} values`);
  t.ok(readYaml(join(terraform, 'examples/kubernetes/ingress.yaml')));
});

t.test('our reader takes every file, and our scanner finds nothing', async (t) => {
  const args = [
    join(root, 'bin/gatehouse'),
    'scan',
    terraform,
    '--only',
    'iac',
    '--format',
    'json',
    '--fail-on',
    'info',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const report = JSON.parse(stdout || '{}') as {
    findings?: { rule: string; path: string; line: number; suppressed?: string }[];
  };
  const open = (report.findings ?? []).filter(({ suppressed }) => suppressed === undefined);
  t.same(
    open.map(({ rule, path, line }) => `${rule} ${path}:${line}`),
    [],
  );
  t.equal(status, 0, `2 means that a file was not read: ${stderr}`);
});
