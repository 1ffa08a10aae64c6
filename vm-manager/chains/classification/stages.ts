// The stages of an attack, in the order of escalation.

export const stages = ['entry', 'execute', 'credential', 'privesc', 'pivot', 'impact'] as const;
export type Stage = (typeof stages)[number];

/** What a person reads for a stage; the names of chains are made of them. */
export const stageLabels: Readonly<Record<Stage, string>> = {
  entry: 'Entry',
  execute: 'Execution',
  credential: 'Credential access',
  privesc: 'Privilege escalation',
  pivot: 'Pivot',
  impact: 'Impact',
};

const ranks: Readonly<Record<Stage, number>> = {
  entry: 0,
  execute: 1,
  credential: 2,
  privesc: 3,
  pivot: 4,
  impact: 5,
};

/** Place of a stage in the escalation, 0 to 5. */
export const stageRank = (stage: Stage): number => ranks[stage];
