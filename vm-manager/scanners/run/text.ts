// One text by itself, in an engine's process of its own: what others write is read nowhere else.
import type { Scanner } from '../contract.js';
import { noAdditions, type Additions } from '../own/additions.js';
import type { Source } from '../sources/source.js';
import type { ScanResult } from './result.js';
import { scan, scanLimits } from './scan.js';

const atOnceMax = 2;
const runMsMax = 20_000;
let running = 0;

function sourceOf(path: string, text: string): Source {
  const bytes = Buffer.from(text);
  return {
    total: 1,
    isOneFile: true,
    async *items() {
      yield { path, bytes: bytes.length, read: async (most = bytes.length) => bytes.subarray(0, most) };
    },
  };
}

/** null: too many are looked at now. */
export async function scanText(
  path: string,
  text: string,
  scanners: readonly Scanner[],
  additions: Additions = noAdditions,
): Promise<ScanResult | null> {
  if (running >= atOnceMax) return null;
  running++;
  try {
    const { signal } = new AbortController();
    return await scan(sourceOf(path, text), scanners, () => undefined, signal, { ...scanLimits, runMsMax }, additions);
  } finally {
    running--;
  }
}
