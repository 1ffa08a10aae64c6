// What people send as settings, before it is checked: old names become current ones, and entries of lists get the ids
// that nobody has to think of. What was read otherwise than it was written is told in a header of the answer.
import { findRuleIds } from '#compiler';
import { withCurrentNames, withIds, type Settings } from '#settings';
import { readManagedRules } from '../change/steps/managed-rules.js';
import type { Queryable } from '../db/client.js';
import { patchCatalog } from '../vpatch/catalog/index.js';

export interface Note {
  /** JSON pointer into what was sent. */
  readonly path: string;
  readonly note: string;
}

export interface Given {
  readonly body: Record<string, unknown>;
  readonly notes: readonly Note[];
}

/** `settings`: in force, for the rules that the managed feed has. */
export async function readGiven(sql: Queryable, settings: Settings, sent: Record<string, unknown>): Promise<Given> {
  const renamed = withCurrentNames(sent);
  const hasPatches = Array.isArray(sent['virtual_patches']);
  const { delivered } = hasPatches ? await readManagedRules(sql, settings) : { delivered: [] };
  const ofCve = (cve: string): number[] =>
    [...patchCatalog, ...delivered].filter((patch) => patch.cve === cve).map(({ id }) => id);
  const identified = withIds(renamed.value, { inText: findRuleIds, ofCve });
  return { body: identified.value as Record<string, unknown>, notes: [...renamed.notes, ...identified.notes] };
}

const notesMax = 20;
const noteCharsMax = 300;

/** A header's value: JSON in ASCII, bounded, because clients and proxies bound headers. null: nothing to say. */
export function notesHeader(notes: readonly Note[]): string | null {
  if (notes.length === 0) return null;
  const shown = notes.slice(0, notesMax).map(({ path, note }) => ({ path, note: note.slice(0, noteCharsMax) }));
  const more = notes.length - shown.length;
  const all = more === 0 ? shown : [...shown, { path: '', note: `and ${more} more` }];
  return JSON.stringify(all).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
