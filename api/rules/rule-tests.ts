// A rule's own test requests, run through the interpreter: the rule alone, with the engine's usual configuration.
import { compileRuleTrial, createTrial } from '#compiler';
import type { RuleTestRequest } from './check.js';

export interface RuleTestResult {
  readonly name: string;
  readonly expected: RuleTestRequest['expect'];
  readonly got: RuleTestRequest['expect'];
  readonly passed: boolean;
  /** Where it matched, as `ARGS:q`; '' when it did not. */
  readonly variable: string;
  readonly verdict: 'pass' | 'flag' | 'block';
  readonly status: number | null;
}

export interface RuleTestJob {
  readonly id: number;
  /** Rule text that compiles, one code unit per byte. */
  readonly text: string;
  readonly tests: readonly RuleTestRequest[];
}

/** A test matches when the rule with this id does; other rules of the text only help it. */
export function runRuleTests({ id, text, tests }: RuleTestJob): RuleTestResult[] {
  const { program } = compileRuleTrial({ path: `rule ${id}`, text });
  if (program === null) throw new Error(`rule ${id} was said to compile and does not`);
  const trial = createTrial(program);
  return tests.map((test) => {
    const outcome = trial.run(test);
    const match = outcome.matched.find((one) => one.id === id);
    const got = match === undefined ? 'no_match' : 'match';
    return {
      name: test.name,
      expected: test.expect,
      got,
      passed: got === test.expect,
      variable: match?.variable ?? '',
      verdict: outcome.kind,
      status: outcome.status,
    };
  });
}
