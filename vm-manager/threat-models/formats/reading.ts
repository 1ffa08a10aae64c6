// What all readers of documents share: members of unknown shape, ids, and notes of what was left out.
import { listOf, objectOf, textOf, type Json } from '../../scanners/sca/listing.js';
import type { Dfd } from '../model.js';

export { listOf, objectOf, textOf, type Json };

export interface Read {
  readonly format: 'gatehouse' | 'threagile' | 'otm';
  readonly name: string;
  readonly dfd: Dfd;
  /** What the document says and the model does not keep. */
  readonly notes: readonly string[];
}

const notesMax = 100;

/** Collects notes; the same one once. */
export class Notes {
  private readonly all = new Set<string>();
  add(text: string): void {
    if (this.all.size < notesMax) this.all.add(text.slice(0, 300));
  }
  list(): string[] {
    return [...this.all];
  }
}

/** An id of the document as one of the model. */
export const toKey = (id: string): string =>
  id
    .replace(/[^A-Za-z0-9._:-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 120);

/** A name that fits: one line that is not blank. */
export const toName = (name: string, otherwise: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  name
    .replace(/[\u0000-\u001f]+/g, ' ')
    .trim()
    .slice(0, 200) || otherwise;

/** Members without those that are undefined, which JSON does not have. */
export const whole = <T extends object>(of: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as never;

/** Those of `ids` that are known; what is not is noted. */
export function knownOf(ids: readonly unknown[], known: ReadonlySet<string>, notes: Notes, what: string): string[] {
  const keys = ids.map((id) => toKey(textOf(id))).filter((id) => id !== '');
  for (const id of keys) if (!known.has(id)) notes.add(`${what} names ${id}, which the document does not have.`);
  return [...new Set(keys.filter((id) => known.has(id)))].slice(0, 200);
}
