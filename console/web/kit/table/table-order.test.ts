import t from 'tap';
import { sortRows } from './table-order.js';

const columns = [{ sortBy: (row: { a: string | number | null }) => row.a }, {}];
const rows = [{ a: 'v10' }, { a: null }, { a: 'v9' }, { a: 'V1' }];

t.test('C1: rows are put in order as people count, those without a value last', async (t) => {
  const texts = (isDown: boolean) => sortRows(rows, columns, { column: 0, isDown }).map(({ a }) => a);
  t.same(texts(false), ['V1', 'v9', 'v10', null]);
  t.same(texts(true), ['v10', 'v9', 'V1', null]);
  const numbers = [{ a: 10 }, { a: 9 }, { a: -1 }];
  t.same(
    sortRows(numbers, columns, { column: 0, isDown: false }).map(({ a }) => a),
    [-1, 9, 10],
  );
  t.equal(sortRows(rows, columns, null), rows);
  t.equal(sortRows(rows, columns, { column: 1, isDown: false }), rows, 'a column without an order has none');
  t.same(sortRows([], columns, { column: 0, isDown: true }), []);
});
