// The check of settings is the table's own; here under the names that this room has used.
export { checkSettings, defaultSettings, explainErrors as toProblemFields, type Checked } from '#settings';
