// A save refuses a rule whose own tests fail, and so does an apply: a version may be older than the program, or come
// from a file that was taken over. A step of the apply only: what serves already is brought back whatever its tests
// say, or a better engine would undo protection.
import { checkCustomRule, type CustomRule } from '../../rules/check.js';
import type { RuleSandbox } from '../../rules/sandbox/sandbox.js';
import type { Settings } from '#settings';
import type { ApplyDiagnostic } from '../contract.js';

const provenMax = 5000;

export interface RuleTests {
  /** Runs the tests of enabled custom rules; one diagnostic, with its place in the settings, for each that fails. */
  prove(settings: Settings): Promise<ApplyDiagnostic[]>;
}

/** Rules that were proven once are remembered, so that an apply that leaves them alone costs nothing here. */
export function createRuleTests(sandbox: Pick<RuleSandbox, 'runAll'>): RuleTests {
  const proven = new Set<string>();
  return {
    async prove(settings) {
      const open = settings.custom_rules
        .flatMap((rule, index) =>
          rule.enabled && rule.tests.length > 0 ? [{ rule, index, key: JSON.stringify(rule) }] : [],
        )
        .filter(({ key }) => !proven.has(key));
      // what does not compile is the compiler's to refuse, with every other problem of the settings
      const jobs = open.flatMap((one) => {
        const { text } = checkCustomRule(one.rule);
        return text === null ? [] : [{ ...one, text }];
      });
      const results = await sandbox.runAll(jobs.map(({ rule, text }) => ({ id: rule.id, text, tests: rule.tests })));
      return jobs.flatMap(({ rule, index, key }, at) => {
        const failed = (results[at] ?? []).flatMap((result, test) =>
          result.passed
            ? []
            : [
                diagnostic(
                  rule,
                  `/custom_rules/${index}/tests/${test}`,
                  `the test "${result.name}" of rule ${rule.id} expects ${result.expected} and gets ${result.got}`,
                ),
              ],
        );
        if (failed.length === 0) {
          if (proven.size >= provenMax) proven.clear();
          proven.add(key);
        }
        return failed;
      });
    },
  };
}

function diagnostic(rule: CustomRule, path: string, message: string): ApplyDiagnostic {
  return {
    severity: 'error',
    code: 'GH-R0003',
    message,
    file: `rule ${rule.id}`,
    line: 1,
    column: 1,
    excerpt: '',
    path,
    hint: 'Fix the rule or its test, or disable the rule; POST /api/rules/test shows what happens.',
  };
}
