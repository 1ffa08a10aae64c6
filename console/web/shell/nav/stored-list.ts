// Lists of names that this browser stores for the user who is logged in: pinned pages, groups that are closed. The
// control plane has no store of preferences; another browser of the same user therefore starts with empty lists.
import { createSignal } from 'solid-js';
import { account } from '../../client/session.js';

/** Only a list of different texts is taken from the storage, and of that the first `max`. */
export function listFrom(stored: string | null, max: number): readonly string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(value)) return [];
    return [...new Set(value.filter((one): one is string => typeof one === 'string'))].slice(0, max);
  } catch {
    return [];
  }
}

/** Of this window: it holds where the browser refuses to store anything. */
const [known, setKnown] = createSignal<Readonly<Record<string, string | null>>>({});
const keyOf = (name: string): string => ['gatehouse', name, account()?.id].join('.');

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export const storedList = (name: string, max: number): readonly string[] => {
  const key = keyOf(name);
  return listFrom(Object.hasOwn(known(), key) ? (known()[key] ?? null) : read(key), max);
};

export function storeList(name: string, list: readonly string[]): void {
  const [key, text] = [keyOf(name), JSON.stringify(list)];
  setKnown((all) => ({ ...all, [key]: text }));
  try {
    localStorage.setItem(key, text);
  } catch {
    // full or forbidden: it holds in this window
  }
}

/** Other windows of the same browser show what was stored last. */
export function followOtherWindows(): () => void {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if (key !== null) setKnown((all) => ({ ...all, [key]: newValue }));
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
