// The table of settings is a room of its own; here under the name that this room has used.
export { accessOf, settingNames, SettingsSchema, siteIdentity, type SettingName, type Settings } from '#settings';
