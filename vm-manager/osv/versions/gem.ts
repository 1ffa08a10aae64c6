// Versions of gems: the documentation of Gem::Version. Numbers after words, a missing part is 0, a hyphen begins a
// pre-release.
import { byNumber, compareLists, sign } from './parts.js';

const shape = /^\d+(?:\.[0-9A-Za-z]+)*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const partsOf = (text: string): string[] => text.replaceAll('-', '.pre.').match(/\d+|[a-z]+/gi) ?? [];

export function compareGem(left: string, right: string): number | null {
  const [one, other] = [left.trim(), right.trim()];
  if (!shape.test(one) || !shape.test(other)) return null;
  return compareLists(trimmed(partsOf(one)), trimmed(partsOf(other)), (part = '0', wanted = '0') => {
    const [isNumber, isOther] = [/^\d/.test(part), /^\d/.test(wanted)];
    if (isNumber && isOther) return byNumber(part, wanted);
    return isNumber === isOther ? sign(part, wanted) : isNumber ? 1 : -1;
  });
}

/** Without zeros before the first word and at the end: 1.0.a is 1.a. */
function trimmed(parts: readonly string[]): string[] {
  const word = parts.findIndex((part) => !/^\d/.test(part));
  const [release, rest] = word < 0 ? [parts, []] : [parts.slice(0, word), parts.slice(word)];
  return [...withoutZeros(release), ...withoutZeros(rest)];
}

function withoutZeros(parts: readonly string[]): readonly string[] {
  let end = parts.length;
  while (end > 0 && /^0+$/.test(parts[end - 1] ?? '')) end--;
  return parts.slice(0, end);
}
