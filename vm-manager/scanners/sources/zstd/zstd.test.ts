// Zstandard against what `zstd` itself packs, at its levels, and against what is damaged.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { unpackZstd, ZstdError } from './stream.js';

/** In pieces that fall anywhere. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function unpacked(bytes: Buffer, size = 10_000): Promise<Buffer> {
  const made: Buffer[] = [];
  for await (const part of unpackZstd(pieces(bytes, size))) made.push(part);
  return Buffer.concat(made);
}

const words = 'the quick brown fox jumps over lazy dogs and keeps its packages in layers of images'.split(' ');
/** Text of few words, the same each time. */
function prose(bytes: number): Buffer {
  let state = 7;
  const parts: string[] = [];
  for (let length = 0; length < bytes; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const word = words[(state >> 8) % words.length] ?? '';
    parts.push(word);
    length += word.length + 1;
  }
  return Buffer.from(parts.join(' ')).subarray(0, bytes);
}

const zstd = (bytes: Buffer, ...args: string[]): Buffer =>
  execFileSync('zstd', ['-q', '-c', ...args], { input: bytes, maxBuffer: 1 << 28 });
const hasProgram = (): boolean => {
  try {
    execFileSync('zstd', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

// what `zstd -19` made of 'ab' 40 times and of a line of text: frames for machines without the program
const known = [
  ['KLUv/QRoRQAAEGFiAQAb6rAoLxe+', Buffer.from('ab'.repeat(40))],
  ['KLUv/QRogQAAb25lIGxpbmUgb2YgdGV4dMw+yrc=', Buffer.from('one line of text')],
] as const;

t.test('what zstd has packed comes back', { skip: hasProgram() ? false : 'no program zstd is here' }, async (t) => {
  const inputs: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['a byte', Buffer.from('x')],
    ['zeros', Buffer.alloc(3_000_000)],
    ['random bytes', randomBytes(400_000)],
    ['prose', prose(2_000_000)],
    ['prose and random bytes in turn', Buffer.concat([prose(90_000), randomBytes(90_000), prose(300_000)])],
    ['few symbols', Buffer.from(Array.from(randomBytes(300_000), (byte) => (byte & 3) + 65))],
    ['a counter', Buffer.from(Array.from({ length: 60_000 }, (_, n) => `${n},`).join(''))],
  ];
  for (const [name, bytes] of inputs)
    for (const args of [['-1'], ['-3'], ['-9'], ['-19'], ['--fast=5'], ['-3', '--no-check'], ['-6', '--long=24']]) {
      const packed = zstd(bytes, ...args);
      for (const size of [7, 100_000]) {
        if (size === 7 && packed.length > 100_000) continue;
        t.ok((await unpacked(packed, size)).equals(bytes), `${name} ${args.join(' ')} in pieces of ${size}`);
      }
    }
  const two = Buffer.concat([zstd(prose(1000)), Buffer.from('502a4d1803000000aabbcc', 'hex'), zstd(prose(500))]);
  t.ok((await unpacked(two)).equals(Buffer.concat([prose(1000), prose(500)])), 'frames, and one that is passed over');
  const whole = zstd(prose(200_000), '-12', '--no-check');
  for (let n = 0; n < 400; n++) {
    const bytes = Buffer.from(whole);
    bytes[(n * 7919) % bytes.length] = n % 256;
    // either it is noticed, or it is text of a bounded size: never another error
    const made = await unpacked(bytes).catch((error: unknown) => error);
    t.ok(Buffer.isBuffer(made) || made instanceof ZstdError, `damage ${n}: ${String(made).slice(0, 80)}`);
  }
});

t.test('the file is let go at its end, where it is damaged, and where nobody reads on', async (t) => {
  const [text] = known[0];
  const packed = Buffer.from(text, 'base64');
  for (const [name, bytes] of [
    ['its end', packed],
    ['damaged', Buffer.concat([packed, packed.subarray(4)])],
    ['nobody reads on', Buffer.concat([packed, packed, packed])],
  ] as const) {
    const file = join(t.testdir({}), 'x.zst');
    writeFileSync(file, bytes);
    const from = createReadStream(file, { highWaterMark: 8 });
    try {
      for await (const part of unpackZstd(from)) if (name === 'nobody reads on' && part.length > 0) break;
      t.not(name, 'damaged');
    } catch (error) {
      t.ok(error instanceof ZstdError, name);
    }
    t.ok(from.destroyed, name);
  }
});

t.test('frames that are known, cut off, or want too much', async (t) => {
  for (const [text, bytes] of known) {
    const packed = Buffer.from(text, 'base64');
    t.ok((await unpacked(packed, 3)).equals(bytes));
    for (let end = 1; end < packed.length - 4; end++)
      await t.rejects(unpacked(packed.subarray(0, end)), { message: /ends in the middle/ }, `${end} bytes`);
  }
  const hostile: readonly (readonly [hex: string, reason: RegExp])[] = [
    ['00112233445566', /not packed with Zstandard/],
    ['28b52ffd00f8000000', /window of more than/],
    ['28b52ffda0ffffffff000000', /window of more than/],
    ['28b52ffd2101050100', /dictionary/],
    ['28b52ffd0800', /unknown kind/],
    ['28b52ffd2005070000', /unknown kind/],
    ['28b52ffd200505ff1f00', /middle of a frame|unknown kind/],
  ];
  for (const [hex, reason] of hostile) await t.rejects(unpacked(Buffer.from(hex, 'hex')), { message: reason }, hex);
});
