import fc from 'fast-check';
import t from 'tap';
import { isWhole, shownFields, toBody } from './row-values.js';

const seed = Number(process.env['SEED'] ?? 13);

const fields = [
  { name: 'name', isRequired: true },
  { name: 'place', isRequired: true, isOnce: true },
  { name: 'rights', isRequired: true },
  { name: 'note' },
];
const full = { name: ' a ', place: '7', rights: ['x'], note: '' };

t.test('a form sends what it shows', async (t) => {
  t.same(toBody(fields, full, true), { name: 'a', place: '7', rights: ['x'], note: '' });
  t.same(toBody(fields, full, false), { name: 'a', rights: ['x'], note: '' }, 'what is given once is not sent again');
  t.same(toBody(fields, { ...full, extra: 1 }, true), toBody(fields, full, true), 'nothing beside its fields');
  t.same(toBody(fields, { name: 'a', on: false, count: 0 }, true), { name: 'a' });
  t.same(toBody([{ name: 'on' }, { name: 'count' }], { on: false, count: 0 }, true), { on: false, count: 0 });
});

t.test('a form is whole when what it needs is there', async (t) => {
  for (const [change, isNew, expected] of [
    [{}, true, true],
    [{ name: '  ' }, true, false],
    [{ rights: [] }, true, false],
    [{ rights: undefined }, true, false],
    [{ note: undefined }, true, true],
    [{ place: '' }, true, false],
    [{ place: '' }, false, true],
  ] as const)
    t.equal(isWhole(fields, { ...full, ...change }, isNew), expected, JSON.stringify([change, isNew]));
});

t.test('whatever is typed, a body has only fields of its form, and none without blanks around it twice', async (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('name', 'place', 'rights', 'other'), fc.string()),
      fc.boolean(),
      (v, is) => {
        const body = toBody(fields, v, is);
        const names = shownFields(fields, is).map(({ name }) => name);
        return Object.entries(body).every(([name, value]) => names.includes(name) && value === value.trim());
      },
    ),
    { seed },
  );
  t.pass();
});
