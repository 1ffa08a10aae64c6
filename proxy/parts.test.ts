// The small parts that need no sockets: ids, pages, metrics, decoding, collecting, audit lines.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { shownFile } from './records/events.js';
import { asctime, AuditLog, formatAuditLine } from './records/audit-log.js';
import { BodyCollector } from './http/body-collector.js';
import type { SecurityEvent } from './contract.js';
import { codingsOf, decodeBody } from './http/decode-body.js';
import { decide, decideOnEngineError } from './road/decide.js';
import { emptyMetrics, InspectionTotals, mergeMetrics, Metrics, renderPrometheus } from './metrics/metrics.js';
import { until } from './e2e/waiting.js';
import { renderPage } from './http/pages.js';
import { createRequestIds } from './road/request-id.js';

t.test('request ids are unique and sort by time', async (t) => {
  const make = createRequestIds();
  const other = createRequestIds();
  const ids = [
    ...Array.from({ length: 3000 }, () => make(1_700_000_000_000)),
    ...Array.from({ length: 10 }, () => make(1_700_000_000_001)),
    other(1_700_000_000_000),
  ];
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids) if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(id)) t.fail(id);
  t.ok((ids[0] as string) < (ids[3001] as string));
});

t.test('pages: HTML for people, problem+json for programs, nothing about rules', async (t) => {
  const head = (accept: string) => ({
    method: 'GET',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Accept', accept],
    clientIp: '',
    clientPort: 0,
    serverIp: '',
    serverPort: 0,
  });
  const html = renderPage(403, 'ID1', head('text/html,application/xhtml+xml'));
  t.match(html.body, /<code>ID1<\/code>/);
  t.notMatch(html.body, /rule|score|CRS|942/i);
  const problem = renderPage(403, 'ID1', head('application/json'));
  t.ok(problem.headers.includes('application/problem+json'));
  t.strictSame(Object.keys(JSON.parse(problem.body) as object), ['type', 'title', 'status', 'detail', 'instance']);
  t.equal((JSON.parse(problem.body) as { instance: string }).instance, 'ID1');
  t.notOk(problem.headers.includes('Content-Security-Policy'));
});

t.test(
  'HTML pages can be read by everybody, under a policy that allows them nothing but their own style sheet',
  async (t) => {
    const head = {
      method: 'GET',
      uri: '/',
      protocol: 'HTTP/1.1',
      headers: ['Accept', 'text/html'],
      clientIp: '',
      clientPort: 0,
      serverIp: '',
      serverPort: 0,
    };
    for (const status of [400, 403, 404, 413, 429, 499, 502, 504]) {
      const { headers, body } = renderPage(status, 'ID1', head);
      const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = headers[headers.indexOf('Content-Security-Policy') + 1] ?? '';
      t.match(policy, /^default-src 'none';/, `${status}: nothing else`);
      t.ok(
        policy.includes(`style-src 'sha256-${hash}'`),
        `${status}: the style sheet is the one that the policy names`,
      );
      t.notMatch(body, /<script|<img|<link|style=|onload|href=/, `${status}: nothing that the policy would stop`);
      t.match(body, /<html lang="en">/);
      t.match(body, new RegExp(`<title>${status} [A-Z][^<]+</title>`));
      t.equal(body.match(/<h1>/g)?.length, 1, `${status}: one heading`);
      t.equal(body.match(/<main>/g)?.length, 1, `${status}: one landmark`);
    }
  },
);

t.test('decisions', async (t) => {
  const interruption = { ruleId: 1, action: 'deny', status: 403, phase: 2, data: '' } as const;
  t.equal(decide(null, 'On'), 'forward');
  t.equal(decide(interruption, 'On'), 'block');
  t.equal(decide(interruption, 'DetectionOnly'), 'flag');
  t.equal(decideOnEngineError('closed'), 'block');
  t.equal(decideOnEngineError('open'), 'forward');
});

