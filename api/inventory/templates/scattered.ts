// Paths of a scanner that an application answers with its page, whatever they are: `/abwwns/x984`, `/beglpv/qfjz`.
// Their first segments read as words, and nothing that they have in common tells values from names of resources, except
// that there are so many which were asked for one thing each, and never for the same.
import { below, distinctOf, type Member } from './members.js';

/** So many are no resources. Where resources are named more are needed, as of words that are alike. */
export const scatteredMin = { root: 100, elsewhere: 60 } as const;

/** A resource that has more things below it than this is known by them, and is no value among others. */
export const thingsMax = 8;

/** Those of `values` that stand for one path each, which goes on with what nobody else has; none where they are few. */
export function scatteredAmong(values: readonly Member[], depth: number, isRoot: boolean): Member[] {
  const owners = new Map<string, number>();
  for (const member of values)
    for (const name of below(member, depth).names) owners.set(name, (owners.get(name) ?? 0) + 1);
  const scattered = values.filter((member) => {
    const next = member.paths.map(({ segments }) => segments[depth + 1]);
    if (member.isSaturated) return next.every((name) => name === '{slug}' || name === '{word}');
    return next.length === 1 && next[0] !== undefined && owners.get(next[0]) === 1;
  });
  return distinctOf(scattered) >= (isRoot ? scatteredMin.root : scatteredMin.elsewhere) ? scattered : [];
}
