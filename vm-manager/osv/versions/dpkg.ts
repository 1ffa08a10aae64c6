// Versions of Debian packages: Debian Policy Manual, section 5.6.12. Texts and numbers take turns; `~` sorts before the
// end, letters before everything else.
import { byNumber } from './parts.js';

const shape = /^(?:(\d+):)?([A-Za-z0-9.+~:-]+?)(?:-([A-Za-z0-9+.~]+))?$/;

function weight(character: string | undefined): number {
  if (character === undefined) return 0;
  if (character === '~') return -1;
  const code = character.charCodeAt(0);
  return /[A-Za-z]/.test(character) ? code : code + 256;
}

function comparePart(left: string, right: string): number {
  let [one, other] = [left, right];
  while (one !== '' || other !== '') {
    const [words, others] = [/^\D*/.exec(one)?.[0] ?? '', /^\D*/.exec(other)?.[0] ?? ''];
    for (let at = 0; at < Math.max(words.length, others.length); at++) {
      const made = weight(words[at]) - weight(others[at]);
      if (made !== 0) return made;
    }
    [one, other] = [one.slice(words.length), other.slice(others.length)];
    const [number, wanted] = [/^\d*/.exec(one)?.[0] ?? '', /^\d*/.exec(other)?.[0] ?? ''];
    const made = byNumber(number || '0', wanted || '0');
    if (made !== 0) return made;
    [one, other] = [one.slice(number.length), other.slice(wanted.length)];
  }
  return 0;
}

export function compareDpkg(left: string, right: string): number | null {
  const [one, other] = [shape.exec(left.trim()), shape.exec(right.trim())];
  if (one === null || other === null) return null;
  return (
    byNumber(one[1] ?? '0', other[1] ?? '0') ||
    comparePart(one[2] ?? '', other[2] ?? '') ||
    comparePart(one[3] ?? '0', other[3] ?? '0')
  );
}
