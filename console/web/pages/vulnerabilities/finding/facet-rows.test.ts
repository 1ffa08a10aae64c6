import t from 'tap';
import { isChosen, rowsOfFacet } from './facet-rows.js';

const values = (name: string, counts: Readonly<Record<string, number>>): string[] =>
  rowsOfFacet(name, counts).map(({ value }) => value);

t.test('severities stand by how grave they are, the others by their count', async (t) => {
  t.same(values('severity', { info: 9, low: 1, critical: 2 }), ['critical', 'low', 'info']);
  t.same(values('source', { dast: 1, sast: 5, api: 1 }), ['sast', 'api', 'dast']);
  t.same(rowsOfFacet('cwe', { 'CWE-79': 3 }), [{ value: 'CWE-79', count: 3 }]);
  t.same(rowsOfFacet('status', {}), []);
});

const cases: readonly (readonly [name: string, value: string, given: string, is: boolean])[] = [
  ['cwe', 'CWE-79', '79', true],
  ['cwe', 'CWE-79', 'cwe-79', true],
  ['cwe', 'CWE-79', '7', false],
  ['cwe', 'CWE-79', '', false],
  ['status', 'new', 'new', true],
  ['status', 'new', 'open', false],
];

t.test('a value that is filtered by is marked, however the filter is written', async (t) => {
  for (const [name, value, given, is] of cases) t.equal(isChosen(name, value, given), is, `${name} ${value} ${given}`);
});
