// What a rule may call an operator, and that the engine has every one of them.
import t from 'tap';
import { operators } from '#engine/compile';
import { findOperator } from './names.js';

t.test('spellings of operators', (t) => {
  const rows: readonly [string, string | undefined][] = [
    ['pmf', 'pmFromFile'],
    ['ipMatchF', 'ipMatchFromFile'],
    ['strMatch', 'strmatch'],
    ['PM', 'pm'],
    ['rbl', undefined],
    ['constructor', undefined],
  ];
  for (const [spelling, name] of rows) t.equal(findOperator(spelling)?.name, name, spelling);
  t.equal(operators.size, 30, 'those of ModSecurity, and pathBelow');
  for (const name of operators.keys()) t.equal(findOperator(name.toUpperCase())?.name, name);
  t.end();
});
