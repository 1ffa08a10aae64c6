// The graph of a bill: ways from its root to a component, and what two bills have differently. Pure.
import type { Node } from './bill.js';

export const pathsMax = 20;
/** Components of one way. */
const lengthMax = 100;
const stepsMax = 50_000;

/** For each component the ones that need it. */
export function neededBy(nodes: readonly Pick<Node, 'needs'>[]): readonly (readonly number[])[] {
  const found: number[][] = nodes.map(() => []);
  nodes.forEach(({ needs }, from) => {
    for (const to of needs) found[to]?.push(from);
  });
  return found;
}

/**
 * The shortest ways from a root to `target`, each without a circle, shortest first; of a bill without a root they begin
 * at whatever nothing needs. `isCut`: there are more.
 */
export function pathsTo(nodes: readonly Pick<Node, 'needs'>[], root: number | null, target: number) {
  const parents = neededBy(nodes);
  const isRoot = (n: number): boolean => (root === null ? parents[n]?.length === 0 : n === root);
  const paths: number[][] = [];
  const waiting: number[][] = [[target]];
  let isCut = false;
  for (let step = 0; step < waiting.length; step++) {
    if (step >= stepsMax || paths.length >= pathsMax) {
      isCut = true;
      break;
    }
    const way = waiting[step] ?? [];
    const [first = target] = way;
    if (isRoot(first)) {
      paths.push(way);
      continue;
    }
    // each way is a copy: a chain of fifty thousand components would be ten gigabytes of them
    if (way.length >= lengthMax) {
      isCut = true;
      continue;
    }
    for (const parent of parents[first] ?? []) {
      if (way.includes(parent)) continue;
      if (waiting.length < stepsMax) waiting.push([parent, ...way]);
      else isCut = true;
    }
  }
  return { paths, isCut };
}

type Listed = Pick<Node, 'name' | 'version' | 'purl'>;

/** A package whatever its version. */
const packageOf = ({ name, purl }: Listed): string => (purl === '' ? name : purl.replace(/@[^@/?#]*(?=$|[?#])/, ''));

export interface Change {
  readonly name: string;
  readonly purl: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Packages by their name: one that only `b` has is added, one with other versions is changed. */
export function diffOf(a: readonly Listed[], b: readonly Listed[]) {
  const gather = (all: readonly Listed[]) => {
    const found = new Map<string, { readonly one: Listed; readonly versions: Set<string> }>();
    for (const one of all) {
      const known = found.get(packageOf(one));
      if (known === undefined) found.set(packageOf(one), { one, versions: new Set([one.version]) });
      else known.versions.add(one.version);
    }
    return found;
  };
  const [before, after] = [gather(a), gather(b)];
  const [added, removed, changed]: [Change[], Change[], Change[]] = [[], [], []];
  let same = 0;
  for (const key of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [left, right] = [before.get(key), after.get(key)];
    const [from, to] = [[...(left?.versions ?? [])].sort(), [...(right?.versions ?? [])].sort()];
    const { name = '', purl = '' } = (right ?? left)?.one ?? {};
    const change = { name, purl, from, to };
    if (left === undefined) added.push(change);
    else if (right === undefined) removed.push(change);
    else if (from.join('\n') === to.join('\n')) same++;
    else changed.push(change);
  }
  return { added, removed, changed, same };
}
