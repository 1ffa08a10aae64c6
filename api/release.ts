// The version of this program, which `package.json` beside it says.
import { readFileSync } from 'node:fs';

let known: string | null = null;

/** Such as 0.4.0. */
export function release(): string {
  known ??= (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;
  return known;
}

/** Below 0: `a` is older, above 0: newer. Of the form 1.2.3; what follows a hyphen or a plus does not count. */
export function compareReleases(a: string, b: string): number {
  const partsOf = (text: string): number[] => (text.split(/[-+]/, 1)[0] ?? '').split('.').map(Number);
  const [left, right] = [partsOf(a), partsOf(b)];
  return [0, 1, 2].map((at) => (left[at] ?? 0) - (right[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
