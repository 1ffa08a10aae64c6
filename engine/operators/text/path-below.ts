import { decodePercent, pathOf, readPath, type PathReading } from '../../parse/path-readings.js';
import { OperatorArgumentError, type Operator } from '../operator.js';

type SegmentTest = (segment: string) => boolean;

/** `*` stands for any text within one segment. */
function segmentTest(written: string): SegmentTest {
  const parts = written.split('*').map((part) => decodePercent(part));
  const [first = '', ...others] = parts;
  if (others.length === 0) return (segment) => segment === first;
  const last = others.pop() as string;
  return (segment) => {
    if (segment.length < first.length + last.length || !segment.startsWith(first) || !segment.endsWith(last))
      return false;
    let at = first.length;
    const end = segment.length - last.length;
    for (const part of others) {
      const found = segment.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Compared segment by segment; one that was only split is compared as what it decodes to. */
function liesBelow({ text, isRaw }: PathReading, tests: readonly SegmentTest[]): boolean {
  const segments = text.split('/');
  if (segments[0] !== '' || segments.length <= tests.length) return false;
  return tests.every((test, index) => {
    const segment = segments[index + 1] as string;
    return test(isRaw ? decodePercent(segment) : segment);
  });
}

/**
 * `@pathBelow /a/b`: the value, a request-target (REQUEST_URI_RAW), names `/a/b` or something below it in every way in
 * which servers may read it (parse/path-readings.ts). Not in ModSecurity: an expression over one decoded form says
 * what one reader makes of the path, and protection must not end where another reads on. The argument begins with a
 * slash; `%XX` in it is a byte, `*` any text within a segment, a slash at the end means nothing. A path with more
 * readings than are looked at is not below anything but `/`.
 */
export const pathBelow: Operator = {
  name: 'pathBelow',
  create: (_operator, argument) => {
    if (!argument.startsWith('/'))
      throw new OperatorArgumentError(`@pathBelow takes a path that begins with a slash, not "${argument}"`);
    const trimmed = argument.replace(/(?:\/\*?)+$/, '');
    const tests = trimmed.split('/').slice(1).map(segmentTest);
    if (tests.length === 0) return { matches: () => true };
    return {
      matches: (value) => readPath(pathOf(value))?.every((reading) => liesBelow(reading, tests)) ?? false,
    };
  },
};
