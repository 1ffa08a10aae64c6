// Where candidates for exclusions are compiled with the whole rule set and tried.
import {
  compileProgram,
  createTrial,
  diskReader,
  loadCoreRuleSet,
  renderPolicy,
  resolvePolicy,
  type Diagnostic,
  type Policy,
  type ScopedExclusion,
  type Trial,
} from '#compiler';
import { type RuleSettings } from '#settings';

/** The rules that an exclusion is tried with. */
export interface RulesInForce {
  readonly crsDirectory: string;
  /** In force already. */
  readonly rules: RuleSettings;
  readonly nowMs: number;
}

const describe = (found: readonly Diagnostic[]): string => JSON.stringify(found.slice(0, 3));

/** The rule set with the settings in force, compiled with and without candidates. */
export class Workbench {
  readonly base: Trial;
  private readonly policy: Policy;

  constructor(private readonly inForce: RulesInForce) {
    const loaded = loadCoreRuleSet(inForce.crsDirectory, diskReader);
    const resolved = loaded.crs === null ? null : resolvePolicy(inForce.rules, loaded.crs);
    if (resolved?.policy == null)
      throw new Error(`the settings cannot be tried: ${describe(resolved?.diagnostics ?? loaded.diagnostics)}`);
    this.policy = resolved.policy;
    this.base = this.compile([]);
  }

  compile(exclusions: readonly ScopedExclusion[]): Trial {
    const sources = renderPolicy(this.policy, exclusions);
    const { program, diagnostics } = compileProgram(sources, { reader: diskReader });
    if (program === null)
      throw new Error(
        `the rules do not compile: ${describe(diagnostics.filter(({ severity }) => severity === 'error'))}`,
      );
    return createTrial(program, this.inForce.nowMs);
  }
}
