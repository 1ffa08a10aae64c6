// A rule of the secrets scanner: what is looked for, and what a candidate has to be.
import type { Severity } from '../../findings/words.js';
import type { Rule } from '../contract.js';

export interface Candidate {
  readonly value: string;
  /** Its line, and some of the text around it. */
  readonly line: string;
  readonly around: string;
  readonly path: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

export interface Detector extends Rule {
  /** One of them stands in the text, whatever its case. */
  readonly keywords: readonly string[];
  /** Global; the group `value` is the secret, without it the whole match. Of linear cost: no nested quantifiers. */
  readonly pattern: RegExp;
  /** Characters behind the keyword that are looked at. */
  readonly reach?: number;
  /** false: none. A severity: that one. */
  readonly judge?: (candidate: Candidate) => boolean | Severity;
  /** Its form alone proves it: words such as `example` in it, or a value of one letter, make it a made-up one. */
  readonly isExact?: boolean;
}

const remediation =
  'Revoke the secret where it was issued and make a new one: everyone who has read the source, its history or its ' +
  'build may have it. Keep the new one in a secret store or in the environment of the process.';

type Given = Omit<Detector, 'version' | 'cwes' | 'remediation' | 'description' | 'pattern'> & {
  readonly pattern: string;
  readonly flags?: string;
  readonly description?: string;
  readonly cwes?: readonly number[];
};

/** With what nearly all rules have in common. */
export function detector({ pattern, flags = '', description, cwes = [798], ...rest }: Given): Detector {
  return {
    version: 1,
    cwes,
    remediation,
    description: description ?? `${rest.title}: a reader of it can act in its owner's name.`,
    ...rest,
    pattern: new RegExp(pattern, `g${flags}`),
  };
}

/** A token that begins with `prefix`; not part of a longer word. */
export const token = (
  id: string,
  title: string,
  severity: Severity,
  prefix: string,
  rest: string,
  more: Partial<Given> = {},
): Detector =>
  detector({
    id,
    title,
    severity,
    keywords: [prefix],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])${prefix.replace(/[.]/g, '\\.')}${rest}(?![A-Za-z0-9_-])`,
    ...more,
  });
