// Which analyzer a rule is of, where a report's tool carries several under one name: the error log of a compiler has
// the rules of all analyzers of a build, SonarQube imports those of others, and collections run dozens of linters.
// The rule's own analyzer judges; only a rule that is of none of them is judged by the tool.
import type { ToolProfile } from './profile.js';
import { ruleOf } from './rule-names.js';
import { profileOf } from './tools.js';

export interface Analyzer {
  /** null: nobody knows it, so that nothing of it is hidden. */
  readonly profile: ToolProfile | null;
  /** As the profile's tables have it. */
  readonly rule: string;
}

/** The profile that judges a rule of a report's tool; the path helps where ids of two analyzers look alike. */
export function analyzerOf(tool: string, ruleId: string, path = ''): Analyzer {
  const own = profileOf(tool);
  for (const [pattern, name] of own?.carries ?? []) {
    const found = pattern.exec(ruleId);
    const profile = found === null ? null : profileOf(name === '' ? (found.groups?.['tool'] ?? '') : name);
    if (profile !== null) return { profile, rule: found?.groups?.['rule'] ?? ruleId };
  }
  if (own?.carriesAny !== true) return { profile: own, rule: ruleId };
  const named = ruleOf(ruleId, path);
  return { profile: named.tool === null ? null : profileOf(named.tool), rule: named.rule };
}
