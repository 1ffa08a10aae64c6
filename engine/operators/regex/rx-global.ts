import { groupsMax } from '../../native/re2-pattern.js';
import type { Matcher, Operator } from '../operator.js';
import { compilePattern } from './rx.js';
import { compileSuccessive } from './successive-matches.js';

/**
 * As rx, but TX:0–9 are filled from all matches, one after another, each with its groups; empty matches are passed
 * over.
 */
export const rxGlobal: Operator = {
  name: 'rxGlobal',
  create: (_operator, argument): Matcher => {
    const pattern = compilePattern('rxGlobal', argument);
    const matchesIn = compileSuccessive(
      'rxGlobal',
      argument,
      ({ start, groups }) => start + Math.max(1, (groups[0] as string).length),
    );
    const capture = (value: string): readonly string[] | null => {
      if (!pattern.test(value)) return null;
      const captured: string[] = [];
      for (const { groups } of matchesIn(value)) {
        if (groups[0] !== '') captured.push(...groups);
        if (captured.length >= groupsMax) break;
      }
      return captured.slice(0, groupsMax);
    };
    return { matches: (value) => pattern.test(value), capture };
  },
};
