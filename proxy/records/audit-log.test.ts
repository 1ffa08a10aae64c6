import { mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SecurityEvent } from '../contract/index.js';
import { until } from '../e2e/waiting.js';
import { asctime, formatAuditLine } from './audit-line.js';
import { AuditLog } from './audit-log.js';

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
