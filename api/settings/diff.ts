// A readable difference of two settings objects: one line per changed value, lists of named things compared by name.
import { toCanonicalJson } from '../audit/canonical-json.js';
import { escapePointer } from '../http-kit/json-pointer.js';

export interface Change {
  /** JSON pointer; elements of lists with names or ids are addressed by them: `/sites/shop/upstream`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly from?: unknown;
  readonly to?: unknown;
}

const identityKeys = ['id', 'name', 'path'] as const;

/** The members of a list keyed by what identifies them; null when the list has plain values or no unique key. */
function keyed(list: readonly unknown[]): Map<string, unknown> | null {
  for (const key of identityKeys) {
    const entries = list.map((item): [unknown, unknown] => [
      item !== null && typeof item === 'object' ? (item as Record<string, unknown>)[key] : undefined,
      item,
    ]);
    const names = entries.map(([name]) => String(name));
    if (list.length > 0 && entries.every(([name]) => name !== undefined) && new Set(names).size === names.length)
      return new Map(entries.map(([name, item]) => [String(name), item]));
  }
  return null;
}

function membersOf(value: unknown): Map<string, unknown> | null {
  if (Array.isArray(value)) return keyed(value);
  return value !== null && typeof value === 'object' ? new Map(Object.entries(value)) : null;
}

export function diffSettings(from: unknown, to: unknown, path = ''): Change[] {
  if (toCanonicalJson(from) === toCanonicalJson(to)) return [];
  if (from === undefined) return [{ path, kind: 'added', to }];
  if (to === undefined) return [{ path, kind: 'removed', from }];
  const bothLists = Array.isArray(from) && Array.isArray(to);
  const before = bothLists && from.length === 0 ? new Map<string, unknown>() : membersOf(from);
  const after = bothLists && to.length === 0 ? new Map<string, unknown>() : membersOf(to);
  if (before === null || after === null || Array.isArray(from) !== Array.isArray(to))
    return [{ path, kind: 'changed', from, to }];
  const changes: Change[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()]))
    changes.push(...diffSettings(before.get(key), after.get(key), `${path}/${escapePointer(key)}`));
  // same members in another order: load order of rules and zones matters
  return changes.length > 0 ? changes : [{ path, kind: 'changed', from: [...before.keys()], to: [...after.keys()] }];
}

const show = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
};

/** One sentence for lists of versions: the first few changes, and how many more there are. */
export function summarizeChanges(changes: readonly Change[]): string {
  if (changes.length === 0) return 'no change';
  const shown = changes.slice(0, 4).map((change) => {
    const name = change.path.slice(1);
    if (change.kind === 'added') return `${name} added`;
    if (change.kind === 'removed') return `${name} removed`;
    const scalar = typeof change.from !== 'object' && typeof change.to !== 'object';
    return scalar ? `${name}: ${show(change.from)} → ${show(change.to)}` : `${name} changed`;
  });
  return `${shown.join('; ')}${changes.length > 4 ? `; and ${changes.length - 4} more` : ''}`;
}
