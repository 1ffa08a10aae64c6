// No silent switch: settings that ask for something which nothing enforces yet. What counts is the value in effect, not
// whether somebody changed it: a switch that is on by default looks like protection just as well.
import { toCanonicalJson } from '../audit/canonical-json.js';
import { defaultSettings, enforcedNames, settingNames, settingRows, type SettingName, type Settings } from '#settings';

/** Values that ask for nothing, whatever the setting is. */
const offValues: ReadonlySet<unknown> = new Set([false, 'off', 'ignore', 'monitor', '', null]);

const isOff = (value: unknown): boolean => offValues.has(value) || (Array.isArray(value) && value.length === 0);

/** Not a number, a window or the name of an algorithm, which mean something beside a switch only. */
function isSwitch(name: SettingName): boolean {
  const { type, enum: choices } = settingRows[name] as { readonly type?: string; readonly enum?: readonly unknown[] };
  return type === 'boolean' || type === 'array' || (choices?.some((choice) => offValues.has(choice)) ?? false);
}

const isUnderOff = (name: SettingName, settings: Settings): boolean => {
  const { 'x-under': under } = settingRows[name] as { readonly 'x-under'?: SettingName };
  return under !== undefined && isOff(settings[under]);
};

/**
 * The settings that are on, or were given a value of their own, although nothing enforces them. What is switched off
 * asks for nothing. `enforced` is the table's word (`x-enforced-by`); tests give their own.
 */
export function findNotEnforced(settings: Settings, enforced: ReadonlySet<SettingName> = enforcedNames): SettingName[] {
  const defaults = defaultSettings();
  return settingNames.filter((name) => {
    if (enforced.has(name) || isOff(settings[name])) return false;
    if (toCanonicalJson(settings[name]) !== toCanonicalJson(defaults[name])) return true;
    return isSwitch(name) && !isUnderOff(name, settings);
  });
}
