// The settings object: every field of section 2 of the specification, in one closed schema. Where the specification
// gives no name, unit or default, ours are chosen here and nowhere else.
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { dataPlaneFields } from './schema/data-plane.js';
import { detectionFields } from './schema/detection.js';
import type { FieldAccess } from './schema/field.js';
import { governanceFields } from './schema/governance.js';
import { trafficFields } from './schema/traffic.js';
import { wafFields } from './schema/waf.js';

export const settingsFields = {
  ...wafFields,
  ...trafficFields,
  ...dataPlaneFields,
  ...detectionFields,
  ...governanceFields,
};
export type SettingName = keyof typeof settingsFields;
export const settingNames = Object.keys(settingsFields) as SettingName[];

export const SettingsSchema = Type.Object(settingsFields, { $id: 'Settings', additionalProperties: false });
export type Settings = Static<typeof SettingsSchema>;

/** Who may change a top-level field. */
export function accessOf(name: SettingName): FieldAccess {
  return (settingsFields[name] as TSchema & { 'x-access': FieldAccess })['x-access'];
}

/** Path prefixes compare without their trailing slash: `/a` and `/a/` are one site. */
export function siteIdentity(site: { readonly host: string | null; readonly prefix: string }): string {
  const prefix = site.prefix.replace(/\/{2,}/g, '/').replace(/\/+$/, '');
  return `${(site.host ?? '').toLowerCase()}${prefix === '' ? '/' : prefix}`;
}
