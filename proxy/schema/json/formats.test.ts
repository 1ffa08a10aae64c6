// S2: formats against those of ajv: texts that fit with one or two things changed. Where ours is wider on purpose (mail
// addresses of RFC 5321, which ajv has only the common ones of) nothing that ajv takes may be refused.
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { textFormats } from './formats.js';

const samples: Readonly<Record<string, readonly string[]>> = {
  uuid: ['123e4567-e89b-12d3-a456-426614174000', 'ABCDEF01-2345-6789-abcd-ef0123456789'],
  date: ['2024-02-29', '2026-11-30', '1999-12-31'],
  'date-time': ['2024-02-29T23:59:59Z', '2026-11-30t00:00:00.123+05:30', '1998-12-31T23:59:60Z'],
  time: ['23:59:59Z', '12:00:00.5-01:00'],
  ipv4: ['127.0.0.1', '255.255.255.255', '10.20.30.40'],
  ipv6: ['2001:db8::1', '::', '::ffff:10.0.0.1', '1:2:3:4:5:6:7:8'],
  email: ['ada@example.org', "o'hara+list@mail-1.example.org", 'a.b_c@x.de'],
};
const wider: ReadonlySet<string> = new Set(['email']);
/** ajv takes offsets without a colon or minutes, which RFC 3339 section 5.6 does not have. */
const isWrongInAjv = (format: string, text: string): boolean =>
  format.endsWith('time') && /[+-]\d\d(?:\d\d)?$/.test(text);

const change = fc.tuple(
  fc.nat(),
  fc.boolean(),
  fc.constantFrom('', '0', '9', 'a', 'F', '-', '.', ':', 'Z', '@', ' ', 'é'),
);

t.test('S2: formats: the same as ajv on what is almost right', async (t) => {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  for (const [format, texts] of Object.entries(samples)) {
    const ours = textFormats.get(format) ?? (() => false);
    const oracle = ajv.compile({ type: 'string', format });
    let [fits, refused] = [0, 0];
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(change, { maxLength: 2 }), (sample, changes) => {
        let text = sample;
        for (const [place, replaces, letter] of changes) {
          const at = place % (text.length + 1);
          text = text.slice(0, at) + letter + text.slice(at + (replaces ? 1 : 0));
        }
        if (isWrongInAjv(format, text)) return;
        const expected = oracle(text);
        if (expected) fits += 1;
        else refused += 1;
        if (ours(text) !== expected && (expected || !wider.has(format)))
          throw new Error(`${format}: ajv says ${expected} of ${JSON.stringify(text)}`);
      }),
      { numRuns: 800, seed: Number(process.env['SEED'] ?? 7), endOnFailure: true },
    );
    t.ok(fits > 100 && refused > 50, `${format}: ${fits} fit, ${refused} do not`);
  }
});
