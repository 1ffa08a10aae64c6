// The environment table as variables of Terraform, with their checks.
// `UPDATE=1 node build/deploy/cluster/terraform.test.js` writes both files.
import { variables, type EnvironmentVariable, type ProcessName } from '#settings/environment';
import { shapeOf, variablesOf, type Schema } from './schema-kit.js';
import { ownVariables } from './values-schema.js';

const rows: readonly EnvironmentVariable[] = variables;
const head =
  '# Generated from the environment table (settings/environment.ts): ' +
  'UPDATE=1 node build/deploy/cluster/terraform.test.js\n';

/** A text of HCL. */
const quote = (text: string): string => JSON.stringify(text).replaceAll('${', '$${').replaceAll('%{', '%%{');
const list = (values: readonly string[]): string => `[${values.map(quote).join(', ')}]`;

interface Check {
  readonly condition: string;
  readonly message: string;
}

/** What a value has to look like, where it is given; null: anything. */
function checkOf(row: EnvironmentVariable, value: string): Check | null {
  if (row.kind === 'port')
    return {
      condition: `try(tonumber(${value}), 0) >= 1 && try(tonumber(${value}), 0) <= 65535`,
      message: `${row.name} must be a port number from 1 to 65535.`,
    };
  if (row.kind === 'key' || row.kind === 'secret') {
    const least = row.kind === 'key' ? 32 : 8;
    return {
      condition: `length(${value}) >= ${least}`,
      message: `${row.name} must have at least ${least} characters.`,
    };
  }
  const { pattern, enum: allowed } = shapeOf(row) as Schema & { pattern?: string; enum?: readonly string[] };
  if (allowed !== undefined)
    return {
      condition: `contains(${list(allowed)}, ${value})`,
      message: `${row.name} must be one of ${allowed.filter((one) => one !== '').join(', ')}.`,
    };
  if (pattern === undefined) return null;
  return {
    condition: `can(regex(${quote(pattern)}, ${value}))`,
    message: `${row.name} does not fit: it is ${row.purpose.split(/[;:(]/)[0]?.trim() ?? ''}.`,
  };
}

const isNeeded = (row: EnvironmentVariable): boolean =>
  row.generated !== undefined && row.name !== 'ADMIN_INITIAL_PASSWORD' && row.name !== 'POSTGRES_PASSWORD';

/** What the containers of the module docker-host have as facts. */
export const dockerFacts = [
  'IN_CONTAINER',
  'GATEHOUSE_DATA',
  'GATEHOUSE_CONTROL_URL',
  'DATA_ADMIN_URLS',
  'GATEHOUSE_ADMIN_PORT',
  'DATA_DIR',
  'CRS_DIR',
  'SETTINGS_IMPORT',
  'DEMO_PORT',
  'NODES_BIND',
];
const processes: readonly (readonly [string, readonly ProcessName[]])[] = [
  ['data_plane', ['data plane']],
  ['control_plane', ['control plane', 'commands']],
  ['console', ['console']],
];

function dockerVariable(row: EnvironmentVariable): string {
  const name = row.name.toLowerCase();
  const check = checkOf(row, `var.${name}`);
  const isEmptyFine = row.default === '' && !isNeeded(row);
  const lines = [
    `variable "${name}" {`,
    `  description = ${quote(row.purpose)}`,
    '  type        = string',
    ...(isNeeded(row) ? [] : [`  default     = ${quote(row.default)}`]),
    ...(row.isSecret === true ? ['  sensitive   = true'] : []),
    '  nullable    = false',
    ...(check === null
      ? []
      : [
          '',
          '  validation {',
          `    condition     = ${isEmptyFine ? `var.${name} == "" || (${check.condition})` : check.condition}`,
          `    error_message = ${quote(check.message)}`,
          '  }',
        ]),
    '}',
    '',
  ];
  return lines.join('\n');
}

/** environment.tf of the module docker-host: a variable a row, and what each container is given. */
export function dockerEnvironment(): string {
  const own = rows.filter(({ name, readBy }) => !dockerFacts.includes(name) && readBy.length > 0);
  const locals = processes.flatMap(([local, readers]) => [
    `  ${local}_environment = {`,
    ...own
      .filter(({ readBy }) => readers.some((one) => readBy.includes(one)))
      .map(({ name }) => `    ${name} = var.${name.toLowerCase()}`),
    '  }',
  ]);
  return [head, ...own.map(dockerVariable), 'locals {', ...locals, '}', ''].join('\n');
}

function objectVariable(name: string, description: string, chosen: readonly EnvironmentVariable[]): string {
  const checks = chosen.flatMap((row) => {
    const value = `var.${name}.${row.name}`;
    const check = checkOf(row, value);
    return check === null
      ? []
      : [
          '',
          '  validation {',
          // a branch that is not taken is not evaluated
          `    condition     = ${value} == null ? true : ${check.condition}`,
          `    error_message = ${quote(check.message)}`,
          '  }',
        ];
  });
  return [
    `variable "${name}" {`,
    `  description = ${quote(description)}`,
    '  type = object({',
    ...chosen.flatMap((row) => [`    # ${row.purpose}`, `    ${row.name} = optional(string)`]),
    '  })',
    '  default  = {}',
    '  nullable = false',
    ...checks,
    '}',
    '',
  ].join('\n');
}

/** environment.tf of the module kubernetes: what the chart takes as `env`, a field a row. */
export const kubernetesEnvironment = (): string =>
  [
    head,
    objectVariable(
      'data_plane_environment',
      'Other variables of the data plane.',
      variablesOf(['data plane'], false, ownVariables.dataPlane),
    ),
    objectVariable(
      'control_plane_environment',
      'Other variables of the control plane.',
      variablesOf(['control plane'], false, ownVariables.controlPlane),
    ),
    objectVariable(
      'console_environment',
      'Other variables of the console.',
      variablesOf(['console'], false, ownVariables.console),
    ),
  ].join('\n');
