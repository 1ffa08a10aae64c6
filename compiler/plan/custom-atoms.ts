// Atoms that only custom rules ask: the rules that people write in the settings.
import type { Program } from '#engine/compile';
import type { PlannedAtom } from './atoms.js';

/** Rules that people write in the settings, by the file names that policy/policy.ts gives them. */
const customFiles = /^gatehouse\/(custom|custom-allow|virtual-patches|rule-exclusions)\.conf$/;
/** More patterns than these are scanned with the rest: an RE2 set of thousands would cost every request. */
const customPatternsMax = 500;

/**
 * They stay out of the automata and go into RE2 sets, which take milliseconds to build: a union of thousands of
 * patterns takes seconds, and a change of one custom rule must not wait for it.
 */
export function findCustomAtoms(program: Program, atoms: readonly PlannedAtom[]): ReadonlySet<number> {
  const custom = atoms.filter((atom) => {
    const item = program.items[atom.item];
    const head = item?.kind === 'rule' ? item.links[0] : undefined;
    return head !== undefined && atom.means.kind === 'patterns' && customFiles.test(program.files[head.file] ?? '');
  });
  const patterns = custom.reduce((sum, { means }) => sum + (means.kind === 'patterns' ? means.patterns.length : 0), 0);
  return new Set(patterns > customPatternsMax ? [] : custom.map(({ index }) => index));
}
