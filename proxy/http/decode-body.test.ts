import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { codingsOf, decodeBody } from './decode-body.js';

t.test('content codings', async (t) => {
  const text = Buffer.from('some text to find a needle in. '.repeat(50));
  const forms = { gzip: gzipSync(text), br: brotliCompressSync(text), deflate: deflateSync(text) } as const;
  for (const [coding, bytes] of Object.entries(forms)) {
    const decoded = await decodeBody(bytes, [coding as 'gzip' | 'br' | 'deflate'], 1e6);
    t.ok(decoded.bytes.equals(text) && !decoded.isPartial, coding);
  }
  t.ok((await decodeBody(deflateRawSync(text), ['deflate'], 1e6)).bytes.equals(text), 'raw deflate');
  const cut = await decodeBody(forms.gzip.subarray(0, 40), ['gzip'], 1e6);
  t.ok(
    cut.bytes.length > 0 && text.subarray(0, cut.bytes.length).equals(cut.bytes),
    'a cut-off body gives what it has',
  );
  const bomb = await decodeBody(gzipSync(Buffer.alloc(50_000_000)), ['gzip'], 100_000);
  t.equal(bomb.bytes.length, 100_000);
  t.ok(bomb.isPartial);
  t.strictSame(await decodeBody(Buffer.from('not gzip'), ['gzip'], 100), { bytes: Buffer.alloc(0), isPartial: true });
  t.strictSame(
    [
      null,
      '',
      'identity',
      'GZIP',
      'br',
      'deflate',
      'zstd',
      'gzip, br',
      'identity, x-gzip',
      'gzip, zstd',
      'gzip,gzip,gzip,gzip',
    ].map(codingsOf),
    [[], [], [], ['gzip'], ['br'], ['deflate'], 'unknown', ['gzip', 'br'], ['gzip'], 'unknown', 'unknown'],
  );
  t.ok(
    (await decodeBody(brotliCompressSync(forms.gzip), ['gzip', 'br'], 1e6)).bytes.equals(text),
    'one coding on top of another',
  );
  const named = Buffer.from(forms.gzip);
  named[3] = 8 | 2;
  const withName = Buffer.concat([named.subarray(0, 10), Buffer.from('name\0xx'), named.subarray(10)]);
  const wrongSum = Buffer.from(forms.gzip);
  wrongSum.fill(0, wrongSum.length - 8);
  const broken = gzipSync(
    Buffer.from(Array.from({ length: 5000 }, (_, index) => Math.floor((Math.sin(index) + 1) * 1e6) & 127)),
  );
  broken.fill(0xff, broken.length >> 1);
  for (const [why, bytes, coding] of [
    ['something behind the end', Buffer.concat([forms.gzip, Buffer.from('more')]), 'gzip'],
    ['the same behind a head with a name', Buffer.concat([withName, Buffer.from('more')]), 'gzip'],
    ['a wrong checksum', wrongSum, 'gzip'],
    ['a wrong checksum of zlib', Buffer.concat([forms.deflate.subarray(0, -4), Buffer.from('none')]), 'deflate'],
  ] as const) {
    const { bytes: readable, isPartial } = await decodeBody(bytes, [coding], 1e6);
    t.ok(readable.equals(text), why);
    t.equal(isPartial, true, why);
  }
  const salvaged = await decodeBody(broken, ['gzip'], 1e6);
  t.ok(salvaged.bytes.length > 0 && salvaged.isPartial, 'damaged in the middle: what comes before');
});
