// The comparer must call noise noise, and a worsening a worsening.
import t from 'tap';
import { toSvg } from './chart.js';
import { compareResults } from './compare.js';
import { toMarkdown } from './report.js';
import type { ResultRow, Results } from './results.js';
import { quantile, summarize } from './statistics.js';

function results(rows: readonly (readonly [string, ResultRow['better'], readonly number[]])[]): Results {
  return {
    format: 1,
    at: '2026-01-01T00:00:00.000Z',
    commit: 'abc',
    machine: { cpu: 'x', cores: 2, memoryGb: 4, kernel: '6' },
    node: '20',
    options: {},
    rows: rows.map(([key, better, values]) => ({ key, unit: 'µs', better, measure: summarize(values) })),
    notes: [],
  };
}

t.test('medians, spreads, quantiles', (t) => {
  t.match(summarize([3, 1, 2]), { median: 2, min: 1, max: 3, spread: 1 });
  t.equal(summarize([1, 2, 3, 4]).median, 2.5);
  t.throws(() => summarize([]), RangeError);
  t.equal(quantile([5, 1, 4, 2, 3], 0.99), 5);
  t.equal(quantile([5, 1, 4, 2, 3], 0.5), 3);
  t.end();
});

t.test('changes are judged by direction and noise', (t) => {
  const rows: readonly (readonly [ResultRow['better'], readonly number[], readonly number[], string])[] = [
    ['lower', [100, 101, 99], [130, 131, 129], 'worse'],
    ['lower', [100, 101, 99], [70, 71, 69], 'better'],
    ['higher', [100, 101, 99], [70, 71, 69], 'worse'],
    ['lower', [100, 120, 80], [110, 130, 90], 'same'],
    ['none', [100, 101, 99], [130, 131, 129], 'changed'],
    ['lower', [0], [0], 'same'],
    ['lower', [0], [3], 'worse'],
  ];
  const before = results(rows.map(([better, old], index) => [`a / ${index}`, better, old]));
  const after = results(rows.map(([better, , now], index) => [`a / ${index}`, better, now]));
  t.same(
    compareResults(before, after).map(({ judgement }) => judgement),
    rows.map(([, , , wanted]) => wanted),
  );
  t.same(compareResults(results([]), after), [], 'what only one of them has is not compared');
  t.end();
});

t.test('reports name every system once', (t) => {
  const sample = results([
    ['proxy / mix / gatehouse / CPU', 'lower', [50, 52]],
    ['proxy / mix / nginx <plain> / CPU', 'lower', [11]],
    ['load / x', 'lower', [1]],
  ]);
  const markdown = toMarkdown(sample, 'chart.svg');
  t.match(markdown, '| gatehouse | 51 ±2 % |');
  t.match(markdown, '| x | 1 | µs |');
  const svg = toSvg(sample) ?? '';
  t.match(svg, 'nginx &#60;plain&#62;');
  t.equal(toSvg(results([])), null, 'no figures, no chart');
  t.end();
});
