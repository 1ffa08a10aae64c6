// When a ring is good, stopped, or waited for.
import fc from 'fast-check';
import t from 'tap';
import { figuresOf, noFigures, since, sumOf, type Figures } from './figures.js';
import { judge, limitsDefault, wilsonLower } from './judge.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 12) });

const figures = (requests: number, blocked = 0, failed = 0, latencyMs = 5): Figures => ({
  requests,
  blocked,
  failed,
  timed: requests,
  seconds: (requests * latencyMs) / 1000,
});
const well = figures(10_000, 100, 10);

t.test('judgements', async (t) => {
  for (const [what, ring, others, before, kind, note] of [
    ['no request yet', noFigures, well, well, 'wait', /0 of 200/],
    ['too few requests, all of them blocked', figures(199, 199), well, well, 'wait', /199 of 200/],
    ['as the others', figures(1000, 10, 1), well, well, 'good', /^$/],
    ['better than the others', figures(1000), well, well, 'good', /^$/],
    ['everything blocked', figures(200, 200), well, well, 'stop', /blocked: 100.0 %, against 1.0 % on the other nodes/],
    ['errors', figures(1000, 10, 50), well, well, 'stop', /errors: 5.0 %, against 0.1 %/],
    ['errors that may be chance', figures(200, 2, 4), well, well, 'wait', /errors: 2.0 %.*not certain yet/],
    ['blocked beyond the limit, and maybe by chance', figures(300, 12), well, well, 'wait', /not certain yet/],
    ['slow', figures(1000, 10, 1, 60), well, well, 'stop', /latency: 60.0 ms, against 5.0 ms/],
    ['slower by a few milliseconds', figures(1000, 10, 1, 20), well, well, 'good', /^$/],
    ['no other node has traffic: its own before', figures(500, 400), figures(3), well, 'stop', /the same nodes before/],
    ['nothing to compare with', figures(500, 500), noFigures, noFigures, 'wait', /nothing to compare with/],
    ['the others are worse off', figures(1000, 500, 100), figures(1000, 600, 200), well, 'good', /^$/],
  ] as const) {
    const found = judge({ ring, others, before }, limitsDefault);
    t.equal(found.kind, kind, `${what}: ${found.note}`);
    t.match(found.note, note, what);
  }
});

t.test('the more requests, the more certain, and never beyond the rate itself', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (total, rate) => {
      const count = Math.round(total * rate);
      const [few, many] = [wilsonLower(count, total), wilsonLower(count * 10, total * 10)];
      return few >= -1e-9 && few <= count / total + 1e-9 && many >= few - 1e-9;
    }),
  );
});

t.test('what a node counts', async (t) => {
  const text = [
    '# TYPE gatehouse_requests_total counter',
    'gatehouse_requests_total{site="a",action="served"} 90',
    'gatehouse_requests_total{site="a",action="blocked"} 5',
    'gatehouse_requests_total{site="b",action="refused"} 3',
    'gatehouse_requests_total{site="b",action="failed"} 2',
    'gatehouse_stage_duration_seconds_bucket{stage="request",le="0.1"} 99',
    'gatehouse_stage_duration_seconds_sum{stage="request"} 1.5',
    'gatehouse_stage_duration_seconds_count{stage="request"} 100',
    'gatehouse_stage_duration_seconds_sum{stage="inspection"} 7',
    'waap_requests_total{site="a",action="served"} 90',
    'gatehouse_requests_total{site="x",action="served"} NaN',
  ].join('\n');
  const all = { requests: 100, blocked: 8, failed: 2, seconds: 1.5, timed: 100 };
  t.same(figuresOf(text), all);
  t.same(figuresOf(''), noFigures);
  t.same(since(all, sumOf([all, all])), all);
  t.same(since(sumOf([all, all]), all), all, 'a node that started again counts from 0');
});
