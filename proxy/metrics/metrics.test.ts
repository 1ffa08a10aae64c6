import t from 'tap';
import { renderPrometheus } from './exposition.js';
import { emptyMetrics, mergeMetrics, Metrics } from './metrics.js';

t.test('metrics add up over workers', async (t) => {
  const one = new Metrics();
  const two = new Metrics();
  one.request('shop "x"', 'served');
  two.request('shop "x"', 'served');
  two.request('shop "x"', 'blocked');
  one.stage('inspection', 0.00003);
  one.upstream('shop "x"', 0.2);
  one.count('engineErrors', { outcome: 'open' });
  one.count('engineErrors', { outcome: 'open' });
  two.count('engineErrors', { outcome: 'open' });
  const sum = emptyMetrics();
  mergeMetrics(sum, structuredClone(one.snapshot()));
  mergeMetrics(sum, structuredClone(two.snapshot()));
  const text = renderPrometheus(sum, { workersReady: 2 });
  for (const prefix of ['gatehouse', 'waap']) {
    t.match(text, `${prefix}_requests_total{site="shop \\"x\\"",action="served"} 2`);
    t.match(text, `${prefix}_requests_total{site="shop \\"x\\"",action="blocked"} 1`);
    t.match(text, `${prefix}_engine_errors_total{outcome="open"} 3`);
    t.match(text, `${prefix}_stage_duration_seconds_bucket{stage="inspection",le="0.00005"} 1`);
    t.match(text, `${prefix}_upstream_duration_seconds_count{site="shop \\"x\\""} 1`);
    t.match(text, `${prefix}_workers_ready 2`);
  }
});
