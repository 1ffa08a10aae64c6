import type { Database } from '../db/client.js';
import type { Settings } from '#settings';
import { readHead } from './store.js';

/** How long another server's change may stay unseen by checks that run on every request. */
const freshForMsDefault = 2000;

/**
 * The head settings, re-read at most every two seconds and after every change made by this process. Secrets are sealed.
 */
export function createSettingsReader(
  database: Database,
  now: () => number,
  freshForMs: number = freshForMsDefault,
): { current(): Promise<Settings>; forget(): void } {
  let known: { readonly at: number; readonly settings: Promise<Settings> } | null = null;
  return {
    current() {
      const age = known === null ? Infinity : now() - known.at;
      if (known !== null && age >= 0 && age < freshForMs) return known.settings;
      const settings = readHead(database.sql).then((head) => head.settings);
      const mine = { at: now(), settings };
      known = mine;
      settings.catch(() => {
        if (known === mine) known = null;
      });
      return settings;
    },
    forget() {
      known = null;
    },
  };
}
