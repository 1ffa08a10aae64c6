// What files say of packages is what anybody wrote into them: a name that is none would take the whole report with it,
// and a list without an end the process. Both are counted as not looked at, and the rest is compared.
import type { FoundPackage, NotScanned, Outcome } from '../contract.js';

/** Of one scanner in one scan; the largest images and lock files that people have hold a quarter of it. */
export const packagesMax = 20_000;
const charsMax = { name: 500, version: 300, purl: 1500, path: 4096 } as const;
const control = /[\u0000-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const isTold = (one: FoundPackage): boolean =>
  (['name', 'version', 'purl'] as const).every(
    (member) => one[member].length <= charsMax[member] && !control.test(one[member]),
  ) && one.path.length <= charsMax.path;

/** The outcome with at most `room` packages, all of them with names that can be told; what is left out is a fault. */
export function bounded(outcome: Outcome, room: number): Outcome {
  if (outcome.packages.length === 0) return outcome;
  const packages: FoundPackage[] = [];
  const notScanned: NotScanned[] = [...outcome.notScanned];
  const leave = (path: string, reason: string): void => void notScanned.push({ path, reason, isFault: true });
  for (const one of outcome.packages) {
    if (packages.length >= room) {
      leave(one.path.slice(0, 500), `packages beyond ${packagesMax}, which were compared with nothing`);
      break;
    }
    if (isTold(one)) packages.push(one);
    else leave(one.path.slice(0, 500), 'packages whose name or version is none (too long, or with control characters)');
  }
  return { ...outcome, packages, notScanned };
}
