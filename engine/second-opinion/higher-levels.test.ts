// What rules of levels 2 to 4 about names and characters are weighed by: what one application reads as one text is
// searched as one, whatever stands between, and no request is searched more than once, or without a bound.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import type { Evidence } from './opinion.js';
import { protocolRules } from './protocol-rules.js';

const transactionOf = (...fields: readonly (readonly [name: string, value: string])[]): Transaction => {
  const [argsGet, argsPost] = [new Collection(), new Collection()];
  for (const [name, value] of fields) argsGet.add(name, value);
  return { argsGet, body: { argsPost } } as unknown as Transaction;
};
const found = (raw: string): Evidence => ({ raw, value: raw, variable: 'ARGS:a', points: 5 }) as unknown as Evidence;
const doubts = (rule: number, transaction: Transaction, value = '2', isTooMuch = false): readonly string[] =>
  protocolRules.get(rule)?.doubts(transaction, found(value), isTooMuch) ?? ['no such rule'];

const parts = ['{{7', '*7}}'] as const;
const names = [921_180, 921_210, 921_220];

void test('the parts of an argument are searched together, whatever stands between them', () => {
  for (const rule of names) {
    for (const part of parts) deepStrictEqual(doubts(rule, transactionOf(['id', part])), []);
    const together = doubts(rule, transactionOf(['id', parts[0]], ['id', parts[1]]));
    ok(together.length > 0, 'there is a sign in both together');
    for (const between of ['2', '{honest} words of a visitor '.repeat(40)])
      for (const [first, second] of [['id', 'id'] as const, ['id[]', 'id[]'] as const, ['id[1]x', 'ID[2]y'] as const])
        deepStrictEqual(
          doubts(rule, transactionOf([first, parts[0]], ['page', between], [second, parts[1]])),
          together,
          `${first}, ${second}`,
        );
  }
});

void test('arguments are searched once a request, and only where they are not too long', () => {
  const fields = Array.from({ length: 200 }, (_, index) => [`a${index >> 1}`, 'word '.repeat(50)] as const);
  const transaction = transactionOf(...fields);
  const first = doubts(921_180, transaction);
  for (const rule of names) strictEqual(doubts(rule, transaction), first);
  transaction.body.argsPost.add('a0', "' or 1=1 union select name from stock --");
  ok(doubts(921_180, transaction).length > 0, 'what the body brings counts');
  deepStrictEqual(doubts(921_180, transactionOf(['a', 'x'.repeat(70_000)])), ['too-long']);
});

void test('values that are too much to search are believed', () => {
  const binary = '\x01\xff'.repeat(10);
  for (const rule of [920_230, 920_271, 920_272, 920_273, 920_274]) {
    deepStrictEqual(doubts(rule, transactionOf(), binary), []);
    deepStrictEqual(doubts(rule, transactionOf(), binary, true), ['too-long']);
  }
});
