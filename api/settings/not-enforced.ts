import { toCanonicalJson } from '../audit/canonical-json.js';
import { defaultSettings, type SettingName, settingNames, type Settings } from '#settings';

/**
 * No silent switch: the settings somebody changed from their defaults although nothing enforces them yet.
 * `enforced` is the list of whoever builds the artifact and the data-plane configuration.
 */
export function findNotEnforced(settings: Settings, enforced: ReadonlySet<SettingName>): SettingName[] {
  const defaults = defaultSettings();
  return settingNames.filter(
    (name) => !enforced.has(name) && toCanonicalJson(settings[name]) !== toCanonicalJson(defaults[name]),
  );
}
