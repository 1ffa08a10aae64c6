// Versions of RPM packages: rpm-version(7), "epoch:version-release". A part is a row of numbers and words; whatever
// else stands between them only separates. `~` sorts before the end, `^` just behind it, then words, then numbers.
import { byNumber, compareLists, sign } from './parts.js';

const shape = /^(?:(\d+):)?([A-Za-z0-9._+~^]+)(?:-([A-Za-z0-9._+~^]+))?$/;
const tokensOf = (part: string): readonly string[] => part.match(/~|\^|\d+|[A-Za-z]+/g) ?? [];

/** The place of a kind of token among the others; nothing is the end of the part. */
function kindOf(token: string | undefined): number {
  if (token === undefined) return 1;
  if (token === '~') return 0;
  if (token === '^') return 2;
  return /^\d/.test(token) ? 4 : 3;
}

function compareToken(one: string | undefined, other: string | undefined): number {
  const kind = kindOf(one) - kindOf(other);
  if (kind !== 0 || one === undefined || other === undefined) return kind;
  return kindOf(one) === 4 ? byNumber(one, other) : sign(one, other);
}

const comparePart = (one: string, other: string): number => compareLists(tokensOf(one), tokensOf(other), compareToken);

/** An epoch that is not written is 0; a release that is not written comes before every one. */
export function compareRpm(left: string, right: string): number | null {
  const [one, other] = [shape.exec(left.trim()), shape.exec(right.trim())];
  if (one === null || other === null) return null;
  return (
    byNumber(one[1] ?? '0', other[1] ?? '0') ||
    comparePart(one[2] ?? '', other[2] ?? '') ||
    comparePart(one[3] ?? '', other[3] ?? '')
  );
}
