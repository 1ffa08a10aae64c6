// Versions of NuGet packages: "Package versioning" of its documentation: up to four numbers, then a pre-release as in
// Semantic Versioning, whatever its case; what stands behind `+` does not count.
import { byNumber, comparePrerelease } from './parts.js';

const shape = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/i;

export function compareNuget(left: string, right: string): number | null {
  const [one, other] = [shape.exec(left.trim()), shape.exec(right.trim())];
  if (one === null || other === null) return null;
  for (let at = 1; at <= 4; at++) {
    const made = byNumber(one[at] ?? '0', other[at] ?? '0');
    if (made !== 0) return made;
  }
  const [word, wanted] = [one[5]?.toLowerCase(), other[5]?.toLowerCase()];
  if (word === undefined || wanted === undefined) return word === wanted ? 0 : word === undefined ? 1 : -1;
  return comparePrerelease(word, wanted);
}
