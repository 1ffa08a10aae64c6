// A report: each control with its result, the settings behind it, who changed them last, and what proves it.
import { settingRows, type SettingName, type Settings } from '#settings';
import type { Queryable } from '../db/client.js';
import { hideSecrets } from '../settings/secrets.js';
import { checks, type CheckName } from './checks.js';
import { frameworks, type FrameworkId } from './controls.js';
import { readFacts, type ComplianceParts, type Facts } from './facts.js';
import { worstOf, type CheckResult, type Result } from './result.js';

export interface LastChange {
  readonly version: number;
  readonly at: Date;
  readonly author: string;
  /** Id of the audit entry; null: it is older than the log is kept. */
  readonly auditEntry: number | null;
}
export interface LiveSetting {
  readonly name: string;
  readonly value: unknown;
  /** The file of this program that makes it so; null: nothing does. */
  readonly enforcedBy: string | null;
  /** null: never changed, or by a version that is not kept any more. */
  readonly lastChange: LastChange | null;
}
export interface ReportedCheck extends Omit<CheckResult, 'settings'> {
  readonly name: CheckName;
  readonly settings: readonly LiveSetting[];
}
export interface ReportedControl {
  readonly framework: FrameworkId;
  readonly id: string;
  readonly title: string;
  readonly result: Result;
  readonly checks: readonly ReportedCheck[];
}
export interface Report {
  readonly at: Date;
  readonly activeVersion: number | null;
  readonly controls: readonly ReportedControl[];
}

export async function makeReport(parts: ComplianceParts, wanted: readonly FrameworkId[]): Promise<Report> {
  const { sql } = parts.database;
  const facts = await readFacts(parts);
  const changes = await lastChanges(sql);
  const asked = new Map<CheckName, ReportedCheck>();
  const ask = (name: CheckName): ReportedCheck => {
    const known = asked.get(name);
    if (known !== undefined) return known;
    const { settings, ...told } = checks[name](facts);
    const made = { name, ...told, settings: settings.map((one) => liveSetting(one as SettingName, facts, changes)) };
    asked.set(name, made);
    return made;
  };
  const controls = wanted.flatMap((framework) =>
    frameworks[framework].controls.map(({ id, title, checks: names }): ReportedControl => {
      const answered = names.map(ask);
      return { framework, id, title, result: worstOf(answered.map(({ result }) => result)), checks: answered };
    }),
  );
  return { at: facts.now, activeVersion: facts.activeId, controls };
}

/** Of what serves, for settings that reach rules or nodes; of what was saved for those of the control plane itself. */
function liveSetting(name: SettingName, facts: Facts, changes: ReadonlyMap<string, LastChange>): LiveSetting {
  const { 'x-reach': reach, 'x-enforced-by': enforcedBy } = settingRows[name] as {
    readonly 'x-reach': readonly string[];
    readonly 'x-enforced-by': string | null;
  };
  const source: Settings | null = reach.includes('control') ? facts.saved : facts.active;
  return {
    name,
    value: source === null ? null : hideSecrets(source)[name],
    enforcedBy,
    lastChange: changes.get(name) ?? null,
  };
}

/** Of each setting the newest kept version that changed it, with its audit entry. */
async function lastChanges(sql: Queryable): Promise<ReadonlyMap<string, LastChange>> {
  const versions = await sql<{ id: number; at: Date; author: string; changes: string }[]>`
    select id, at, author, changes from settings_versions order by id desc`;
  const entries = await sql<{ id: number; details: string }[]>`
    select id, details from audit_entries where action in ('settings.update', 'config.rollback')
    order by id desc limit 500`;
  const entryOf = new Map<number, number>();
  for (const { id, details } of entries) {
    const { version } = (JSON.parse(details) ?? {}) as { readonly version?: unknown };
    if (typeof version === 'number' && !entryOf.has(version)) entryOf.set(version, id);
  }
  const found = new Map<string, LastChange>();
  for (const { id, at, author, changes } of versions)
    for (const { path } of JSON.parse(changes) as readonly { readonly path: string }[]) {
      const name = path.split('/')[1] ?? '';
      if (!found.has(name)) found.set(name, { version: id, at, author, auditEntry: entryOf.get(id) ?? null });
    }
  return found;
}
