import t from 'tap';
import { createMemoryStore, leadingInteger } from './memory-store.js';

t.test('values live until their record or they themselves expire', (t) => {
  const store = createMemoryStore();
  const open = (nowMs: number): ReturnType<typeof store.open> => store.open('IP', '192.0.2.1', nowMs, 100);
  open(0).set('a', 'x');
  open(0).set('b', 'y');
  open(0).expire('b', 10);
  t.same(
    [...open(9999).entries()],
    [
      ['a', 'x'],
      ['b', 'y'],
    ],
  );
  t.equal(open(10_000).get('b'), null, 'at its end');
  t.equal(open(99_999).get('a'), 'x');
  t.equal(open(100_000).get('a'), null, 'the record is gone after the collection timeout');
  open(200_000).set('a', '1');
  open(250_000).set('c', '1');
  t.equal(open(310_000).get('a'), '1', 'a write keeps the record');
  t.end();
});

t.test('numbers', (t) => {
  const record = createMemoryStore().open('IP', 'k', 0, 100);
  record.add('n', 5);
  record.add('n', -2);
  t.equal(record.get('n'), '3');
  record.set('n', 'text');
  record.add('n', 4);
  t.equal(record.get('n'), '4', 'what is no number counts as 0');
  record.unset('n');
  t.equal(record.get('n'), null);
  record.set('e', '1');
  record.expire('e', 0);
  t.equal(record.get('e'), null, 'expiry now');
  for (const [text, number] of [
    ['12', 12],
    [' 7x', 7],
    ['-3', -3],
    ['x', 0],
    ['', 0],
    ['9'.repeat(40), 0],
  ] as const)
    t.equal(leadingInteger(text), number, text);
  t.end();
});

t.test('deprecate takes whole steps and stops at 0', (t) => {
  const store = createMemoryStore();
  const at = (nowMs: number): string | null => {
    const record = store.open('IP', 'k', nowMs, 10_000);
    record.deprecate('n', 60, 300);
    return record.get('n');
  };
  store.open('IP', 'k', 0, 10_000).set('n', '100');
  t.same([at(299_000), at(310_000), at(590_000), at(600_000), at(1_200_000)], ['100', '40', '40', '0', '0']);
  t.end();
});

t.test('memory is bounded: the record opened longest ago makes room', (t) => {
  const store = createMemoryStore(2);
  for (const key of ['a', 'b']) store.open('IP', key, 0, 10).set('x', key);
  store.open('IP', 'a', 0, 10);
  store.open('IP', 'c', 0, 10).set('x', 'c');
  t.equal(store.size, 2);
  t.same(
    ['a', 'b', 'c'].map((key) => store.open('IP', key, 0, 10).get('x')),
    ['a', null, null],
    'opening b anew pushed c out',
  );
  t.equal(store.open('GLOBAL', 'a', 0, 10).get('x'), null, 'collections are apart');
  t.end();
});
