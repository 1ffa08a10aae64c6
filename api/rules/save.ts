// Saving a custom rule: it is checked and its tests are run first, outside the lock of the settings.
import type { FastifyRequest } from 'fastify';
import type { AuditAction } from '../audit/actions.js';
import { findRuleIds } from '#compiler';
import { ApiError, requirePrincipal } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';
import type { Settings } from '#settings';
import { readHead } from '../settings/store.js';
import { checkCustomRule, customIds, ownersOf, type CustomRule, type RuleProblem } from './check.js';
import type { RuleTestResult } from './rule-tests.js';
import type { RuleSandbox } from './sandbox/sandbox.js';

export type RuleParts = SettingsWriter & Pick<Parts, 'sandbox'>;

export interface RuleEdit {
  readonly rule: CustomRule;
  /** All of them afterwards. */
  readonly rules: CustomRule[];
}

interface Fit {
  readonly problems: RuleProblem[];
  readonly tests: RuleTestResult[];
}

/**
 * Throws 422 with every problem and its place, or with the tests that fail; `conflict` when the rules changed
 * meanwhile.
 */
export async function saveRule(
  parts: RuleParts,
  request: FastifyRequest,
  action: AuditAction,
  edit: (current: Settings) => RuleEdit,
) {
  const before = await readHead(parts.database.sql);
  const planned = edit(before.settings);
  const fit = await requireFit(parts.sandbox, planned);
  const saved = await changeSettings(parts, requirePrincipal(request), {
    action,
    ifMatch: request.headers['if-match'],
    // the lock sees whether the rules are still those that were tested
    propose: (shown) => {
      const now = edit(shown);
      const isOther =
        JSON.stringify(now.rule) !== JSON.stringify(planned.rule) ||
        checkCustomRule(now.rule, now.rules).text !== checkCustomRule(planned.rule, planned.rules).text;
      if (isOther) throw new ApiError('conflict', 'The custom rules were changed while the tests ran. Try again.');
      return { ...shown, custom_rules: now.rules };
    },
  });
  return {
    ...fit,
    rule: requireRule(saved.stored.settings, planned.rule.id),
    version: saved.stored.id,
    etag: saved.stored.etag,
  };
}

/** A rule that is to be enabled has to compile and to pass its own tests; a disabled one may be unfinished. */
async function requireFit(sandbox: RuleSandbox, { rule, rules }: RuleEdit): Promise<Fit> {
  const { text, problems } = checkCustomRule(rule, rules);
  if (text === null && rule.enabled) throw doesNotCompile(rule, problems);
  const tests = text === null ? [] : await sandbox.runTests({ id: rule.id, text, tests: rule.tests });
  if (rule.enabled && tests.some(({ passed }) => !passed)) throw testsFail(rule, tests, problems);
  return { problems: [...problems], tests };
}

function doesNotCompile(rule: CustomRule, problems: readonly RuleProblem[]): ApiError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const first = errors[0];
  const place = first === undefined ? '' : ` (${placeOf(first)})`;
  return new ApiError(
    'settings_impossible',
    `Rule ${rule.id} cannot be used: ${first?.message ?? 'it does not compile'}${place}.`,
    { errors: errors.map(({ path, message }) => ({ path, reason: message })), extensions: { diagnostics: problems } },
  );
}

/** `line 2, column 9` of a rule text, else the field. */
export const placeOf = ({ path, line, column }: RuleProblem): string =>
  path === '/seclang' && line > 0 ? `line ${line}, column ${column}` : path.slice(1).replaceAll('/', ' ');

function testsFail(rule: CustomRule, tests: RuleTestResult[], problems: readonly RuleProblem[]): ApiError {
  const reasons = tests.flatMap(({ passed, name, expected, got }, index) =>
    passed ? [] : [{ path: `/tests/${index}`, reason: `"${name}": expected ${expected}, got ${got}` }],
  );
  return new ApiError(
    'settings_impossible',
    `Rule ${rule.id} cannot be enabled: ${reasons.length} of its ${tests.length} tests fail (${reasons[0]?.reason}).`,
    { errors: reasons, extensions: { tests, diagnostics: problems } },
  );
}

/** Throws `not_found`. */
export function requireRule(settings: Settings, id: number): CustomRule {
  const rule = settings.custom_rules.find((one) => one.id === id);
  if (rule === undefined) throw new ApiError('not_found', `There is no custom rule ${id}.`);
  return rule;
}

/** The first id that no rule has, nor the text of one; throws `conflict` when there is none. */
export function nextId(rules: readonly CustomRule[]): number {
  const used = ownersOf(rules);
  for (let id = customIds[0]; id <= customIds[1]; id += 1) if (!used.has(id)) return id;
  throw new ApiError('conflict', 'Every id for custom rules is in use.');
}

/** The id of a rule that was sent without one: that of its text, else the next free one; throws `conflict`. */
export function idFor(rule: Pick<CustomRule, 'kind' | 'seclang'>, rules: readonly CustomRule[]): number {
  const written = rule.kind === 'raw' ? findRuleIds(rule.seclang) : [];
  return written.find((id) => id >= customIds[0] && id <= customIds[1]) ?? nextId(rules);
}
