// The thirteen categories of the CRS that can be switched, and who owns which rule ids: facts that the settings, the
// compiler and the control plane share.

export const categoryKeys = [
  'sqli',
  'xss',
  'rce',
  'php',
  'java',
  'generic',
  'lfi',
  'rfi',
  'protocol',
  'method',
  'scanner',
  'fixation',
  'dataleak',
] as const;
export type CategoryKey = (typeof categoryKeys)[number];

export const ruleIdRanges = {
  custom: [1_000_000, 1_005_999],
  threatIntelligence: [1_006_000, 1_006_999],
  virtualPatches: [1_007_000, 1_007_999],
  sitePolicies: [1_008_000, 1_008_999],
  categoryExclusions: [1_009_000, 1_009_499],
  ruleExclusions: [1_009_500, 1_009_999],
  endpointAuthorisation: [1_010_000, 1_019_999],
  pathReadings: [1_020_000, 1_020_000],
  /** A hundred for each custom rule, for the helper rules of its conditions. */
  conditions: [1_100_000, 1_699_999],
} as const satisfies Record<string, readonly [number, number]>;

const owners: readonly (readonly [range: readonly [number, number], owner: string])[] = [
  [[1, 999_999], 'the core rule set and other rule sets'],
  [ruleIdRanges.custom, 'custom rules'],
  [ruleIdRanges.threatIntelligence, 'the deny list'],
  [ruleIdRanges.virtualPatches, 'virtual patches'],
  [ruleIdRanges.categoryExclusions, 'path exclusions of categories'],
  [ruleIdRanges.ruleExclusions, 'exclusions of single rules'],
  [ruleIdRanges.endpointAuthorisation, 'authorisation of endpoints'],
  [ruleIdRanges.pathReadings, 'paths that cannot be read'],
  [ruleIdRanges.conditions, 'conditions of custom rules'],
];

/** Whose rules have ids like this one, for people who took a wrong one. */
export function ownerOfRuleId(id: number): string {
  return owners.find(([[from, to]]) => id >= from && id <= to)?.[1] ?? 'nobody, and is kept for what may come';
}
