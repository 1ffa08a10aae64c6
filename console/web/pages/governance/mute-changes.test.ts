import t from 'tap';
import { changesOf, isSamePredicate, lastDayOf, type MuteDraft } from './mute-changes.js';

const before = {
  name: 'tests',
  reason: 'no code that runs',
  predicate: { op: 'contains', field: 'location', value: 'test/' },
  expires_at: '2027-01-31T10:00:00.000Z',
};
const same: MuteDraft = {
  name: ' tests ',
  reason: 'no code that runs',
  predicate: { field: 'location', op: 'contains', value: 'test/' },
  until: lastDayOf(before),
};

const cases: readonly (readonly [change: Partial<MuteDraft>, sent: object])[] = [
  [{}, {}],
  [{ name: 'fixtures' }, { name: 'fixtures' }],
  [{ reason: 'noise' }, { reason: 'noise' }],
  [
    { predicate: { field: 'location', op: 'contains', value: 'fixtures/' } },
    { predicate: { field: 'location', op: 'contains', value: 'fixtures/' } },
  ],
  [{ until: '2027-02-28' }, { expires_at: '2027-02-28T19:59:59.000Z' }],
  [{ until: 'never' }, { expires_at: 'never' }],
];

t.test('of a mute only what was changed is sent', async (t) => {
  for (const [change, sent] of cases) t.same(changesOf(before, { ...same, ...change }), sent, JSON.stringify(change));
});

t.test(
  'predicates are the same whatever the order of their members, and not whatever the order of a list',
  async (t) => {
    t.ok(isSamePredicate({ and: [{ a: 1, b: [1, 2] }] }, { and: [{ b: [1, 2], a: 1 }] }));
    t.notOk(isSamePredicate({ and: [1, 2] }, { and: [2, 1] }));
    t.notOk(isSamePredicate({ a: 1 }, { a: 1, b: 2 }));
    t.notOk(isSamePredicate({ a: undefined }, { b: undefined }));
    t.notOk(isSamePredicate([], {}));
    t.notOk(isSamePredicate(null, {}));
  },
);
