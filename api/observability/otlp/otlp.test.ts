// What a collector gets: spans of chosen requests and metrics, over OTLP/HTTP, from a local collector's point of view.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { createOutbound } from '../../outbound/outbound.js';
import { receiveHttp, type Answer, type Call } from '../../siem/testing/receivers.js';
import { startTestApp, type TestApp } from '../../testing/app.js';
import { request } from '../../testing/builders/records.js';
import { onBothDatabases, onEmbeddedDatabase } from '../../testing/databases.js';
import { ofNode } from './metrics.js';

const nodeText = [
  '# HELP gatehouse_requests_total Requests.',
  '# TYPE gatehouse_requests_total counter',
  'gatehouse_requests_total{site="a \\"b\\" {c}",action="served"} 7',
  '# HELP waf_requests_total Deprecated: gatehouse_requests_total.',
  '# TYPE waf_requests_total counter',
  'waf_requests_total{site="a"} 7',
  '# HELP gatehouse_stage_duration_seconds Time.',
  '# TYPE gatehouse_stage_duration_seconds histogram',
  'gatehouse_stage_duration_seconds_bucket{stage="request",le="0.01"} 3',
  'gatehouse_stage_duration_seconds_bucket{stage="request",le="0.1"} 5',
  'gatehouse_stage_duration_seconds_bucket{stage="request",le="+Inf"} 6',
  'gatehouse_stage_duration_seconds_sum{stage="request"} 1.5',
  'gatehouse_stage_duration_seconds_count{stage="request"} 6',
  '# HELP gatehouse_heap_bytes Memory.',
  '# TYPE gatehouse_heap_bytes gauge',
  'gatehouse_heap_bytes 1e6',
].join('\n');

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

const spansOf = ({ body }: Call): Span[] =>
  (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
    ({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans),
  );

const traceOf = (n: number, parent?: string) => ({
  trace_id: String(n).padStart(32, 'a'),
  span_id: String(n).padStart(16, 'b'),
  ...(parent === undefined ? {} : { parent_id: parent }),
  stages: [
    { name: 'admit', at_us: 100, us: 50 },
    { name: 'forward', at_us: 200, us: 700 },
  ],
});

async function start(t: Test, database: Database, answer: (call: Call) => Answer | null) {
  const collector = await receiveHttp(t, answer);
  const at = await startTestApp(database, {
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
    nodeMetrics: async () => [
      { node: 'http://node-a:2019', answer: nodeText },
      { node: 'http://node-b:2019', answer: null },
    ],
  });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const run = async (name: string): Promise<string> => {
    const job = at.jobs.find((one) => one.name === name);
    return String(await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal }));
  };
  const set = (body: object) => at.call('PATCH', '/api/settings', { token, body });
  let batches = 0;
  const store = async (...requests: object[]): Promise<void> => {
    const body = { node: 'edge-1', batch_id: `b${(batches += 1)}`, requests, events: [] };
    t.equal((await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body })).status, 200);
  };
  return { at, collector, token, run, set, store };
}

const recordAt = ({ clock }: TestApp, n: number, over: object = {}): object =>
  request(n, { at_ms: clock.nowMs, trace: traceOf(n), ...over });

