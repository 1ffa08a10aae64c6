// What rules about configuration have in common: a row with what people read, and a check that says where it is broken.
import type { Severity } from '../../findings/words.js';
import type { Rule } from '../contract.js';

/** Where a rule is broken. */
export interface Place {
  readonly line: number;
  readonly endLine?: number;
  /** What stands there; absent: the title of the rule. */
  readonly message?: string;
  /** Where the subject has several files. */
  readonly path?: string;
  /** Of the resource. */
  readonly address?: string;
}

export interface Checked<Subject> extends Rule {
  readonly check: (subject: Subject) => readonly Place[];
}

interface Row<Subject> {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly cwes: readonly number[];
  readonly why: string;
  readonly fix: string;
  readonly knownAs?: readonly string[];
  readonly check: (subject: Subject) => readonly Place[];
}

export const rowOf = <Subject>({ why, fix, ...rest }: Row<Subject>): Checked<Subject> => ({
  version: 1,
  description: why,
  remediation: fix,
  ...rest,
});

/** What people see of a row. */
export const asRule = ({ id, version, title, severity, cwes, description, remediation, knownAs }: Rule): Rule => ({
  id,
  version,
  title,
  severity,
  cwes,
  description,
  remediation,
  ...(knownAs === undefined ? {} : { knownAs }),
});
