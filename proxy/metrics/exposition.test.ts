import t from 'tap';
import { renderPrometheus } from './exposition.js';
import { counters, gauges, histograms, type Family } from './families.js';
import { Metrics } from './metrics.js';
import { readExposition } from './testing/read-exposition.js';

const families: readonly Family[] = [counters, gauges, histograms].flatMap((table) => Object.values<Family>(table));

t.test('the table: one name a family, old names beside them', async (t) => {
  const names = families.flatMap(({ name, alias }) => [name, ...(alias === undefined ? [] : [alias.name])]);
  t.equal(new Set(names).size, names.length);
  for (const { name, type, help, labels, alias } of families) {
    t.match(name, /^gatehouse_[a-z][a-z0-9_]*[a-z]$/);
    t.equal(type === 'counter', name.endsWith('_total'), name);
    t.match(help, /^[0-9A-Z].*\.$/, name);
    if (alias !== undefined) t.equal(alias.name, name.replace('gatehouse_', 'waap_'));
    for (const label of alias?.labels ?? []) t.ok(label in labels, `${alias?.name}: ${label}`);
  }
});

t.test('what is exposed can be read: each family once, with HELP and TYPE, its samples together', async (t) => {
  const metrics = new Metrics();
  for (const site of ['shop', 'a "quoted" \\ name\nwith a line break']) {
    metrics.request(site, 'served');
    metrics.upstream(site, 0.2);
  }
  metrics.stage('request', 0.01);
  metrics.stage('inspection', 20);
  metrics.count('threatsMatched');
  metrics.count('refused', { status: '403', reason: 'gate' });
  metrics.count('refused', { status: '503', reason: 'memory' });
  metrics.count('gateDecisions', { gate: 'deny-list', decision: 'deny', outcome: 'enforced' });
  const { samples } = readExposition(renderPrometheus(metrics.snapshot(), { workersReady: 2, auditDropped: 0 }));
  t.equal(samples.get('gatehouse_threats_matched_total'), 1);
  t.equal(samples.get('waap_workers_ready'), 2);
  t.equal(samples.get('gatehouse_stage_duration_seconds_bucket{stage="inspection",le="1"}'), 0);
  t.equal(samples.get('gatehouse_stage_duration_seconds_bucket{stage="inspection",le="+Inf"}'), 1);
  t.equal(
    samples.get('gatehouse_requests_total{site="a \\"quoted\\" \\\\ name\\nwith a line break",action="served"}'),
    1,
  );
});

t.test('an old name has the values of the new one, added up where it had fewer labels', async (t) => {
  const metrics = new Metrics();
  metrics.count('refused', { status: '503', reason: 'memory' });
  metrics.count('refused', { status: '503', reason: 'gate' });
  metrics.count('refused', { status: '404', reason: 'no_site' });
  const { samples } = readExposition(renderPrometheus(metrics.snapshot(), {}));
  t.equal(samples.get('waap_refused_total{status="503"}'), 2);
  t.equal(samples.get('waap_refused_total{status="404"}'), 1);
});

t.test('nothing counted yet', async (t) => {
  t.equal(readExposition(renderPrometheus(new Metrics().snapshot(), {})).samples.size, 0);
});
