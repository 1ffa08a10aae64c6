// README.md of the chart, made of the schema and of values.yaml: every value with its meaning and its default.
import type { Json } from './chart.js';
import type { Schema } from './schema-kit.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const shown = (value: unknown): string => (value === undefined ? '' : `\`${cell(JSON.stringify(value))}\``);

function rowsOf(schema: Schema, value: unknown, path: string): string[] {
  const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined;
  const isEnvironment = path.endsWith('.env') || path.endsWith('.secretEnv');
  if (properties === undefined || isEnvironment) {
    const names = isEnvironment
      ? `: ${Object.keys(properties ?? {})
          .map((name) => `\`${name}\``)
          .join(', ')}`
      : '';
    return [`| \`${path}\` | ${cell((schema['description'] as string | undefined) ?? '')}${names} | ${shown(value)} |`];
  }
  return Object.entries(properties).flatMap(([name, one]) =>
    rowsOf(one, (value as Json | undefined)?.[name], path === '' ? name : `${path}.${name}`),
  );
}

const head = `# Chart gatehouse

How to install, scale, upgrade and uninstall: [docs/kubernetes.md](../../../docs/kubernetes.md). Examples of values that
are tested: [ci/](ci). This table is made of values.schema.json and values.yaml
(\`UPDATE=1 node build/deploy/cluster/chart-files.test.js\`).

| value | what | default |
|---|---|---|
`;

export const chartReadme = (schema: Schema, values: Json): string =>
  `${head}${rowsOf(schema, values, '').join('\n')}\n`;
