// The settings object: every field of section 2 of the specification and ours, in one closed schema. Where the
// specification gives no name, unit or default, ours are chosen in rows/ and nowhere else.
import { Type, type Static } from '@sinclair/typebox';
import { factsOf, type Access } from './row.js';
import { dataPlaneRows } from './rows/data-plane.js';
import { detectionRows } from './rows/detection.js';
import { governanceRows } from './rows/governance.js';
import { ruleRows } from './rows/rules.js';
import { siteRows } from './rows/sites.js';
import { trafficRows } from './rows/traffic.js';

export const settingRows = {
  ...ruleRows,
  ...siteRows,
  ...trafficRows,
  ...dataPlaneRows,
  ...detectionRows,
  ...governanceRows,
};
export type SettingName = keyof typeof settingRows;
export const settingNames = Object.keys(settingRows) as SettingName[];

export const SettingsSchema = Type.Object(settingRows, { $id: 'Settings', additionalProperties: false });
export type Settings = Static<typeof SettingsSchema>;

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
