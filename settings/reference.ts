// The table of settings for people: docs/settings.md is this text, and a test compares the two.
import type { TSchema } from '@sinclair/typebox';
import { factsOf } from './row.js';
import { apiRows } from './rows/api.js';
import { dataPlaneRows } from './rows/data-plane.js';
import { detectionRows } from './rows/detection.js';
import { governanceRows } from './rows/governance.js';
import { httpsRows } from './rows/https.js';
import { telemetryRows } from './rows/telemetry.js';
import { vulnerabilityRows } from './rows/vulnerabilities.js';
import { ruleRows } from './rows/rules.js';
import { siteRows } from './rows/sites.js';
import { trafficRows } from './rows/traffic.js';

const groups: readonly (readonly [title: string, rows: Readonly<Record<string, TSchema>>])[] = [
  ['Rules', ruleRows],
  ['Sites', siteRows],
  ['Rate limits, floods, challenge', trafficRows],
  ['Sizes and waiting times', dataPlaneRows],
  ['HTTPS', httpsRows],
  ['Bots, detection, authentication of sites', detectionRows],
  ['Specifications of APIs', apiRows],
  ['Data protection, feeds, users, integrations', governanceRows],
  ['Vulnerability manager', vulnerabilityRows],
  ['OpenTelemetry', telemetryRows],
];

const introduction = `# Settings

Made from the table in \`settings/rows/\` (\`UPDATE=1 node bin/test.mjs settings/reference\` writes this page).
One object holds them all: \`GET\` and \`PATCH /api/settings\`; without a control plane \`data/settings.json\` holds
those whose last column says \`node\`. **Stored only** means: accepted and kept, and nothing enforces it yet.
`;

/** A value as people write it in the settings. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined ? '' : `\`${text.length > 60 ? '…' : text.replaceAll('|', '\\|')}\``;
}

function rangeOf(schema: TSchema): string {
  const { minimum, maximum, enum: choices, type, maxItems } = schema as TSchema & Record<string, unknown>;
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  if (minimum !== undefined || maximum !== undefined) return `${String(minimum ?? '')} to ${String(maximum ?? '')}`;
  if (type === 'array') return maxItems === undefined ? 'list' : `list of up to ${String(maxItems)}`;
  return type === undefined ? 'text or null' : type === 'string' ? 'text' : String(type);
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function rowOf(name: string, schema: TSchema): string {
  const { access, reach, enforcedBy, description, unit } = factsOf(schema);
  const where =
    enforcedBy === null
      ? '**stored only**'
      : reach.includes('control') && reach.length === 1
        ? 'control plane'
        : 'node';
  const range = unit === undefined ? rangeOf(schema) : `${rangeOf(schema)} ${unit}`;
  return `| \`${name}\` | ${cell(description)} | ${range} | ${shown(schema.default)} | ${access} | ${where} |`;
}

/** Members of an object, or of a list's objects, that stand for themselves: `limits.uri_bytes_max`, `sites[].host`. */
function membersOf(name: string, schema: TSchema): string[] {
  interface Members {
    readonly properties?: Readonly<Record<string, TSchema>>;
  }
  const { items, ...own } = schema as Members & { readonly items?: Members };
  const { properties } = items ?? own;
  const parent = items === undefined ? name : `${name}[]`;
  const described = Object.entries(properties ?? {}).filter(([, inner]) => inner.description !== undefined);
  return described.map(([member, inner]) => {
    const unit = (inner as TSchema & { 'x-unit'?: string })['x-unit'];
    const range = unit === undefined ? rangeOf(inner) : `${rangeOf(inner)} ${unit}`;
    return `| \`${parent}.${member}\` | ${cell(inner.description ?? '')} | ${range} | ${shown(inner.default)} | | |`;
  });
}

/** Markdown. */
export function describeSettings(): string {
  const head = '| setting | what it does | values | default | changed by | enforced by |\n|---|---|---|---|---|---|';
  const sections = groups.map(([title, rows]) => {
    const lines = Object.entries(rows).flatMap(([name, schema]) => [rowOf(name, schema), ...membersOf(name, schema)]);
    return `## ${title}\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `${introduction}\n${sections.join('\n')}`;
}