t.test('bodies are collected up to the limit', async (t) => {
  const collector = new BodyCollector(5);
  const borrowed = Buffer.from('abc');
  t.equal(collector.add(borrowed), 3);
  borrowed.fill(0x21);
  t.equal(collector.add(Buffer.from('defg')), 2);
  t.equal(collector.take()?.toString(), 'abcde');
  t.equal(new BodyCollector(5).take(), null);
  const bytewise = new BodyCollector(100_000);
  let heldMax = 0;
  for (let index = 0; index < 70_000; index += 1) {
    bytewise.add(Buffer.from([index & 255]));
    heldMax = Math.max(heldMax, bytewise.heldBytes - 2 * bytewise.bytes);
  }
  t.ok(heldMax <= 0, 'never more than twice what came');
  const whole = bytewise.take();
  t.equal(whole?.length, 70_000);
  t.ok(
    whole?.every((byte, index) => byte === (index & 255)),
    'single bytes make the same body',
  );
});

t.test('content codings', async (t) => {
  const text = Buffer.from('some text to find a needle in. '.repeat(50));
  const forms = { gzip: gzipSync(text), br: brotliCompressSync(text), deflate: deflateSync(text) } as const;
  for (const [coding, bytes] of Object.entries(forms)) {
    const decoded = await decodeBody(bytes, [coding as 'gzip' | 'br' | 'deflate'], 1e6);
    t.ok(decoded.bytes.equals(text) && !decoded.isPartial, coding);
  }
  t.ok((await decodeBody(deflateRawSync(text), ['deflate'], 1e6)).bytes.equals(text), 'raw deflate');
  const cut = await decodeBody(forms.gzip.subarray(0, 40), ['gzip'], 1e6);
  t.ok(
    cut.bytes.length > 0 && text.subarray(0, cut.bytes.length).equals(cut.bytes),
    'a cut-off body gives what it has',
  );
  const bomb = await decodeBody(gzipSync(Buffer.alloc(50_000_000)), ['gzip'], 100_000);
  t.equal(bomb.bytes.length, 100_000);
  t.ok(bomb.isPartial);
  t.strictSame(await decodeBody(Buffer.from('not gzip'), ['gzip'], 100), { bytes: Buffer.alloc(0), isPartial: true });
  t.strictSame(
    [
      null,
      '',
      'identity',
      'GZIP',
      'br',
      'deflate',
      'zstd',
      'gzip, br',
      'identity, x-gzip',
      'gzip, zstd',
      'gzip,gzip,gzip,gzip',
    ].map(codingsOf),
    [[], [], [], ['gzip'], ['br'], ['deflate'], 'unknown', ['gzip', 'br'], ['gzip'], 'unknown', 'unknown'],
  );
  t.ok(
    (await decodeBody(brotliCompressSync(forms.gzip), ['gzip', 'br'], 1e6)).bytes.equals(text),
    'one coding on top of another',
  );
  const named = Buffer.from(forms.gzip);
  named[3] = 8 | 2;
  const withName = Buffer.concat([named.subarray(0, 10), Buffer.from('name\0xx'), named.subarray(10)]);
  const wrongSum = Buffer.from(forms.gzip);
  wrongSum.fill(0, wrongSum.length - 8);
  const broken = gzipSync(
    Buffer.from(Array.from({ length: 5000 }, (_, index) => Math.floor((Math.sin(index) + 1) * 1e6) & 127)),
  );
  broken.fill(0xff, broken.length >> 1);
  for (const [why, bytes, coding] of [
    ['something behind the end', Buffer.concat([forms.gzip, Buffer.from('more')]), 'gzip'],
    ['the same behind a head with a name', Buffer.concat([withName, Buffer.from('more')]), 'gzip'],
    ['a wrong checksum', wrongSum, 'gzip'],
    ['a wrong checksum of zlib', Buffer.concat([forms.deflate.subarray(0, -4), Buffer.from('none')]), 'deflate'],
  ] as const) {
    const { bytes: readable, isPartial } = await decodeBody(bytes, [coding], 1e6);
    t.ok(readable.equals(text), why);
    t.equal(isPartial, true, why);
  }
  const salvaged = await decodeBody(broken, ['gzip'], 1e6);
  t.ok(salvaged.bytes.length > 0 && salvaged.isPartial, 'damaged in the middle: what comes before');
});

