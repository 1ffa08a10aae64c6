import t from 'tap';
import { allBars, isRelative, momentForField, momentTyped, rangeOf } from './time-range.js';

const now = Date.parse('2026-11-28T12:00:00Z');

t.test('27.3: a range is relative, or from one moment to another', async (t) => {
  for (const [filters, range] of [
    [{}, { from: '2026-11-27T12:00:00.000Z' }],
    [{ range: '1h' }, { from: '2026-11-28T11:00:00.000Z' }],
    [{ range: 'nonsense' }, { from: '2026-11-27T12:00:00.000Z' }],
    [{ range: '1h', to: '2026-11-01T00:00:00Z' }, { to: '2026-11-01T00:00:00Z' }],
    [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'b' },
    ],
  ] as const)
    t.same(rangeOf(filters, now), range);
  t.notOk(isRelative('toString'));
});

t.test('moments are typed and shown in GMT+4', async (t) => {
  t.equal(momentTyped('2026-11-28T16:00'), '2026-11-28T12:00:00.000Z');
  t.equal(momentForField('2026-11-28T12:00:00.000Z'), '2026-11-28T16:00');
  t.equal(momentTyped(''), undefined);
  t.equal(momentTyped('x'), undefined);
  t.equal(momentForField(undefined), '');
  t.equal(momentForField('x'), '');
});

t.test('bars without events are there', async (t) => {
  const bars = allBars('2026-11-28T10:30:00Z', '2026-11-28T13:00:00Z', 3600, [
    { at: '2026-11-28T11:00:00.000Z', n: 3, blocked: 1 },
  ]);
  t.same(
    bars.map(({ n }) => n),
    [0, 3, 0],
  );
  t.equal(allBars('2026-11-28T10:30:00Z', '2026-11-28T10:00:00Z', 10, []).length, 1);
});
