import t from 'tap';
import { between } from './range.js';

const rows = [...'abcde'].map((id) => ({ id }));
const ranges: readonly (readonly [from: string | null, to: string, chosen: string])[] = [
  ['b', 'd', 'bcd'],
  ['d', 'b', 'bcd'],
  ['c', 'c', 'c'],
  [null, 'c', 'c'],
  ['gone', 'e', 'e'],
  ['a', 'gone', ''],
];
for (const [from, to, chosen] of ranges)
  t.equal(
    between(rows, from, to)
      .map(({ id }) => id)
      .join(''),
    chosen,
    `${from} to ${to}`,
  );
