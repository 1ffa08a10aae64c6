// Groups may merge, but never forget: a value that holds an asked byte always shows in that asker's mask.
import fc from 'fast-check';
import t from 'tap';
import { createByteGroups } from './byte-groups.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);
const byte = fc.integer({ min: 0, max: 255 });

t.test('a byte that is asked for is never missed', (t) => {
  let merged = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(byte, { maxLength: 40, size: 'max' }), { maxLength: 12, size: 'max' }),
      fc.array(byte, { maxLength: 20 }),
      (sets, value) => {
        const { bitOf, maskOf } = createByteGroups(sets);
        const flags = maskOf(value);
        const signatures = new Set([...Array(256).keys()].map((one) => sets.map((set) => set.includes(one)).join()))
          .size;
        const exact = signatures <= 31;
        if (!exact) merged += 1;
        // exactly one bit, never the sign
        for (const bits of bitOf) if (bits <= 0 || (bits & (bits - 1)) !== 0) return false;
        return sets.every((set) => {
          const asked = (flags & maskOf(set)) !== 0;
          const holds = value.some((one) => set.includes(one));
          return exact ? asked === holds : asked || !holds;
        });
      },
    ),
    { seed, numRuns: 600 },
  );
  t.ok(merged > 20, `${merged} runs had more than 31 kinds of bytes, seed ${seed}`);
  t.end();
});

t.test('nobody asking, nothing asked, everything asked', (t) => {
  t.equal(new Set(createByteGroups([]).bitOf).size, 1);
  const { maskOf } = createByteGroups([[], [...Array(256).keys()]]);
  t.equal(maskOf([]), 0);
  t.not(maskOf([0]), 0);
  const singles = createByteGroups([...Array(256).keys()].map((one) => [one]));
  t.equal(new Set(singles.bitOf).size, 31, 'as many groups as fit');
  t.not(singles.maskOf([...Array(256).keys()]), -1, 'all bits together are not the mark for "always"');
  t.end();
});
