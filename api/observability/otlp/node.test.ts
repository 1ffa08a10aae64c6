// From a request at a real data plane to the collector: the stages that it had, and what the application is told.
import t, { type Test } from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../db/client.js';
import { createOutbound } from '../../outbound/outbound.js';
import { receiveHttp } from '../../siem/testing/receivers.js';
import { startTestApp, testEnv } from '../../testing/app.js';
import { nodeToken, startNode } from '../../testing/data-plane.js';
import { onEmbeddedDatabase } from '../../testing/databases.js';
import { freePort } from '../../testing/free-port.js';
import { until } from '../../testing/waiting.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

async function suite(t: Test, database: Database): Promise<void> {
  const seen: Record<string, unknown>[] = [];
  const shop = createServer((request, reply) => {
    seen.push({ url: request.url, ...request.headers });
    request.resume().on('end', () => reply.end('fine'));
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    shop.closeAllConnections();
    shop.close();
  });
  const upstream = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  const collector = await receiveHttp(t, () => ({ status: 200, body: '{}' }));
  const port = await freePort();
  const controlUrl = `http://127.0.0.1:${port}`;
  const sites = [{ name: 'shop', prefix: '/', upstream, protected: true, fail_mode: 'open' }];
  const trust = { rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] };
  const chosen = { otel_traces_percent: 100, otel_endpoint: collector.url };
  const behindProxy = await startNode(t, { upstream, controlUrl, settings: { sites, ...trust, ...chosen } });
  const atEdge = await startNode(t, { upstream, controlUrl, settings: { sites, ...chosen } });
  const at = await startTestApp(database, {
    env: { ...testEnv, dataAdminToken: nodeToken },
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
  });
  at.clock.nowMs = Date.now();
  t.teardown(() => at.close());
  await at.app.listen({ host: '127.0.0.1', port });
  const { token } = await at.user('admin');
  t.equal((await at.call('PATCH', '/api/settings', { token, body: chosen })).status, 200);

  const headers = { traceparent: `00-${traceId}-${parentId}-00`, tracestate: 'vendor=1', connection: 'close' };
  const ask = (node: { http: number }, path: string, init: object = {}) =>
    fetch(`http://127.0.0.1:${node.http}${path}`, { headers, ...init }).then((reply) => reply.text());
  await ask(behindProxy, '/orders/17?who=anna', { method: 'POST', body: 'a=b' });
  await ask(atEdge, '/plain');
  const told = (url: string) => seen.find((one) => String(one['url']).startsWith(url)) as Record<string, string>;
  const own = new RegExp(`^00-${traceId}-(?!${parentId})[0-9a-f]{16}-01$`);
  t.match(told('/orders/17')['traceparent'], own, 'the application goes on with the trace');
  t.equal(told('/orders/17')['tracestate'], 'vendor=1');
  t.match(told('/plain')['traceparent'], /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  t.notMatch(told('/plain')['traceparent'], new RegExp(traceId), 'a stranger begins no trace');
  t.equal(told('/plain')['tracestate'], undefined);

  await until('both are stored', async () => {
    const [row] = await database.sql<{ n: number }[]>`select count(*) as n from request_records`;
    return row?.n === 2;
  });
  at.clock.nowMs = Date.now();
  const job = at.jobs.find(({ name }) => name === 'otel-traces');
  t.equal(await job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal }), '2 requests sent');
  const { body } = collector.calls[0] as { body: string };
  const spans = (
    JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: Record<string, string>[] }[] }[];
    }
  ).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans));
  const ofTrace = spans.filter((span) => span['traceId'] === traceId);
  const [root, ...children] = ofTrace;
  t.equal(root?.['parentSpanId'], parentId);
  t.equal(told('/orders/17')['traceparent']?.split('-')[2], root?.['spanId'], 'its span is the parent of what follows');
  t.same(
    children.map(({ name }) => name),
    ['admit', 'read_body', 'forward', 'reply'],
    'no rules are loaded here, so none were asked',
  );
  const nanos = (span: Record<string, string> | undefined, name: string): bigint => BigInt(span?.[name] ?? 0);
  for (const [index, child] of children.entries()) {
    t.ok(nanos(child, 'startTimeUnixNano') >= nanos(root, 'startTimeUnixNano'));
    t.ok(nanos(child, 'endTimeUnixNano') <= nanos(root, 'endTimeUnixNano') + 2_000n, 'to the rounding');
    const next = children[index + 1];
    if (next !== undefined)
      t.ok(nanos(next, 'startTimeUnixNano') - nanos(child, 'endTimeUnixNano') <= 2_000n, 'one after another');
  }
  t.notMatch(body, /anna/);
}

t.test('O12.1: a traced request of a real node, from its client to the collector', (t) =>
  onEmbeddedDatabase(t, 'otlp_node', suite),
);