async function traces(t: Test, database: Database): Promise<void> {
  let next: (call: Call) => Answer | null = () => ({ status: 200, body: '{}' });
  const { at, collector, token, run, set, store } = await start(t, database, (call) => next(call));
  await store(recordAt(at, 1), request(2, { at_ms: at.clock.nowMs }));
  t.equal(await run('otel-traces'), 'switched off', 'off by default');
  t.equal(collector.calls.length, 0);

  t.match(await set({ otel_traces_percent: 5 }), { status: 422, body: { errors: [{ path: '/otel_endpoint' }] } });
  const headers = [{ name: 'Authorization', value: 'Bearer collector-secret' }];
  t.equal((await set({ otel_traces_percent: 5, otel_endpoint: collector.url, otel_headers: headers })).status, 200);
  const shown = await at.call('GET', '/api/settings', { token });
  t.notMatch(shown.text, /collector-secret/, 'credentials are write-only');
  const stored = await database.sql<{ body: string }[]>`select body::text as body from settings_versions`;
  t.notOk(
    stored.some(({ body }) => body.includes('collector-secret')),
    'and sealed where they are stored',
  );

  await t.test('O12.2: one span for a request that was chosen, its stages its children, nothing private', async (t) => {
    const parent = '00f067aa0ba902b7';
    const uri = '/users/4711/anna@example.org?session=s3cret';
    await store(
      recordAt(at, 3, { uri, status: 502, client_ip: '203.0.113.9', user_agent: 'agent-x', trace: traceOf(3, parent) }),
    );
    t.equal(await run('otel-traces'), '2 requests sent');
    const [call] = collector.calls;
    t.match(call, { method: 'POST', url: '/v1/traces', headers: { authorization: 'Bearer collector-secret' } });
    t.equal(call?.headers['content-type'], 'application/json');
    t.equal(collector.calls.length, 1, 'in one call');
    const spans = spansOf(call as Call);
    t.equal(spans.length, 6);
    const [root, admit, forward] = spans.filter(({ traceId }) => traceId === traceOf(3).trace_id);
    t.match(root, { spanId: traceOf(3).span_id, parentSpanId: parent, kind: 2, status: { code: 2 } });
    t.match(
      [admit, forward],
      [
        { name: 'admit', kind: 1 },
        { name: 'forward', kind: 3 },
      ],
    );
    for (const child of [admit, forward]) t.equal(child?.parentSpanId, root?.spanId);
    t.equal(new Set(spans.map(({ spanId }) => spanId)).size, 6);
    t.equal(BigInt(forward?.startTimeUnixNano ?? 0) - BigInt(root?.startTimeUnixNano ?? 0), 200_000n);
    t.equal(BigInt(forward?.endTimeUnixNano ?? 0) - BigInt(forward?.startTimeUnixNano ?? 0), 700_000n);
    t.equal(BigInt(root?.startTimeUnixNano ?? 0), BigInt(at.clock.nowMs) * 1_000_000n);
    const attributes = Object.fromEntries(
      (root?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
    );
    t.match(attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': 502,
      'gatehouse.request_id': 'r3',
    });
    t.equal(attributes['http.route'], '/users/{integer}/{email}');
    for (const word of ['203.0.113.9', 's3cret', 'anna', 'agent-x', '4711']) t.notOk(call?.body.includes(word), word);
    t.match(call?.body, /"service.instance.id","value":\{"stringValue":"edge-1"/);
    t.equal(await run('otel-traces'), '0 requests sent', 'none twice');
  });

  await t.test('O12.3: what a collector does not take now comes again, in the pause that it asks for', async (t) => {
    collector.calls.length = 0;
    await store(recordAt(at, 4));
    next = () => ({ status: 200, body: '<!DOCTYPE html><p>Log in to the network</p>' });
    t.match(await run('otel-traces'), /^not sent: .*a page/, 'a gateway between took nothing');
    at.clock.nowMs += 61_000;
    collector.calls.length = 0;
    next = () => ({ status: 503, headers: { 'retry-after': '120' } });
    t.match(await run('otel-traces'), /^not sent: .*503/);
    at.clock.nowMs += 60_000;
    t.match(await run('otel-traces'), /^waits/);
    t.equal(collector.calls.length, 1);
    at.clock.nowMs += 61_000;
    next = () => ({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no room"}}' });
    t.equal(await run('otel-traces'), '1 requests sent');
    t.same(spansOf(collector.calls[0] as Call), spansOf(collector.calls[1] as Call), 'the same ids');
    const metrics = (await at.call('GET', '/api/metrics', { token })).text.split('\n');
    t.ok(metrics.includes('gatehouse_control_otel_sent_total{signal="traces"} 8'));
    t.ok(metrics.includes('gatehouse_control_otel_rejected_total{signal="traces"} 1'));
    t.ok(metrics.includes('gatehouse_control_otel_failing{signal="traces"} 0'));
  });

  await t.test('O12.3: a request that is refused for what it is holds up no other', async (t) => {
    collector.calls.length = 0;
    next = ({ body }) => ({ status: body.includes('"r6"') ? 400 : 200, body: '' });
    await store(...[5, 6, 7, 8].map((n) => recordAt(at, n)));
    t.equal(await run('otel-traces'), '4 requests sent');
    const taken = collector.calls.filter(({ body }) => !body.includes('"r6"')).flatMap(spansOf);
    t.equal(taken.length, 9);
    await store(recordAt(at, 9, { at_ms: at.clock.nowMs - 3_600_000 }));
    t.equal(await run('otel-traces'), '0 requests sent; 1 were too old and passed over');
    t.ok((await at.call('GET', '/api/metrics', { token })).text.includes('otel_dropped_total{signal="traces"} 1'));
  });

  await t.test('O12.3: wrong settings are refused with what is wrong', async (t) => {
    for (const [body, path] of [
      [{ otel_traces_percent: 101 }, '/otel_traces_percent'],
      [{ otel_traces_percent: -1 }, '/otel_traces_percent'],
      [{ otel_endpoint: 'grpc://x:4317' }, '/otel_endpoint'],
      [{ otel_endpoint: 'http://x/?key=1' }, '/otel_endpoint'],
      [{ otel_headers: [{ name: 'a b', value: 'x' }] }, '/otel_headers/0/name'],
      [{ otel_headers: [{ name: 'Host', value: 'x' }] }, '/otel_headers/0/name'],
      [
        {
          otel_headers: [
            { name: 'a', value: 'x' },
            { name: 'A', value: 'y' },
          ],
        },
        '/otel_headers/1',
      ],
      [{ otel_metrics_interval_sec: 1 }, '/otel_metrics_interval_sec'],
    ] as const) {
      const reply = await set(body);
      t.ok(reply.status === 400 || reply.status === 422, `${JSON.stringify(body)}: ${reply.status}`);
      t.ok(
        (reply.body['errors'] as { path: string }[])?.some((one) => one.path === path),
        reply.text,
      );
    }
    const operator = (await at.user('operator')).token;
    t.equal((await at.call('PATCH', '/api/settings', { token: operator, body: { otel_metrics: true } })).status, 403);
  });
}

t.test('traces', (t) => onBothDatabases(t, 'otlp_traces', traces));

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: Record<string, unknown>[] };
  readonly gauge?: { readonly dataPoints: Record<string, unknown>[] };
  readonly histogram?: { readonly dataPoints: Record<string, unknown>[] };
}

async function metrics(t: Test, database: Database): Promise<void> {
  const { at, collector, run, set } = await start(t, database, () => ({ status: 200, body: '{}' }));
  t.equal(await run('otel-metrics'), 'switched off');
  const body = { otel_metrics: true, otel_endpoint: `${collector.url}/base/`, otel_metrics_interval_sec: 60 };
  t.equal((await set(body)).status, 200);
  t.match(await run('otel-metrics'), /values of 2 sources sent; 1 nodes did not answer/);
  t.same(
    collector.calls.map(({ url }) => url),
    ['/base/v1/metrics', '/base/v1/metrics'],
  );
  const metricsOf = ({ body: text }: Call): Metric[] =>
    (JSON.parse(text) as { resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[] }).resourceMetrics.flatMap(
      (one) => one.scopeMetrics.flatMap((inner) => inner.metrics),
    );
  const [control, node] = collector.calls.map(metricsOf);
  const find = (list: Metric[] | undefined, name: string) => list?.find((one) => one.name === name);
  t.match(find(control, 'gatehouse_control_settings_version')?.gauge?.dataPoints, [{ asDouble: 2 }, { asDouble: 0 }]);
  t.match(find(control, 'gatehouse_control_records_lost_total')?.sum, { isMonotonic: true });
  t.match(find(node, 'gatehouse_requests_total')?.sum?.dataPoints, [
    { asDouble: 7, attributes: [{ key: 'site', value: { stringValue: 'a "b" {c}' } }, { key: 'action' }] },
  ]);
  t.match(find(node, 'gatehouse_stage_duration_seconds'), {
    unit: 's',
    histogram: { dataPoints: [{ count: 6, sum: 1.5, bucketCounts: [3, 2, 1], explicitBounds: [0.01, 0.1] }] },
  });
  t.match(find(node, 'gatehouse_heap_bytes'), { unit: 'By', gauge: { dataPoints: [{ asDouble: 1e6 }] } });
  t.notOk(find(node, 'waf_requests_total'), 'names of older releases are left out');
  at.clock.nowMs += 15_000;
  t.equal(await run('otel-metrics'), 'not due');
  at.clock.nowMs += 45_000;
  t.match(await run('otel-metrics'), /sent/);
}

t.test('O12.4: metrics of the control plane and of nodes', (t) => onEmbeddedDatabase(t, 'otlp_metrics', metrics));

t.test('O12.4: whatever a node tells, what is no sample is left out', async (t) => {
  for (const text of ['', '\n\n', '# TYPE x histogram\nx_bucket{le="+Inf"} 1\n', 'x{a="b} 1', 'x 1 2 3', '{} 1'])
    t.doesNotThrow(() => ofNode('n', text, 0), text);
});
