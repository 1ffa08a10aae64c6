// Every check there is; the profile of a scan chooses among them.
import type { CheckText, Profile } from '../model.js';
import { accessChecks } from './access.js';
import type { Check } from './check.js';
import { codeChecks } from './code.js';
import { errorChecks } from './errors.js';
import { exposedChecks } from './exposed.js';
import { fileChecks } from './files.js';
import { headerChecks } from './headers.js';
import { passiveChecks } from './passive.js';
import { scriptingChecks } from './scripting.js';
import { sqlChecks } from './sql.js';
import { storeChecks } from './stores.js';
import { uploadChecks } from './uploads.js';

export const checks: readonly Check[] = [
  ...sqlChecks,
  ...storeChecks,
  ...codeChecks,
  ...fileChecks,
  ...uploadChecks,
  ...errorChecks,
  ...scriptingChecks,
  ...headerChecks,
  ...exposedChecks,
  ...accessChecks,
];

export const checksOf = (profile: Profile): readonly Check[] => checks.filter((one) => one.profiles.includes(profile));

export const checkTexts: readonly CheckText[] = [...checks, ...passiveChecks];

export const findCheck = (id: string): Check | null => checks.find((one) => one.id === id) ?? null;

/** Where one of these has proved a value already, a slower one of the same weakness adds nothing. */
export const sameWeakness: Readonly<Record<string, readonly string[]>> = {
  'sql-injection-boolean': ['sql-injection-error'],
  'sql-injection-time': ['sql-injection-error', 'sql-injection-boolean'],
  'command-injection-time': ['command-injection'],
  'code-injection': ['sql-injection-error', 'sql-injection-boolean', 'command-injection'],
  'template-injection': ['code-injection'],
  'nosql-injection': ['sql-injection-error', 'sql-injection-boolean', 'code-injection'],
  'upload-served': ['upload-executed'],
  'xss-stored': ['xss-reflected'],
};
