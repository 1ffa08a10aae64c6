// Names of people as values of paths: `/users/jane-doe`, `/u/jsmith/orders`. They look like names of resources. What
// tells them apart is variety: there are many of them, and each has the same below it, while collections have each
// their own. Behind a word for people that takes fewer than elsewhere, because names are what one expects there.
import { below, distinctOf, type Member } from './members.js';
import { isFixed } from './words.js';

/**
 * So many distinct names are enough: with the same thing right below them, or alone. `/users/roles`, `/users/groups`
 * and what else an application has there besides its members are fewer, and have no such thing in common.
 */
export const peopleMin = { sharing: 5, slugs: 8, all: 20 } as const;
/** People have at most so many different things below them. */
const belowMax = 8;

export interface Named {
  readonly members: Member[];
  readonly why: string;
}

/** `values`: words and slugs that may be names, without ids right below them. null: they are too few, or differ. */
export function namesOfPeople(values: readonly Member[], depth: number): Named | null {
  const namesBelow = new Map(values.map((member) => [member, below(member, depth).names]));
  const all = new Set([...namesBelow.values()].flatMap((names) => [...names]));
  const slugs = values.filter(({ kind }) => kind === 'slug');
  const isMany = distinctOf(values) >= peopleMin.all || distinctOf(slugs) >= peopleMin.slugs;
  if (isMany && all.size <= Math.max(belowMax, values.length / 2))
    return { members: [...values], why: 'names behind a word for people' };
  const shared = [...all]
    .filter((name) => !isFixed(name))
    .map((name) => values.filter((one) => namesBelow.get(one)?.has(name)));
  const sharing = shared.sort((one, other) => other.length - one.length)[0] ?? [];
  if (distinctOf(sharing) < peopleMin.sharing) return null;
  const known = new Set(sharing.flatMap((member) => [...(namesBelow.get(member) ?? [])]));
  if (known.size > belowMax) return null;
  // those that nothing was asked of yet are names only where they are as many: a few may be resources of their own
  const bare = values.filter((member) => namesBelow.get(member)?.size === 0);
  const alike = values.filter((member) => {
    const names = [...(namesBelow.get(member) ?? [])];
    return names.length === 0 ? bare.length >= peopleMin.sharing : names.every((name) => known.has(name));
  });
  return {
    members: alike,
    why: `at least ${peopleMin.sharing} names behind a word for people, with the same below them`,
  };
}
