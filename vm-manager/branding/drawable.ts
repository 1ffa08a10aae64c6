// Whether a PNG can be drawn in a PDF. Pdfkit inflates pixels in a callback, where an error ends the process, so they
// are inflated here first, within bounds. What it cannot draw is left out: the cover then has the name alone.
import { inflate } from 'node:zlib';
import { promisify } from 'node:util';

const inflated = promisify(inflate);
/** More takes pdfkit longer than other requests may wait. */
export const drawnPixelsMax = 512 * 512;
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

const chunkTypes = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
/** Kinds of filters of a row of pixels; pdfkit ends the process at any other. */
const filtersMax = 4;

/** The file with nothing but what a picture needs; null: it is no PNG that can be drawn. */
export async function drawableLogo(file: Buffer): Promise<Buffer | null> {
  if (file.subarray(0, 8).toString('latin1') !== '\x89PNG\r\n\x1a\n') return null;
  const kept = [file.subarray(0, 8)];
  const pixels: Buffer[] = [];
  let [width, height, each, colours, isWhole] = [0, 0, 0, 256, false];
  for (let at = 8; at + 12 <= file.length && !isWhole; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    const next = at + 12 + length;
    if (next > file.length || (type === 'IHDR') !== (at === 8)) return null;
    if (type === 'IHDR') {
      if (length !== 13) return null;
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      const isPlain = body[8] === 8 && body[10] === 0 && body[11] === 0 && body[12] === 0;
      each = isPlain ? (channels[body[9] ?? 1] ?? 0) : 0;
      if (body[9] === 3) colours = 0;
    }
    if (type === 'PLTE') {
      if (length === 0 || length % 3 !== 0 || length > 768) return null;
      if (colours !== 256) colours = length / 3;
    }
    if (type === 'tRNS' && length > 256) return null;
    if (type === 'IDAT') pixels.push(body);
    isWhole = type === 'IEND';
    if (chunkTypes.has(type)) kept.push(file.subarray(at, next));
    at = next;
  }
  if (!isWhole || each === 0 || colours === 0 || width * height === 0 || width * height > drawnPixelsMax) return null;
  return (await areWhole(pixels, width * each + 1, height)) ? Buffer.concat(kept) : null;
}

/** `row`: bytes of one row, the kind of its filter first. */
async function areWhole(pixels: readonly Buffer[], row: number, rows: number): Promise<boolean> {
  try {
    const plain = (await inflated(Buffer.concat(pixels), { maxOutputLength: row * rows })) as Buffer;
    if (plain.length !== row * rows) return false;
    for (let at = 0; at < plain.length; at += row) if ((plain[at] ?? 0) > filtersMax) return false;
    return true;
  } catch {
    return false;
  }
}
