// One custom rule of the settings: what it becomes, what is wrong with it and where. Pure; the compiler does the
// reading.
import { checkRuleText, checkVisualRule, compileRuleTrial, type Diagnostic } from '#compiler';
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
  /** From 1; columns in bytes. 0 when the problem has no place in a text. */
  readonly line: number;
  readonly column: number;
  readonly excerpt: string;
}

export interface CheckedCustomRule {
  /** The rule text, one code unit per byte; null when there is an error. */
  readonly text: string | null;
  readonly problems: readonly RuleProblem[];
}

function toProblem(found: Diagnostic, kind: CustomRule['kind']): RuleProblem {
  const inParts = found.path !== null || kind === 'visual';
  return {
    severity: found.severity === 'info' ? 'note' : found.severity,
    code: found.code,
    message: found.message,
    hint: found.hint,
    path: found.path ?? (kind === 'raw' ? '/seclang' : ''),
    line: inParts ? 0 : found.line,
    column: inParts ? 0 : found.column,
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

/** `others`: the rules it has to live with. Never throws on what a person wrote. */
export function checkCustomRule(rule: CustomRule, others: readonly CustomRule[] = []): CheckedCustomRule {
  const name = `rule ${rule.id}`;
  const checked = rule.kind === 'raw' ? checkRuleText(rule.seclang, customIds, name) : checkVisualRule(rule);
  const problems = checked.diagnostics.map((found) => toProblem(found, rule.kind));
  if (rule.kind === 'raw' && checked.text !== null && !checked.ids.includes(rule.id))
    problems.push(
      settingProblem(
        'error',
        'GH-R0001',
        '/seclang',
        `the text has no rule with the id ${rule.id}`,
        `Write id:${rule.id} in the rule that this entry stands for.`,
      ),
    );
  for (const other of others) {
    if (other.id === rule.id) continue;
    const theirs = other.kind === 'raw' ? checkRuleText(other.seclang, customIds, 'other').ids : [other.id];
    const clash = checked.ids.find((id) => theirs.includes(id) || id === other.id);
    if (clash !== undefined)
      problems.push(
        settingProblem(
          'error',
          'GH-R0002',
          rule.kind === 'raw' ? '/seclang' : '/id',
          `the id ${clash} belongs to the rule ${other.id} (${other.name})`,
          'Give every rule an id of its own.',
        ),
      );
  }
  if (checked.text !== null) {
    const { program } = compileRuleTrial({ path: name, text: checked.text });
    if (program !== null) problems.push(...lintRules(program, checked.ids));
  }
  return { text: problems.some(({ severity }) => severity === 'error') ? null : checked.text, problems };
}
