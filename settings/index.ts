// The door of the settings: what a person may set, checked in one place.
//   rows/          the table: one row a setting
//   check.ts       a candidate → complete settings, or every problem with its place and how to fix it
//   local-file.ts  the settings of a data plane without a control plane; old names
//   data-plane.ts  the rows that a node gets, and their check at its door
//   reference.ts   the table for people (docs/settings.md)
// It refuses to know who stores settings or what becomes of them.
export { exclusionTargetPattern } from './between-rows.js';
export { checkSettings, completeSettings, findImpossible, requireSettings, type Checked } from './check.js';
export {
  createDoorCheck,
  dataPlaneDefaults,
  dataPlaneProperties,
  siteDefaults,
  toDataPlane,
  type DataPlaneSettings,
} from './data-plane.js';
export { withIds, type IdSources } from './ids.js';
export { readLocalFile, type LocalFile } from './local-file.js';
export { withCurrentNames, type Renamed } from './names.js';
export { explainErrors, formatProblems, type Problem } from './problems.js';
export { findProfile, profiles, type Profile } from './profiles.js';
export { describeSettings } from './reference.js';
export { keptSecret, type Access } from './row.js';
export { categoryKeys, ownerOfRuleId, ruleIdRanges, type CategoryKey } from './rows/categories.js';
export { CustomRule, RuleTest } from './rows/rules.js';
export { basePolicy, parseWindow, strictPolicy } from './rows/words.js';
export { usualContentTypes } from './rows/http-policy.js';
export { conditionFields, type ConditionField, type RuleCondition } from './rows/rule-conditions.js';
export {
  contentOfSite,
  sitePoliciesMax,
  sitePoliciesOf,
  type SitePolicy,
} from './site-policies.js';
export {
  accessOf,
  defaultSettings,
  enforcedNames,
  initialSettings,
  ruleSettingsOf,
  settingNames,
  settingRows,
  SettingsSchema,
  siteIdentity,
  type RuleSettings,
  type SettingName,
  type Settings,
} from './table.js';