t.test('metrics add up over workers', async (t) => {
  const one = new Metrics();
  const two = new Metrics();
  one.request('shop "x"', 'served');
  two.request('shop "x"', 'served');
  two.request('shop "x"', 'blocked');
  one.stage('inspection', 0.00003);
  one.upstream('shop "x"', 0.2);
  one.count('waap_a_total{b="c"}', 2);
  two.count('waap_a_total{b="c"}');
  const sum = emptyMetrics();
  mergeMetrics(sum, structuredClone(one.snapshot()));
  mergeMetrics(sum, structuredClone(two.snapshot()));
  const text = renderPrometheus(sum, { waap_workers_ready: 2 });
  t.match(text, 'waap_requests_total{site="shop \\"x\\"",action="served"} 2');
  t.match(text, 'waap_requests_total{site="shop \\"x\\"",action="blocked"} 1');
  t.match(text, 'waap_a_total{b="c"} 3');
  t.match(text, 'waap_stage_duration_seconds_bucket{stage="inspection",le="0.00005"} 1');
  t.match(text, 'waap_upstream_duration_seconds_count{site="shop \\"x\\""} 1');
  t.match(text, 'waap_workers_ready 2');
});

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
  t.strictSame(before, {
    'gatehouse_memo_lookups_total{worker="3"}': 35,
    'gatehouse_memo_found_total{worker="3"}': 32,
    'gatehouse_scans_total{worker="3"}': 70,
    'gatehouse_scanned_bytes_total{worker="3"}': 3500,
  });
  const text = renderPrometheus(new Metrics().snapshot(before), {});
  t.match(text, '# TYPE gatehouse_memo_found_total counter\ngatehouse_memo_found_total{worker="3"} 32\n');
});

const event: SecurityEvent = {
  requestId: 'ID',
  atMs: Date.UTC(2026, 10, 21, 2, 54, 0),
  site: 'shop',
  generation: 3,
  verdict: 'block',
  mode: 'On',
  clientIp: '192.0.2.1',
  clientPort: 1,
  serverIp: '192.0.2.2',
  serverPort: 8080,
  method: 'GET',
  uri: '/?q=1',
  protocol: 'HTTP/1.1',
  requestHeaders: ['Host', 'a', 'X', '1', 'X', '2', '__proto__', 'p'],
  requestBody: null,
  status: 403,
  responseHeaders: [],
  interruption: { ruleId: 949110, action: 'deny', phase: 2, status: 403 },
  messages: [
    {
      ruleId: 942100,
      message: 'SQLi',
      data: 'd',
      match: 'm',
      severity: '2',
      file: 'a.conf',
      lineNumber: 7,
      ver: 'v',
      rev: '',
      tags: ['t'],
      maturity: '0',
      accuracy: '0',
    },
  ],
  inboundScore: 5,
  outboundScore: 0,
  phases: [1, 2, 5],
  truncated: false,
  inspectionUs: 40,
  error: null,
};

