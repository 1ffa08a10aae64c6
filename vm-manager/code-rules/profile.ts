// What a scan runs by: the rules of the scanner as this installation has set them, its own rules, and the list of
// secrets that are none. It is read when the scan begins, so that a change counts from the next scan on.
import type { Sql } from '../database.js';
import type { Severity } from '../findings/words.js';
import type { Rule, ScanKind, Scanner } from '../scanners/contract.js';
import type { Additions, Allowed, OwnRule } from '../scanners/own/additions.js';
import type { ScanResult } from '../scanners/run/result.js';

export interface Setting {
  readonly rule_id: string;
  /** null: of the organisation. */
  readonly application_id: number | null;
  /** null: as the organisation has it. */
  readonly enabled: boolean | null;
  readonly severity: Severity | null;
  readonly reason: string;
  readonly updated_by: string;
  readonly updated_at: Date;
}

export interface OwnRow {
  readonly id: number;
  readonly kind: 'sast' | 'secrets';
  readonly rule_id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly cwes: readonly number[];
  readonly description: string;
  readonly remediation: string;
  readonly pattern: string;
  readonly endings: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
}

/** By rule: what the organisation has set, and over it what is set for the application. */
export async function settingsOf(
  sql: Sql,
  kind: ScanKind,
  application: number | null,
): Promise<ReadonlyMap<string, Setting>> {
  const rows = await sql<Setting[]>`
    select * from vm_scan_rules where kind = ${kind}
      and (application_id is null or application_id = ${application}) order by application_id nulls first`;
  const found = new Map<string, Setting>();
  for (const row of rows) {
    const above = found.get(row.rule_id);
    const { enabled, severity } = row;
    found.set(row.rule_id, {
      ...row,
      enabled: enabled ?? above?.enabled ?? true,
      severity: severity ?? above?.severity ?? null,
    });
  }
  return found;
}

export const ownRows = async (sql: Sql, kind: ScanKind): Promise<readonly OwnRow[]> => sql<OwnRow[]>`
  select * from vm_own_rules where kind = ${kind} order by id`;

export const asRule = (row: OwnRow): Rule => ({
  ...{ id: row.rule_id, version: 1, title: row.title, severity: row.severity, cwes: row.cwes },
  ...{ description: row.description, remediation: row.remediation },
});

export const asOwn = ({ rule_id: id, kind, title, severity, pattern, endings }: OwnRow): OwnRule => ({
  ...{ id, kind, title, severity, pattern, endings },
});

export interface Profile {
  /** What the run says of it: rules that were off, and those whose findings have another severity. */
  readonly told: { readonly rules_off: readonly string[]; readonly severities_set: readonly string[] };
  /** With the installation's own rules. */
  readonly scanner: Scanner;
  readonly additions: Additions;
  /** Findings as the settings want them. */
  adjust(result: ScanResult): ScanResult;
}

export async function profileOf(sql: Sql, scanner: Scanner, application: number, now: Date): Promise<Profile> {
  const settings = await settingsOf(sql, scanner.kind, application);
  const own = await ownRows(sql, scanner.kind);
  const allowed =
    scanner.kind === 'secrets'
      ? await sql<Allowed[]>`
          select kind, value, reason from vm_secret_allowlist
          where expires_at > ${now} and (application_id is null or application_id = ${application}) order by id`
      : [];
  const isOn = (rule: string): boolean => settings.get(rule)?.enabled !== false;
  const extended: Scanner = {
    ...scanner,
    rules: [...scanner.rules, ...own.map(asRule)].map((rule) => withSeverity(rule, settings.get(rule.id)?.severity)),
  };
  const set = [...settings.values()];
  return {
    told: {
      rules_off: set.filter(({ enabled }) => enabled === false).map(({ rule_id: id }) => id),
      severities_set: set.filter(({ severity }) => severity !== null).map(({ rule_id: id }) => id),
    },
    scanner: extended,
    additions: { rules: own.filter(({ rule_id: id }) => isOn(id)).map(asOwn), allowed: [...allowed] },
    adjust: (result) => ({
      ...result,
      results: result.results.map((one) => ({
        ...one,
        findings: one.findings
          .filter(({ rule }) => isOn(rule))
          .map((finding) => withSeverity(finding, settings.get(finding.rule)?.severity)),
      })),
    }),
  };
}

const withSeverity = <T extends object>(of: T, severity: Severity | null | undefined): T =>
  severity === null || severity === undefined ? of : { ...of, severity };
