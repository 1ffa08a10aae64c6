import fc from 'fast-check';
import t from 'tap';
import { readSeverityLines, severityLinesOf } from './severity-lines.js';

const cases: readonly (readonly [text: string, read: object])[] = [
  ['', { map: {} }],
  ['blocker = critical\n\nminor=LOW\n', { map: { blocker: 'critical', minor: 'low' } }],
  ['P1 = urgent = high', { map: { 'P1 = urgent': 'high' } }],
  ['blocker', { problem: { line: 1, twice: null } }],
  ['blocker = critical\nminor = lowest', { problem: { line: 2, twice: null } }],
  ['= high', { problem: { line: 1, twice: null } }],
  ['a = high\na = low', { problem: { line: 2, twice: 'a' } }],
  ['__proto__ = high', { map: JSON.parse('{"__proto__":"high"}') as object }],
];

t.test('words for severities are read line by line, and a mistake is told with its line', async (t) => {
  for (const [text, read] of cases) t.same(readSeverityLines(text), read, JSON.stringify(text));
});

t.test('what was read is written as it is read again', async () => {
  const name = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !/[\r\n]/.test(text));
  const sorted = (of: object): string => JSON.stringify(Object.entries(of).sort());
  const map = fc.dictionary(name, fc.constantFrom('critical', 'high', 'medium', 'low', 'info'));
  fc.assert(
    fc.property(map, (one) => {
      const read = readSeverityLines(severityLinesOf(one));
      return 'map' in read && sorted(read.map) === sorted(one);
    }),
    { seed: Number(process.env['SEED'] ?? 1) },
  );
});
