import t from 'tap';
import { sentenceOf, type NameOf } from './predicate.js';

const nameOf: NameOf = (field, value) => (field === 'application_id' && value === '7' ? 'Ledger' : null);

t.test('a predicate is a sentence, with names in the place of numbers where they are known', async (t) => {
  const leaf = (field: string, op: string, value: unknown) => ({ field, op, value });
  for (const [predicate, plainly, byName] of [
    [leaf('severity', 'gte', 'high'), 'severity is at least high', 'severity is at least high'],
    [leaf('application_id', 'eq', '7'), 'application id is 7', 'application is Ledger'],
    [leaf('application_id', 'eq', 7), 'application id is 7', 'application is Ledger'],
    [leaf('application_id', 'in', ['7', '9']), 'application id is one of 7, 9', 'application is one of Ledger, 9'],
    [leaf('application_id', 'eq', '9'), 'application id is 9', 'application id is 9'],
    [
      { and: [leaf('kev', 'eq', true), { not: leaf('application_id', 'eq', '7') }] },
      'kev is true, and not (application id is 7)',
      'kev is true, and not (application is Ledger)',
    ],
    [
      { and: [{ or: [leaf('tool', 'eq', 'a'), leaf('application_id', 'ne', '7')] }] },
      '(tool is a, or application id is not 7)',
      '(tool is a, or application is not Ledger)',
    ],
    [null, 'everything', 'everything'],
  ] as const) {
    t.equal(sentenceOf(predicate), plainly);
    t.equal(sentenceOf(predicate, nameOf), byName);
  }
});
