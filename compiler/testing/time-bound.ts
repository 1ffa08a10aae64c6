// How long a reader of foreign text may take, in proportion to its length: texts that repeat pieces of its grammar are
// the ones on which a search that begins anew at every place shows itself. What counts is the processor's time of
// this process; a busy machine makes it no longer than some other programs' caches do.
// TIME_BOUND_CASES (default 12 a reader) makes it a soak, with the test's SEED: `make fuzz` runs 1,000.

export interface Reader {
  readonly name: string;
  /** Pieces of its grammar, ordinary and broken. */
  readonly pieces: readonly string[];
  /** Reads the whole text (latin1). May refuse it, and must not throw. */
  readonly read: (text: string) => unknown;
  /** Longest text; the default is 128 KiB. */
  readonly bytesMax?: number;
}

export interface Slow {
  readonly unit: string;
  readonly bytes: number;
  readonly ms: number;
  readonly allowedMs: number;
}

const cases = Number(process.env['TIME_BOUND_CASES'] ?? 12);
const defaultBytes = 131_072;
/** Ten to fifty times what the readers take; a quadratic one takes seconds. */
const microsecondsPerByte = 1.5;
const floorMs = 60;
const attempts = 3;

type Draw = (below: number) => number;

/** xorshift32, so that a seed names a run. */
function drawFrom(seed: number): Draw {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/** One to four pieces over and over, with something of its own before and behind. */
function drawText(
  pieces: readonly string[],
  bytes: number,
  draw: Draw,
): { readonly unit: string; readonly text: string } {
  const some = (most: number): string => {
    let text = '';
    for (let count = draw(most) + 1; count > 0; count -= 1) text += pieces[draw(pieces.length)] as string;
    return text;
  };
  const unit = some(4);
  const before = draw(2) === 0 ? '' : some(3);
  const behind = draw(2) === 0 ? '' : some(3);
  const times = Math.max(1, Math.floor((bytes - before.length - behind.length) / unit.length));
  return { unit: JSON.stringify([before, unit, behind]), text: `${before}${unit.repeat(times)}${behind}` };
}

function millisecondsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Texts on which the reader took longer than its length allows, three times in a row. */
export function findSlow(reader: Reader, seed: number): { readonly tried: number; readonly slow: readonly Slow[] } {
  const draw = drawFrom(seed);
  const bytes = reader.bytesMax ?? defaultBytes;
  const slow: Slow[] = [];
  // Each piece by itself is always tried.
  const alone = reader.pieces.map((piece) => ({
    unit: JSON.stringify(piece),
    text: piece.repeat(Math.max(1, Math.floor(bytes / piece.length))),
  }));
  const drawn = Array.from({ length: cases }, () => drawText(reader.pieces, bytes, draw));
  for (const { unit, text } of [...alone, ...drawn]) {
    const allowedMs = floorMs + (text.length * microsecondsPerByte) / 1000;
    let ms = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < attempts && ms > allowedMs; attempt += 1)
      ms = Math.min(
        ms,
        millisecondsOf(() => reader.read(text)),
      );
    if (ms > allowedMs) slow.push({ unit, bytes: text.length, ms: Math.round(ms), allowedMs: Math.round(allowedMs) });
  }
  return { tried: alone.length + drawn.length, slow };
}
