// The memo is bounded, keeps what is asked for across a change of generation, and never answers with another value's record.
import fc from 'fast-check';
import t from 'tap';
import { Memo, ValueRecord } from './memo.js';

const record = (value: string): ValueRecord => new ValueRecord(value, 0);

t.test('two generations', (t) => {
  const memo = new Memo(2, 1000, 100);
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(record) as [ValueRecord, ValueRecord, ValueRecord, ValueRecord, ValueRecord];
  memo.keep(a);
  memo.keep(b);
  memo.keep(c); // a, b grow old
  t.equal(memo.find('a'), a, 'old records are found, and move up');
  memo.keep(d); // c, a grow old; b is gone
  t.equal(memo.find('b'), undefined, 'what nobody asked for is gone');
  t.equal(memo.peek('a'), a, 'what was asked for is still there');
  memo.keep(e);
  memo.keep(b);
  t.equal(memo.peek('a'), undefined, 'peeking keeps nothing alive');
  t.same([memo.lookups, memo.found], [2, 1]);
  t.end();
});

t.test('bounds', (t) => {
  const memo = new Memo(100, 10, 5);
  memo.keep(record('123456'));
  t.equal(memo.peek('123456'), undefined, 'longer than valueBytesMax');
  memo.keep(record('12345'));
  memo.keep(record('abcde'));
  memo.keep(record('x'));
  t.ok(memo.peek('12345') !== undefined && memo.peek('x') !== undefined, 'a full generation grows old');
  memo.keep(record('vwxyz'));
  memo.keep(record('VWXYZ'));
  t.equal(memo.peek('12345'), undefined, 'two full generations are the most');
  const one = new Memo(1, 0, 100);
  one.keep(record('much more than no bytes'));
  t.ok(one.peek('much more than no bytes') !== undefined, 'a bound smaller than one value holds one value');
  t.end();
});

t.test('never more than two generations, never a wrong record', (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  const values = fc.array(fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'b', '\0') }), { maxLength: 200 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 20 }), (list, entriesMax, bytesMax) => {
      const memo = new Memo(entriesMax, bytesMax, 3);
      const all = new Set<string>();
      for (const value of list) {
        const found = memo.find(value);
        if (found !== undefined && found.value !== value) return false;
        if (found === undefined) memo.keep(record(value));
        all.add(value);
        if ([...all].filter((one) => memo.peek(one) !== undefined).length > 2 * entriesMax) return false;
        if ([...all].filter((one) => memo.peek(one) !== undefined).reduce((sum, one) => sum + one.length, 0) > 2 * Math.max(bytesMax, 3)) return false;
      }
      return true;
    }),
    { seed, numRuns: 300 },
  );
  t.pass(`seed ${seed}`);
  t.end();
});
