import { toCanonicalJson } from '../audit/canonical-json.js';
import { settingNames, type SettingName, type Settings } from './schema.js';
import { defaultSettings } from './validate.js';

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
