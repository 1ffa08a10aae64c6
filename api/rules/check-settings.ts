// The rules inside a settings object, checked as /api/rules checks one: what changed has to compile, to have ids of its
// own and to pass its own tests. Runs in the sandbox's thread; pure.
import { checkRuleText, findRuleIds, renderRuleExclusions, type Diagnostic } from '#compiler';
import { ruleIdRanges, type Settings } from '#settings';
import { checkAgainst, ownersOf } from './check.js';
import { runRuleTests } from './rule-tests.js';

export type RulesOfSettings = Pick<Settings, 'custom_rules' | 'virtual_patches' | 'rule_exclusions'>;
type ListName = keyof RulesOfSettings;
const listNames: readonly ListName[] = ['custom_rules', 'virtual_patches', 'rule_exclusions'];

/** Indices of entries that are in force and were not so, or not like this, before. */
export type ChangedRules = Readonly<Record<ListName, readonly number[]>>;

export interface RulesFinding {
  readonly severity: 'error' | 'warning' | 'note';
  readonly code: string;
  /** JSON pointer into the settings. */
  readonly path: string;
  /** With line and column where it is one of a rule text. */
  readonly reason: string;
  readonly fix: string;
}

/** `before`: null where everything counts as changed. */
export function changedRules(before: RulesOfSettings | null, after: RulesOfSettings): ChangedRules {
  const changed = (name: ListName): number[] => {
    const known = new Set((before?.[name] ?? []).map((entry) => JSON.stringify(entry)));
    return after[name].flatMap((entry, index) => (entry.enabled && !known.has(JSON.stringify(entry)) ? [index] : []));
  };
  return {
    custom_rules: changed('custom_rules'),
    virtual_patches: changed('virtual_patches'),
    rule_exclusions: changed('rule_exclusions'),
  };
}

export const isNothingChanged = (changed: ChangedRules): boolean =>
  listNames.every((name) => changed[name].length === 0);

const place = (path: string, line: number, column: number, message: string): string =>
  path.endsWith('/seclang') && line > 0 ? `line ${line}, column ${column}: ${message}` : message;

function checkCustomRules(rules: Settings['custom_rules'], changed: readonly number[]): RulesFinding[] {
  if (changed.length === 0) return [];
  const owners = ownersOf(rules);
  return changed.flatMap((index) => {
    const rule = rules[index];
    if (rule === undefined) return [];
    const { text, problems } = checkAgainst(rule, owners);
    const at = `/custom_rules/${index}`;
    const found = problems.map(
      ({ severity, code, path, line, column, message, hint }): RulesFinding => ({
        severity,
        code,
        path: at + path,
        reason: place(path, line, column, message),
        fix: hint,
      }),
    );
    const tests = text === null ? [] : runRuleTests({ id: rule.id, text, tests: rule.tests });
    const failing = tests.flatMap(({ passed, name, expected, got }, test): RulesFinding[] =>
      passed
        ? []
        : [
            {
              severity: 'error',
              code: 'GH-R0003',
              path: `${at}/tests/${test}`,
              reason: `"${name}": expected ${expected}, got ${got}`,
              fix: 'Fix the rule or its test, or switch the rule off.',
            },
          ],
    );
    return [...found, ...failing];
  });
}

const errorOf = (code: string, path: string, reason: string, fix: string): RulesFinding => ({
  severity: 'error',
  code,
  path,
  reason,
  fix,
});

const ofText = (path: string, found: readonly Diagnostic[]): RulesFinding[] =>
  found
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, line, column, message, hint }) => ({
      severity: severity === 'error' ? 'error' : 'warning',
      code,
      path,
      reason: place(path, line, column, message),
      fix: hint,
    }));

/** The rules of patches that bring their own; those of the catalogue were proven when it was made. */
function checkPatches(patches: Settings['virtual_patches'], changed: readonly number[]): RulesFinding[] {
  return changed.flatMap((index) => {
    const patch = patches[index];
    if (patch === undefined || patch.seclang === '') return [];
    const path = `/virtual_patches/${index}/seclang`;
    const { text, ids, diagnostics } = checkRuleText(patch.seclang, ruleIdRanges.virtualPatches, `patch ${patch.id}`);
    const found = ofText(path, diagnostics);
    if (text === null) return found;
    if (!ids.includes(patch.id))
      found.push(
        errorOf(
          'GH-R0001',
          path,
          `the text has no rule with the id ${patch.id}`,
          `Write id:${patch.id} in the rule that this entry stands for, or leave the id of the entry out.`,
        ),
      );
    const other = patches.find((one) => one.id !== patch.id && findRuleIds(one.seclang).some((id) => ids.includes(id)));
    if (other !== undefined)
      found.push(
        errorOf(
          'GH-R0002',
          path,
          `an id of it belongs to the patch ${other.id} too`,
          'Give every rule an id of its own.',
        ),
      );
    return found;
  });
}

function checkExclusions(exclusions: Settings['rule_exclusions'], changed: readonly number[]): RulesFinding[] {
  return changed.flatMap((index) => {
    const exclusion = exclusions[index];
    if (exclusion === undefined) return [];
    const text = renderRuleExclusions([exclusion]);
    const { diagnostics } = checkRuleText(text, ruleIdRanges.ruleExclusions, `exclusion ${exclusion.id}`);
    // everything else in the text is ours
    const field = exclusion.target === null ? '' : '/target';
    return ofText(`/rule_exclusions/${index}${field}`, diagnostics);
  });
}

/** Everything that is wrong, or probably not meant, with the changed rules. Never throws on what a person wrote. */
export function checkRulesOfSettings(rules: RulesOfSettings, changed: ChangedRules): RulesFinding[] {
  return [
    ...checkCustomRules(rules.custom_rules, changed.custom_rules),
    ...checkPatches(rules.virtual_patches, changed.virtual_patches),
    ...checkExclusions(rules.rule_exclusions, changed.rule_exclusions),
  ];
}
