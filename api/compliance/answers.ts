// Every check with its answer, and which controls of frameworks it is for: for the vulnerability manager, whose
// assessments put them beside findings and scans.
import type { FirewallAnswers } from '#vm-manager';
import { checks } from './checks.js';
import { frameworks } from './controls.js';
import { readFacts, type ComplianceParts } from './facts.js';

export async function answerEveryCheck(parts: ComplianceParts): Promise<FirewallAnswers> {
  const facts = await readFacts(parts);
  return {
    checks: new Map(Object.entries(checks).map(([name, check]) => [name, check(facts)])),
    frameworks: Object.entries(frameworks).map(([id, { name, version, controls }]) => ({
      id,
      name,
      version,
      controls: controls.map((control) => ({ id: control.id, title: control.title, checks: [...control.checks] })),
    })),
  };
}
