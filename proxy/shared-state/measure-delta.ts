// A change of the list of client measures: its text in sorted lines (measure-line.ts), and what to take out of it and
// put into it. Both planes work on the same text with this one function, so that the digest of the result says whether
// they still agree. A key has one line, with the moment when it ends behind a blank where it does
// (expiring-networks.ts).

/** Of the list's text; larger ones are refused, and the list before stays. */
export const measureTextBytesMax = 256 * 1024 * 1024;

/** From one list to the next, both named by their SHA-256. */
export interface MeasureDelta {
  readonly base: string;
  readonly sha256: string;
  /** Lines. */
  readonly added: readonly string[];
  /** Keys. */
  readonly removed: readonly string[];
}

export interface MeasureChange {
  readonly text: Buffer;
  /** What was really put in (lines) and taken out (keys); what was as asked before is not named. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const blank = 0x20;

/** Where the network of the line from `start` to `end` is over. */
function networkEnd(text: Buffer, start: number, end: number): number {
  const at = text.indexOf(blank, start);
  return at < 0 || at > end ? end : at;
}

const networkOf = (line: string): string => line.split(' ', 1)[0] as string;

/** Offset of the first line whose network is not before this one. */
function findLine(text: Buffer, network: Buffer, from: number): number {
  let low = from;
  let high = text.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    // offset -1 would count from the end
    const start = middle === 0 ? 0 : text.lastIndexOf(10, middle - 1) + 1;
    const end = lineEnd(text, start);
    if (text.compare(network, 0, network.length, start, networkEnd(text, start, end)) < 0) low = end + 1;
    else high = start;
  }
  return Math.min(low, text.length);
}

function lineEnd(text: Buffer, start: number): number {
  const end = text.indexOf(10, start);
  return end < 0 ? text.length : end;
}

/**
 * `text`: one network a line, sorted by the bytes of the networks, each line ended. Where it is not, the result is
 * nonsense, and its digest says so. `added` are lines, `removed` networks; a network in both is put in. Costs a copy of
 * the text.
 */
export function changeMeasureText(text: Buffer, added: readonly string[], removed: readonly string[]): MeasureChange {
  const wanted = new Map<string, string | null>([
    ...removed.map((line) => [networkOf(line), null] as const),
    ...added.map((line) => [networkOf(line), line] as const),
  ]);
  const done = { added: [] as string[], removed: [] as string[] };
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [network, line] of [...wanted].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const bytes = Buffer.from(network, 'latin1');
    const start = findLine(text, bytes, at);
    const end = lineEnd(text, start);
    const isThere =
      start < text.length && text.compare(bytes, 0, bytes.length, start, networkEnd(text, start, end)) === 0;
    const was = isThere ? text.toString('latin1', start, end) : null;
    if (was === line) continue;
    pieces.push(text.subarray(at, start));
    at = isThere ? Math.min(end + 1, text.length) : start;
    if (was !== null) done.removed.push(network);
    if (line === null) continue;
    pieces.push(Buffer.from(`${line}\n`, 'latin1'));
    done.added.push(line);
  }
  pieces.push(text.subarray(at));
  return { text: pieces.length === 1 ? text : Buffer.concat(pieces), ...done };
}
