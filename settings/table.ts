// The settings object: every field of section 2 of the specification and ours, in one closed schema. Where the
// specification gives no name, unit or default, ours are chosen in rows/ and nowhere else.
import { Type, type Static } from '@sinclair/typebox';
import { defaultOf, factsOf, type Access } from './row.js';
import { apiRows } from './rows/api.js';
import { dataPlaneRows } from './rows/data-plane.js';
import { detectionRows } from './rows/detection.js';
import { governanceRows } from './rows/governance.js';
import { httpsRows } from './rows/https.js';
import { telemetryRows } from './rows/telemetry.js';
import { vulnerabilityRows } from './rows/vulnerabilities.js';
import { ruleRows } from './rows/rules.js';
import { siteRules } from './rows/site-rules.js';
import { siteRows } from './rows/sites.js';
import { trafficRows } from './rows/traffic.js';
import type { RulesOfSite } from './site-policies.js';

export const settingRows = {
  ...ruleRows,
  ...siteRows,
  ...trafficRows,
  ...dataPlaneRows,
  ...httpsRows,
  ...detectionRows,
  ...apiRows,
  ...governanceRows,
  ...vulnerabilityRows,
  ...telemetryRows,
};
export type SettingName = keyof typeof settingRows;
export const settingNames = Object.keys(settingRows) as SettingName[];

export const SettingsSchema = Type.Object(settingRows, { $id: 'Settings', additionalProperties: false });
export type Settings = Static<typeof SettingsSchema>;
/** Those that become rules, with what of the sites does. */
export type RuleSettings = Pick<Settings, keyof typeof ruleRows> & { readonly sites: readonly RulesOfSite[] };

const ruleNames = Object.keys(ruleRows) as (keyof typeof ruleRows)[];
const siteRuleNames = ['name', ...Object.keys(siteRules)] as (keyof RulesOfSite)[];

const pick = <T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> =>
  Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;

/** What of the settings becomes rules, and nothing else (no secrets). */
export function ruleSettingsOf(settings: Settings): RuleSettings {
  return { ...pick(settings, ruleNames), sites: settings.sites.map((site) => pick(site, siteRuleNames)) };
}

/** What settings mean that say nothing, without asking the check. */
export function defaultSettings(): Settings {
  return Object.fromEntries(settingNames.map((name) => [name, defaultOf(settingRows[name])])) as Settings;
}

/** What a new installation begins with: the defaults, but for settings that are on in new installations only. */
export function initialSettings(): Settings {
  const rows = settingNames.map((name) => [name, factsOf(settingRows[name]).initially] as const);
  const others = Object.fromEntries(rows.filter(([, value]) => value !== undefined));
  return { ...defaultSettings(), ...structuredClone(others) };
}

/** Who may change a setting. */
export const accessOf = (name: SettingName): Access => factsOf(settingRows[name]).access;

/** Settings that something makes true; the others are stored and answered `not enforced yet`. */
export const enforcedNames: ReadonlySet<SettingName> = new Set(
  settingNames.filter((name) => factsOf(settingRows[name]).enforcedBy !== null),
);

/** Path prefixes compare without their trailing slash: `/a` and `/a/` are one site. */
export function siteIdentity(site: { readonly host: string | null; readonly prefix: string }): string {
  const prefix = site.prefix.replace(/\/{2,}/g, '/').replace(/\/+$/, '');
  return `${(site.host ?? '').toLowerCase()}${prefix === '' ? '/' : prefix}`;
}