t.test('audit lines have the layout that tools read', async (t) => {
  const { transaction, gatehouse } = JSON.parse(formatAuditLine(event, 'node')) as {
    transaction: Record<string, unknown> & { messages: { details: object }[] };
    gatehouse: object;
  };
  t.strictSame(Object.keys(transaction), [
    'client_ip',
    'time_stamp',
    'server_id',
    'client_port',
    'host_ip',
    'host_port',
    'unique_id',
    'request',
    'response',
    'producer',
    'messages',
  ]);
  t.strictSame(Object.keys(transaction.messages[0]?.details ?? {}), [
    'match',
    'reference',
    'ruleId',
    'file',
    'lineNumber',
    'data',
    'severity',
    'ver',
    'rev',
    'tags',
    'maturity',
    'accuracy',
  ]);
  t.strictSame(Object.keys(gatehouse).slice(0, 8), [
    'verdict',
    'inbound_score',
    'outbound_score',
    'site',
    'generation',
    'phases',
    'us',
    'truncated',
  ]);
  for (const [mode, state] of [
    ['On', 'Enabled'],
    ['DetectionOnly', 'DetectionOnly'],
  ] as const)
    t.match(
      JSON.parse(formatAuditLine({ ...event, mode }, 'node')),
      { transaction: { producer: { secrules_engine: state } } },
      mode,
    );
  t.match(transaction, {
    time_stamp: 'Sat Nov 21 02:54:00 2026',
    request: { http_version: '1.1', headers: { X: '1, 2' } },
  });
  t.equal(asctime(0), 'Thu Jan  1 00:00:00 1970');
});

t.test('the audit log rotates, and drops rather than waits', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-audit-'));
  t.teardown(() => rm(directory, { recursive: true }));
  const problems: string[] = [];
  const options = {
    path: join(directory, 'log', 'audit.jsonl'),
    rotateBytes: 500,
    keepFiles: 2,
    bufferBytesMax: 4000,
    serverId: 's',
    onProblem: (message: string) => problems.push(message),
  };
  const log = new AuditLog(options);
  for (let round = 0; round < 4; round += 1) {
    log.append([event]);
    await log.close();
  }
  const files = await readdir(join(directory, 'log'));
  t.ok(files.includes('audit.jsonl'));
  t.match(await readFile(options.path, 'utf8'), /"unique_id":"ID"/);
  log.append(new Array<SecurityEvent>(10).fill(event));
  t.ok(log.dropped > 0, 'a full buffer drops');
  await log.close();
  t.equal(log.written + log.dropped, 14);
  const blocked = new AuditLog({ ...options, path: join(options.path, 'not', 'a', 'directory.jsonl') });
  blocked.append([event]);
  await blocked.close();
  t.equal(blocked.dropped, 1);
  t.match(problems, [/events were dropped/]);
});

t.test('an audit log that was moved or removed gets no more lines, a new one does', async (t) => {
  const path = join(t.testdir({}), 'audit.jsonl');
  const log = new AuditLog({
    path,
    rotateBytes: 1_000_000,
    keepFiles: 5,
    bufferBytesMax: 1_000_000,
    serverId: 's',
    onProblem: (message) => t.fail(message),
  });
  const line = async (requestId: string): Promise<void> => {
    const before = log.written;
    log.append([{ ...event, requestId }]);
    await until(() => log.written > before);
  };
  const ids = async (file: string): Promise<(string | undefined)[]> =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((text) => (JSON.parse(text) as { transaction?: { unique_id: string } }).transaction?.unique_id);
  await line('A');
  await rename(path, `${path}.moved`);
  await line('B');
  await line('C');
  t.strictSame([await ids(`${path}.moved`), await ids(path)], [['A'], ['B', 'C']]);
  await rm(path);
  await line('D');
  t.strictSame(await ids(path), ['D']);
  await log.close();
});

t.test('rule files are named without the machine they were compiled on', async (t) => {
  for (const [path, shown] of [
    ['/srv/gatehouse/data/crs/4.0.0/rules/REQUEST-942.conf', 'rules/REQUEST-942.conf'],
    ['gatehouse/engine.conf', 'gatehouse/engine.conf'],
    ['rules/own.conf', 'rules/own.conf'],
    ['/own.conf', '/own.conf'],
    ['', ''],
  ] as const)
    t.equal(shownFile(path), shown);
});
