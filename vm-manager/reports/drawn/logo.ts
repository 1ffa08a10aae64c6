// Whether a PNG can be drawn in a PDF. Pdfkit inflates pixels in a callback, where an error ends the process, so they
// are inflated here first, within bounds. What it cannot draw is left out: the cover then has the name alone.
import { inflate } from 'node:zlib';
import { promisify } from 'node:util';

const inflated = promisify(inflate);
/** More takes pdfkit longer than other requests may wait. */
const pixelsMax = 512 * 512;
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** The file itself; null: it is no such PNG. */
export async function drawableLogo(file: Buffer): Promise<Buffer | null> {
  if (file.subarray(0, 8).toString('latin1') !== '\x89PNG\r\n\x1a\n') return null;
  const pixels: Buffer[] = [];
  let [width, height, each, hasPalette] = [0, 0, 0, false];
  for (let at = 8; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (body.length !== length) return null;
    if (type === 'IHDR') {
      if (length !== 13) return null;
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      const isPlain = body[8] === 8 && body[10] === 0 && body[11] === 0 && body[12] === 0;
      each = isPlain ? (channels[body[9] ?? 1] ?? 0) : 0;
      hasPalette = body[9] !== 3;
    }
    if (type === 'PLTE') hasPalette = length > 0 && length % 3 === 0;
    if (type === 'IDAT') pixels.push(body);
    at += 12 + length;
  }
  if (each === 0 || !hasPalette || width * height === 0 || width * height > pixelsMax) return null;
  const expected = (width * each + 1) * height;
  try {
    const plain = (await inflated(Buffer.concat(pixels), { maxOutputLength: expected })) as Buffer;
    return plain.length === expected ? file : null;
  } catch {
    return null;
  }
}
