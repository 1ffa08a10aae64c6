// One custom rule of the settings: what it becomes, what is wrong with it and where. Pure; the compiler does the
// reading.
import {
  checkRuleText,
  checkFormRule,
  compileRuleTrial,
  findRuleIds,
  type CheckedRule,
  type Diagnostic,
} from '#compiler';
import { ruleIdRanges, type Settings } from '#settings';
import { lintRules } from './lint.js';

export type CustomRule = Settings['custom_rules'][number];
export type RuleTestRequest = CustomRule['tests'][number];

export const customIds = ruleIdRanges.custom;

export interface RuleProblem {
  readonly severity: 'error' | 'warning' | 'note';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** JSON pointer into the rule, such as `/seclang` or `/value`. */
  readonly path: string;
  /**
   * From 1, columns in bytes: of the rule text where `path` is `/seclang`, else of the field's own text. 0 when the
   * problem has no place in a text.
   */
  readonly line: number;
  readonly column: number;
  readonly excerpt: string;
}

export interface CheckedCustomRule {
  /** The rule text, one code unit per byte; null when there is an error. */
  readonly text: string | null;
  readonly problems: readonly RuleProblem[];
}

function toProblem(found: Diagnostic): RuleProblem {
  return {
    severity: found.severity === 'info' ? 'note' : found.severity,
    code: found.code,
    message: found.message,
    hint: found.hint,
    path: found.path ?? '/seclang',
    line: found.line,
    column: found.column,
    excerpt: Buffer.from(found.excerpt.slice(0, 500), 'latin1').toString('utf8'),
  };
}

const settingProblem = (
  severity: RuleProblem['severity'],
  code: string,
  path: string,
  message: string,
  hint: string,
): RuleProblem => ({ severity, code, message, hint, path, line: 0, column: 0, excerpt: '' });

/** What an entry promises and its text does not hold. */
function checkText(rule: CustomRule, { ids, isEmpty }: CheckedRule): RuleProblem[] {
  if (isEmpty)
    return [
      settingProblem(
        'error',
        'GH-R0001',
        '/seclang',
        'the text has no rule and no change of rules',
        'Write SecRule, SecAction, or a change such as SecRuleUpdateTargetById 942100 "!ARGS:q".',
      ),
    ];
  if (ids.length > 0 && !ids.includes(rule.id))
    return [
      settingProblem(
        'error',
        'GH-R0001',
        '/seclang',
        `the text has no rule with the id ${rule.id}`,
        `Write id:${rule.id} in the rule that this entry stands for, or leave the id of the entry out.`,
      ),
    ];
  if (ids.length === 0 && rule.tests.length > 0)
    return [
      settingProblem(
        'error',
        'GH-R0004',
        '/tests',
        'the text changes rules and has none of its own, so that no test can match it',
        'Remove the tests; the impact of an apply shows what the change means for recorded requests.',
      ),
    ];
  return [];
}

/** Which entries have an id, as their own or in their text. */
export type RuleOwners = ReadonlyMap<number, readonly CustomRule[]>;

export function ownersOf(rules: readonly CustomRule[]): RuleOwners {
  const owners = new Map<number, CustomRule[]>();
  for (const rule of rules)
    for (const id of new Set([rule.id, ...(rule.kind === 'raw' ? findRuleIds(rule.seclang) : [])]))
      owners.set(id, [...(owners.get(id) ?? []), rule]);
  return owners;
}

/** The same for one rule of several: `owners` may hold the rule itself. Never throws on what a person wrote. */
export function checkAgainst(rule: CustomRule, owners: RuleOwners): CheckedCustomRule {
  const name = `rule ${rule.id}`;
  const checked = rule.kind === 'raw' ? checkRuleText(rule.seclang, customIds, name) : checkFormRule(rule);
  const problems = checked.diagnostics.map(toProblem);
  if (rule.kind === 'raw' && checked.text !== null) problems.push(...checkText(rule, checked));
  const clashes = [...new Set([...checked.ids, rule.id])].flatMap((id) =>
    (owners.get(id) ?? []).filter((other) => other.id !== rule.id).map((other) => ({ id, other })),
  );
  for (const other of new Set(clashes.map((clash) => clash.other)))
    problems.push(
      settingProblem(
        'error',
        'GH-R0002',
        rule.kind === 'raw' ? '/seclang' : '/id',
        `the id ${clashes.find((clash) => clash.other === other)?.id} belongs to the rule ${other.id} (${other.name})`,
        'Give every rule an id of its own.',
      ),
    );
  if (checked.text !== null) {
    const { program } = compileRuleTrial({ path: name, text: checked.text });
    if (program !== null) problems.push(...lintRules(program, checked, rule.kind));
  }
  return { text: problems.some(({ severity }) => severity === 'error') ? null : checked.text, problems };
}

/** `others`: the rules it has to live with. Never throws on what a person wrote. */
export const checkCustomRule = (rule: CustomRule, others: readonly CustomRule[] = []): CheckedCustomRule =>
  checkAgainst(rule, ownersOf(others));
