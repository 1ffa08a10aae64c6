// The memo is bounded, keeps what is asked for, and never answers with another value's record.
import fc from 'fast-check';
import t from 'tap';
import { hashText } from '../../parse/seen-once.js';
import { Memo, ValueRecord } from './memo.js';

const record = (value: string, scanClass = 0): ValueRecord => new ValueRecord(value, scanClass, 0);
const keyOf = (memo: Memo, { value, scanClass }: ValueRecord): number => memo.keyOf(hashText(value), scanClass);
const keep = (memo: Memo, one: ValueRecord): void => memo.keep(one, keyOf(memo, one));
const find = (memo: Memo, value: string, scanClass = 0): ValueRecord | undefined =>
  memo.find(scanClass, value, memo.keyOf(hashText(value), scanClass));
const peek = (memo: Memo, value: string, scanClass = 0): ValueRecord | undefined =>
  memo.peek(scanClass, value, memo.keyOf(hashText(value), scanClass));

t.test('what is asked for stays, what is new goes first', (t) => {
  const memo = new Memo(2, 1000, 100); // one pair of places: everything collides
  const [a, b, c] = [record('a'), record('b'), record('c')];
  keep(memo, a);
  t.equal(find(memo, 'a'), a, 'found, and moved to the first place');
  keep(memo, b);
  keep(memo, c);
  t.equal(peek(memo, 'b'), undefined, 'the newest takes the second place');
  t.equal(peek(memo, 'a'), a, 'what was asked for is still there');
  t.equal(find(memo, 'c'), c);
  keep(memo, b);
  t.equal(peek(memo, 'a'), undefined, 'c has moved up, a down, b took its place');
  t.equal(peek(memo, 'c'), c);
  t.equal(find(memo, 'zz'), undefined);
  t.same([memo.lookups, memo.found], [3, 2], 'peeking is not counted');
  t.end();
});

t.test('classes are apart, and so are different values of one key', (t) => {
  const memo = new Memo(64, 1000, 100);
  const one = record('same', 1);
  const two = record('same', 2);
  keep(memo, one);
  keep(memo, two);
  t.equal(find(memo, 'same', 1), one);
  t.equal(find(memo, 'same', 2), two);
  t.equal(find(memo, 'same', 3), undefined);
  // Same length, same hash: 'a' * 31 + 'B' = 'b' * 31 + '#'.
  t.equal(hashText('aB'), hashText('b#'));
  keep(memo, record('aB'));
  t.equal(find(memo, 'b#'), undefined, 'a hash is not a value');
  t.end();
});

t.test('bounds', (t) => {
  const memo = new Memo(100, 10, 5);
  keep(memo, record('123456'));
  t.equal(peek(memo, '123456'), undefined, 'longer than valueBytesMax');
  keep(memo, record('12345'));
  keep(memo, record('abcde'));
  t.ok(peek(memo, '12345') !== undefined && peek(memo, 'abcde') !== undefined, 'up to bytesMax');
  keep(memo, record('x'));
  t.ok(
    peek(memo, '12345') === undefined && peek(memo, 'x') !== undefined,
    'beyond it all is forgotten and begun again',
  );
  t.end();
});

t.test('a value is worth keeping when it comes again', (t) => {
  const memo = new Memo(16, 1000, 100);
  const key = keyOf(memo, record('token'));
  t.equal(memo.wasSeen(key), false);
  t.equal(memo.wasSeen(key), true);
  t.equal(memo.wasSeen(keyOf(memo, record('token', 1))), false, 'in another class it is another value');
  t.end();
});

t.test('never more than its bounds, never a wrong record', (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  const values = fc.array(
    fc.tuple(fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'b', '\0', 'ÿ') }), fc.integer({ min: 0, max: 2 })),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 20 }),
      (list, entriesMax, bytesMax) => {
        const memo = new Memo(entriesMax, bytesMax, 3);
        const all = new Map<string, readonly [string, number]>();
        for (const [value, scanClass] of list) {
          const found = find(memo, value, scanClass);
          if (found !== undefined && (found.value !== value || found.scanClass !== scanClass)) return false;
          if (found === undefined) keep(memo, record(value, scanClass));
          all.set(`${scanClass}${value}`, [value, scanClass]);
          const kept = [...all.values()].filter(([one, ofClass]) => peek(memo, one, ofClass) !== undefined);
          if (kept.length > 8) return false; // entriesMax ≤ 6, rounded up
          if (kept.reduce((sum, [one]) => sum + one.length, 0) > Math.max(bytesMax, 3)) return false;
        }
        return true;
      },
    ),
    { seed, numRuns: 300 },
  );
  t.pass(`seed ${seed}`);
  t.end();
});
