// A candidate object → complete Settings, or every problem at once with its place. Nothing is half-taken: either the
// whole object is possible or none of it is.
import { Ajv, type ValidateFunction } from 'ajv';
import { betweenRows } from './between-rows.js';
import { explainErrors, formatProblems, type Problem } from './problems.js';
import { SettingsSchema, type Settings } from './table.js';

export type Checked =
  | { readonly kind: 'fine'; readonly settings: Settings }
  /** `schema`: fields that do not fit; `rules`: fields that do not fit together. */
  | { readonly kind: 'refused'; readonly stage: 'schema' | 'rules'; readonly problems: readonly Problem[] };

/** Made when first needed: a process that only wants the table does not pay for it. */
const validator = ((): (() => ValidateFunction) => {
  const made: ValidateFunction[] = [];
  const options = { allErrors: true, useDefaults: true, strict: false, coerceTypes: false, verbose: true } as const;
  // to shorten the program that Ajv writes takes 0.4 s of each process, for checks that are made a few times an hour
  return () => made[0] ?? (made[0] = new Ajv({ ...options, code: { optimize: false } }).compile(SettingsSchema));
})();

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
  const copy = structuredClone(candidate);
  const check = validator();
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
