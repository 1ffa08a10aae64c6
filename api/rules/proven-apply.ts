// The settings can be saved with a rule whose own tests fail (PUT knows nothing of rules); they cannot be applied. Rules
// that were proven once are remembered, so that an apply that leaves them alone costs nothing here.
import type { ApplyDiagnostic, ApplySettings } from '../settings/contract.js';
import { checkCustomRule, type CustomRule } from './check.js';
import type { RuleLab } from './lab.js';

const provenMax = 5000;

/** Runs the tests of enabled custom rules before `apply`; a failing one refuses with its place in the settings. */
export function applyProvenRules(apply: ApplySettings, lab: RuleLab): ApplySettings {
  const proven = new Set<string>();
  return async (request) => {
    const open = request.settings.custom_rules.flatMap((rule, index) => (rule.enabled && rule.tests.length > 0 ? [{ rule, index, key: JSON.stringify(rule) }] : [])).filter(({ key }) => !proven.has(key));
    // what does not compile is the compiler's to refuse, with every other problem of the settings
    const jobs = open.flatMap((one) => {
      const { text } = checkCustomRule(one.rule);
      return text === null ? [] : [{ ...one, text }];
    });
    const results = await lab.runAll(jobs.map(({ rule, text }) => ({ id: rule.id, text, tests: rule.tests })));
    const diagnostics: ApplyDiagnostic[] = [];
    for (const [at, { rule, index, key }] of jobs.entries()) {
      const failed = (results[at] ?? []).flatMap((result, test) => (result.passed ? [] : [diagnostic(rule, `/custom_rules/${index}/tests/${test}`, `the test "${result.name}" of rule ${rule.id} expects ${result.expected} and gets ${result.got}`)]));
      if (failed.length === 0) {
        if (proven.size >= provenMax) proven.clear();
        proven.add(key);
      }
      diagnostics.push(...failed);
    }
    if (diagnostics.length > 0) return { kind: 'refused', reason: `${diagnostics.length} tests of custom rules fail: ${diagnostics[0]?.message}.`, diagnostics };
    return apply(request);
  };
}

function diagnostic(rule: CustomRule, path: string, message: string): ApplyDiagnostic {
  return { severity: 'error', code: 'GH-R0003', message, file: `rule ${rule.id}`, line: 1, column: 1, excerpt: '', path, hint: 'Mend the rule or its test, or disable the rule; POST /api/rules/test shows what happens.' };
}
