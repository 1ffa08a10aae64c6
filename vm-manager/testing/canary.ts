// A made-up secret in every text of a report, and where it is looked for afterwards.
import type { Test } from 'tap';
import type { Sql } from '../database.js';

/** Members that say what a report is: a secret in them makes it another report. */
const kept = new Set(
  (
    'version $schema bomFormat specVersion @context status severity Severity level check_type purl type ' +
    'id @id ref bom-ref Class node_type test_number csaf_version product_id method vector VulnerabilityID ' +
    'cve SchemaVersion known_affected riskcode confidence cweid sourceTool SPDXID referenceType ' +
    'referenceCategory spdxVersion source FixedVersion InstalledVersion state'
  ).split(' '),
);

/** The report with the canary behind every text. */
export function infect(value: unknown, canary: string, name = ''): unknown {
  if (typeof value === 'string') return kept.has(name) ? value : `${value} ${canary}`;
  if (Array.isArray(value)) return value.map((one: unknown) => infect(one, canary, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, infect(one, canary, key)]));
}

export function infectedText(text: string, canary: string): string {
  if (text.startsWith('<')) return text.replace(/>([^<>\n]*[a-z]{3}[^<>\n]*)</g, `>$1 ${canary}<`);
  if (text.startsWith('{'))
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.stringify(infect(JSON.parse(line), canary)))
      .join('\n');
  return text; // CSV: one is written below
}

/** Every row of every table as text. */
export async function dump(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  const all = [];
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select to_jsonb(one)::text as row from ${sql(name)} one`;
    all.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return all.join('\n');
}

export function holds(t: Test, text: string, canary: string, where: string): void {
  const line = text.split('\n').find((one) => one.includes(canary)) ?? '';
  const at = line.indexOf(canary);
  t.equal(at < 0 ? '' : line.slice(Math.max(0, at - 200), at + 60), '', `${where} has no secret`);
}
