// The environment table as texts: `.env`, `.env.example`, the README's table of process settings.
import type { EnvironmentVariable } from './variable.js';

/** A paragraph of `.env` for each row. */
export function renderEnvironmentLines(
  rows: readonly EnvironmentVariable[],
  valueOf: (row: EnvironmentVariable) => string,
): string[] {
  return rows.flatMap((row) => [`# ${row.purpose}`, `${row.name}=${valueOf(row)}`, '']);
}

const exampleHead = [
  '# Every setting of a deployment. Copy to .env, or let the first `make run` write it with generated secrets.',
  '# Order of precedence: flags of bin/gatehouse, the environment, .env, the defaults below.',
  '',
];

/** `.env.example`: the defaults; what is generated stays empty, and says so. */
export function renderEnvironmentExample(rows: readonly EnvironmentVariable[]): string {
  const told = rows.map((row) =>
    row.generated === undefined ? row : { ...row, purpose: `${row.purpose} (generated)` },
  );
  return [...exampleHead, ...renderEnvironmentLines(told, (row) => row.default)].join('\n');
}

/** A table in Markdown. */
export function renderEnvironmentTable(rows: readonly EnvironmentVariable[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const lines = rows.map((row) => {
    const value = row.generated === undefined ? (row.default === '' ? '' : `\`${row.default}\``) : 'generated';
    return `| \`${row.name}\` | ${cell(row.purpose)} | ${value} | ${row.readBy.join(', ')} |`;
  });
  return ['| variable | what | default | read by |', '|---|---|---|---|', ...lines, ''].join('\n');
}
