// A CompileCache in front of a slower one: what was found or made stays at hand, the most recently used up to a size. A
// thread that compiles again and again would otherwise read and check the same 20 MB of automata for every changed
// word.
import type { CompileCache } from './database-compiler.js';

export function rememberIn(slower: CompileCache, bytesMax: number): CompileCache {
  const held = new Map<string, Uint8Array>(); // least recently used first
  let heldBytes = 0;
  const hold = (key: string, bytes: Uint8Array): void => {
    const before = held.get(key);
    held.delete(key);
    held.set(key, bytes);
    heldBytes += bytes.byteLength - (before?.byteLength ?? 0);
    for (const [oldest, { byteLength }] of held) {
      if (heldBytes <= bytesMax) break;
      held.delete(oldest);
      heldBytes -= byteLength;
    }
  };
  return {
    find(key) {
      const bytes = held.get(key) ?? slower.find(key);
      if (bytes !== null) hold(key, bytes);
      return bytes;
    },
    keep(key, bytes) {
      slower.keep(key, bytes);
      hold(key, bytes);
    },
  };
}
