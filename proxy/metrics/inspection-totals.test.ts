import t from 'tap';
import { renderPrometheus } from './exposition.js';
import { InspectionTotals } from './inspection-totals.js';
import { Metrics } from './metrics.js';

t.test('counters of the automata outlive their generations', async (t) => {
  const ruleset = (lookups: number) => ({
    counters: () => ({ lookups, found: lookups - 1, scans: lookups * 2, scannedBytes: lookups * 100 }),
  });
  const totals = new InspectionTotals(3);
  const [old, draining, serving] = [ruleset(10), ruleset(20), ruleset(5)];
  const before = totals.counters([old, draining, serving]);
  totals.retire(old);
  t.strictSame(totals.counters([draining, serving]), before, 'retiring changes nothing');
  t.strictSame(
    totals.counters([draining, serving, null, {}]),
    before,
    'a generation without rules, a module that does not count',
  );
  const text = renderPrometheus(new Metrics().snapshot(before), {});
  for (const line of [
    'gatehouse_memo_lookups_total{worker="3"} 35',
    '# TYPE gatehouse_memo_found_total counter\ngatehouse_memo_found_total{worker="3"} 32\n',
    'gatehouse_scans_total{worker="3"} 70',
    'gatehouse_scanned_bytes_total{worker="3"} 3500',
  ])
    t.match(text, line);
});
