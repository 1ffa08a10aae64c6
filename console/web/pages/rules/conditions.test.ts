// What the builder offers is what the settings take, field by field.
import t from 'tap';
import { conditionFields } from '#settings';
import { blankCondition, fields, inWords, operatorChoices, operatorOf, withField, withOperator } from './conditions.js';

t.test('fields and their operators are those of the settings', (t) => {
  const wanted = Object.entries(conditionFields).map(([name, { operators, hasName }]) => [
    name,
    [...operators],
    hasName,
  ]);
  const offered = Object.entries(fields).map(([name, { operators, hasName }]) => [name, [...operators], hasName]);
  t.same(offered, wanted);
  t.end();
});

t.test('a choice of the menu is read back', (t) => {
  for (const field of Object.keys(fields) as (keyof typeof fields)[])
    for (const [chosen] of operatorChoices(field))
      t.equal(operatorOf(withOperator({ ...blankCondition, field }, chosen)), chosen, `${field} ${chosen}`);
  t.end();
});

t.test('another field keeps what fits it', (t) => {
  const named = { ...blankCondition, field: 'header' as const, name: 'X-Debug', values: ['1'] };
  t.match(withField(named, 'cookie'), { field: 'cookie', name: 'X-Debug', operator: 'begins_with', values: ['1'] });
  t.match(withField(named, 'method'), { field: 'method', name: '', operator: 'is', values: ['1'] });
  t.match(withOperator(named, '!exists'), { operator: 'exists', is_not: true, values: [] });
  t.end();
});

t.test('a rule in words', (t) => {
  const method = {
    ...blankCondition,
    field: 'method' as const,
    operator: 'is' as const,
    values: ['PUT'],
    is_not: true,
  };
  const any = [{ all: [{ ...blankCondition, values: ['/a', '/b'] }, method] }, { all: [method] }];
  t.equal(inWords({ any }), 'Path begins with /a, /b and Method is not PUT or Method is not PUT');
  t.end();
});
