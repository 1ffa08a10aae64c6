// The memory of signs: it answers what looking answers, looks once, and keeps no more than it says.
import fc from 'fast-check';
import t from 'tap';
import { createSignMemory } from './sign-memory.js';
import { allSigns, findSigns } from './support.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_123) });

t.test('SO10: a value is looked at once, and what was found is what is found', async (t) => {
  const looked: string[] = [];
  const [first, second] = allSigns;
  const memory = createSignMemory((text) => {
    looked.push(text);
    return text.includes('a') ? [first, second].filter((one) => one !== undefined) : [];
  });
  for (let round = 0; round < 3; round += 1)
    for (const text of ['abc', 'xyz', '', '\x00', 'ab\xff'])
      t.equal(memory.of(text).length, text.includes('a') ? 2 : 0, JSON.stringify(text));
  t.strictSame(looked, ['abc', 'xyz', '', '\x00', 'ab\xff']);
});

t.test('SO10: a flood of values stays within 512 KiB, and long values are not kept', async (t) => {
  let looked = 0;
  const memory = createSignMemory(() => {
    looked += 1;
    return [];
  });
  for (let index = 0; index < 60_000; index += 1) {
    memory.of(`value ${index} ${'x'.repeat(index % 200)}`);
    if (memory.bytes > 512 * 1024) t.fail(`${memory.bytes} bytes are kept`);
  }
  t.equal(looked, 60_000);
  t.ok(memory.bytes > 0, 'it still remembers');
  const before = memory.bytes;
  const long = 'x'.repeat(20_000);
  memory.of(long);
  memory.of(long);
  t.equal(looked, 60_002, 'a long value is looked at each time');
  t.equal(memory.bytes, before);
});

t.test('SO10: what was asked before changes no answer', async (t) => {
  const part = fc.constantFrom(
    "' or 1=1",
    '%27%20or%201',
    '+',
    '%252e%252e/',
    ';cat /etc/hosts',
    '<svg>',
    '{"a":1}',
    'é',
  );
  const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(' '));
  fc.assert(
    fc.property(fc.constantFrom('sql', 'code', 'script', 'file'), text, text, (kind, raw, value) => {
      const [found, again] = [findSigns(kind, { raw, value }), findSigns(kind, { raw, value })];
      const each = allSigns.filter((sign) => sign.kinds.includes(kind) && found.includes(sign));
      const alone = [
        ...findSigns(kind, { raw, value: raw }),
        ...findSigns(kind, { raw: value.replaceAll(/[%+]/g, ''), value }),
      ];
      return (
        JSON.stringify(found) === JSON.stringify(again) &&
        JSON.stringify(found) === JSON.stringify(each) &&
        findSigns(kind, { raw, value: raw }).every((sign) => found.includes(sign)) &&
        found.every((sign) => alone.includes(sign))
      );
    }),
    { numRuns: 400 },
  );
  t.pass('400 pairs');
});
