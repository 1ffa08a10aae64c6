// A candidate object → complete Settings, or every problem at once with its place. Nothing is half-taken: either the
// whole object is possible or none of it is.
import type { ValidateFunction } from 'ajv';
import { betweenRows } from './between-rows.js';
import { compileCheck, explainErrors, formatProblems, type Problem } from './problems.js';
import { settingNames, settingRows, SettingsSchema, type SettingName, type Settings } from './table.js';

export type Checked =
  | { readonly kind: 'fine'; readonly settings: Settings }
  /** `schema`: fields that do not fit; `rules`: fields that do not fit together. */
  | { readonly kind: 'refused'; readonly stage: 'schema' | 'rules'; readonly problems: readonly Problem[] };

/** Made when first needed: a process that only wants the table does not pay for it. */
const validator = ((): { readonly whole: () => ValidateFunction; readonly isMade: () => boolean } => {
  const made: ValidateFunction[] = [];
  return { whole: () => made[0] ?? (made[0] = compileCheck(SettingsSchema)), isMade: () => made.length > 0 };
})();
let partsMade = 0;
/** A process that asks more often has the whole check made. */
const partsMax = 2;

/** The default of a row where an absent field needs no more than that; null: it has to be looked at. */
function plainDefault(name: SettingName): { readonly value: unknown } | null {
  const { default: value } = settingRows[name] as { readonly default?: unknown };
  const isPlain = value === null || (value !== undefined && typeof value !== 'object');
  return isPlain || (Array.isArray(value) && value.length === 0) ? { value } : null;
}

/**
 * Settings that say little fit by the schemas of what they say: the program that Ajv writes for all rows takes 0.2 s of
 * the start of a data plane, whose file names a handful. Null: ask the whole check, which also says what does not fit.
 */
function fitBriefly(candidate: unknown): Settings | null {
  if (validator.isMade() || partsMade >= partsMax) return null;
  if (typeof candidate !== 'object' || candidate === null || Array.isArray(candidate)) return null;
  const absent = settingNames.filter((name) => !Object.hasOwn(candidate, name) && plainDefault(name) !== null);
  if (absent.length < settingNames.length / 2) return null;
  partsMade += 1;
  const asked = settingNames.filter((name) => !absent.includes(name));
  const check = compileCheck({
    ...SettingsSchema,
    properties: Object.fromEntries(asked.map((name) => [name, settingRows[name]])),
    required: (SettingsSchema.required ?? []).filter((name) => (asked as string[]).includes(name)),
  });
  const copy = structuredClone(candidate) as Record<string, unknown>;
  if (!check(copy)) return null;
  const valueOf = (name: string): unknown =>
    Object.hasOwn(copy, name) ? copy[name] : structuredClone(plainDefault(name as SettingName)?.value);
  // in the order in which the whole check leaves them: what was said, then the rest as in the table
  const names = new Set<string>([...Object.keys(candidate), ...settingNames]);
  return Object.fromEntries([...names].map((name) => [name, valueOf(name)])) as unknown as Settings;
}

/**
 * Fills absent fields with their defaults, then checks every field and every rule between fields. Does not change its
 * argument.
 */
export function checkSettings(candidate: unknown): Checked {
  const fitted = fit(candidate);
  if (fitted.kind === 'refused') return fitted;
  const problems = findImpossible(fitted.settings);
  return problems.length > 0 ? { kind: 'refused', stage: 'rules', problems } : fitted;
}

function fit(candidate: unknown): Checked {
  const brief = fitBriefly(candidate);
  if (brief !== null) return { kind: 'fine', settings: brief };
  const copy = structuredClone(candidate);
  const check = validator.whole();
  if (check(copy)) return { kind: 'fine', settings: copy as Settings };
  return { kind: 'refused', stage: 'schema', problems: explainErrors(check.errors ?? []) };
}

/**
 * What was stored once, with the defaults of fields that came later. Rules between fields are not asked: a newer
 * program may have more of them, and what it then finds (`findImpossible`) is told when the settings are to be applied.
 * Throws when a field does not fit any more.
 */
export function completeSettings(stored: unknown, what: string): Settings {
  const fitted = fit(stored);
  if (fitted.kind === 'fine') return fitted.settings;
  throw new Error(`${what} cannot be read any more: ${JSON.stringify(fitted.problems)}`);
}

/** What cannot be, although every field fits. */
export function findImpossible(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  for (const rule of betweenRows) rule(settings, (path, reason, fix = '') => problems.push({ path, reason, fix }));
  return problems;
}

/** For settings that a program makes, not a person. Throws with every problem. */
export function requireSettings(candidate: unknown): Settings {
  const checked = checkSettings(candidate);
  if (checked.kind === 'fine') return checked.settings;
  throw new Error(formatProblems(checked.problems));
}
