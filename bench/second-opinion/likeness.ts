// How alike two attacks are: the share of three-letter pieces that their skeletons (fixtures/traffic/groups.ts) have in
// common. Collections of attacks repeat themselves, so groups of equal skeletons leave cousins in both halves; what no
// attack of half A resembles is the harder part of half B, and is reported for itself.
import type { Labelled } from './corpus.js';

/** From so many common pieces of all on, two skeletons are cousins. */
const alikeFrom = 0.5;

function piecesOf({ group }: Labelled): Set<string> {
  const pieces = new Set<string>();
  for (let at = group.indexOf(' ') + 1; at + 3 <= group.length; at += 1) pieces.add(group.slice(at, at + 3));
  return pieces;
}

/** Those of `some` that nothing in `seen` resembles. */
export function unlike(some: readonly Labelled[], seen: readonly Labelled[]): Labelled[] {
  const known = seen.map(piecesOf);
  const holders = new Map<string, number[]>();
  for (const [index, pieces] of known.entries())
    for (const piece of pieces) {
      const list = holders.get(piece);
      if (list === undefined) holders.set(piece, [index]);
      else list.push(index);
    }
  return some.filter((one) => {
    const pieces = piecesOf(one);
    const common = new Uint32Array(known.length);
    for (const piece of pieces) for (const index of holders.get(piece) ?? []) common[index] = (common[index] ?? 0) + 1;
    return common.every((count, index) => count < alikeFrom * (pieces.size + (known[index]?.size ?? 0) - count));
  });
}
