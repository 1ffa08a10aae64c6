// Applications and findings for tests, with what a test does not care about filled in.
import { ChainEngine } from '../engine.js';
import type { ChainApplication, ChainFinding } from '../finding.js';
import { chainsAnswer, type ChainAnswer, type ChainsAnswer } from '../present.js';

export const application = (id: string, more: Partial<ChainApplication> = {}): ChainApplication => ({
  id,
  name: `App ${id}`,
  environment: 'prod',
  criticality: 'medium',
  projectId: 'p',
  ...more,
});

/** A finding of application `a` unless said otherwise: open, high, neither reachable nor proven. */
export const finding = (id: string, more: Partial<ChainFinding> = {}): ChainFinding => ({
  id,
  applicationId: 'a',
  title: 'Untitled',
  cwe: null,
  severity: 'high',
  status: 'new',
  source: 'dast',
  riskScore: 70,
  riskOverride: null,
  priorityScore: 50,
  reachable: false,
  exploitConfirmed: false,
  location: null,
  ...more,
});

/** The example of the specification's stages: one finding each. */
export const examples = {
  entry: { title: 'Server-side request forgery', cwe: 'CWE-918' },
  execute: { title: 'OS command injection', cwe: 'CWE-78' },
  credential: { title: 'Hard-coded password', cwe: 'CWE-798' },
  privesc: { title: 'IAM role with wildcard actions', cwe: 'CWE-732' },
  pivot: { title: 'Channel open to the whole network', cwe: 'CWE-923' },
  impact: { title: 'Public bucket', cwe: 'CWE-732' },
} as const;

export function engineOf(
  applications: readonly ChainApplication[],
  findings: readonly ChainFinding[],
  withPack = false,
): ChainEngine {
  const engine = new ChainEngine({ withPack });
  for (const one of applications)
    engine.set(
      one,
      findings.filter(({ applicationId }) => applicationId === one.id),
    );
  return engine;
}

export const chainsOf = (
  applications: readonly ChainApplication[],
  findings: readonly ChainFinding[],
  withPack = false,
): ChainsAnswer => chainsAnswer(engineOf(applications, findings, withPack).read());

export const ofKind = ({ chains }: ChainsAnswer, kind: string): ChainAnswer[] =>
  chains.filter((chain) => chain.kind === kind);

export const hopIds = (chain: ChainAnswer | undefined): string[] => chain?.hops.map(({ vuln_id }) => vuln_id) ?? [];
