// English texts of VEX: a document that is applied, and the statements that were.
import type { Shown } from '../../shown.js';

export const vexText = {
  title: 'Statements of suppliers (VEX)',
  about: 'OpenVEX, CSAF and CycloneDX: findings follow what they state, unless a person or a proof says otherwise.',
  file: 'Document',
  application: 'Application',
  every: 'Every application that has the product',
  try: 'Dry run',
  apply: 'Import',
  outcome: (matched: Shown, all: Shown, changed: Shown, conflicts: Shown) =>
    `${matched} of ${all} statements met findings; ${changed} changed, ${conflicts} contradict a decision or a proof.`,
  wouldBe: 'Dry run: nothing was changed',
  done: 'Imported',
  list: 'Statements',
  none: 'No statement',
  vulnerability: 'Vulnerability',
  product: 'Product',
  status: 'States',
  met: 'Findings',
  changed: 'Changed',
  author: 'By',
  when: 'When',
} as const;
