// Records of gateways into PostgreSQL by POST /api/gateway/auto, as shippers send them: gzip, four lists at a time,
// each record with an id, headers of its own and one of many paths. What counts: records that were counted a second,
// CPU per record. Then what nobody should send: large members, nested bombs, archives beyond every bound; what counts
// there is that each is refused, and that memory stays what it was.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { BenchContext } from '../context.js';
import { startControlPlane, startPostgres, type ControlPlane, type Postgres } from '../control-plane.js';
import { cpuUs, residentBytes } from '../cpu.js';
import { HarnessProblem } from '../processes.js';
import { quantile } from '../statistics.js';

const rowsPerBatch = 5000;
const senders = 4;
const bodiesMade = 24;

const methods = ['GET', 'GET', 'GET', 'POST'] as const;
const resources = ['orders', 'customers', 'items', 'carts', 'invoices', 'shipments', 'refunds', 'reviews'] as const;

/** One in two has a credential, one in ten a query; ids come from a counter and as UUIDs. `number` is of the record. */
function recordAt(number: number, nowMs: number): object {
  const id = number % 3 === 0 ? randomUUID() : String(number % 40_000);
  const resource = resources[number % resources.length] as string;
  const subject = Buffer.from(JSON.stringify({ sub: `user-${number % 2000}` })).toString('base64url');
  return {
    id: randomUUID(),
    method: methods[number % methods.length],
    uri: `/v1/${resource}/${id}${number % 10 === 0 ? `?page=${number % 7}&sort=price` : ''}`,
    status: number % 50 === 0 ? 403 : 200,
    ip: `198.51.100.${number % 250}`,
    host: 'api.shop.example',
    user_agent: 'shop/4.1',
    headers: number % 2 === 0 ? { authorization: `Bearer eyJhbGciOiJIUzI1NiJ9.${subject}.c2ln` } : {},
    latency_ms: 12,
    timestamp: nowMs,
  };
}

interface Sent {
  accepted: number;
  again: number;
  refused: number;
  readonly waits: number[];
}

async function sendAll(control: ControlPlane, seconds: number): Promise<Sent & { readonly tookSeconds: number }> {
  const sent: Sent = { accepted: 0, again: 0, refused: 0, waits: [] };
  let made = 0;
  // Made before the clock runs: whoever sends runs on the machine that is measured.
  const bodies = Array.from({ length: bodiesMade }, () => {
    const records = Array.from({ length: rowsPerBatch }, () => recordAt((made += 1), Date.now()));
    return gzipSync(JSON.stringify(records), { level: 1 });
  });
  const startedMs = performance.now();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (performance.now() - startedMs < seconds * 1000) {
      const body = bodies[(next += 1) - 1];
      if (body === undefined) return;
      const sentMs = performance.now();
      const reply = await fetch(`${control.url}/api/gateway/auto`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${control.token}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body,
      });
      const text = await reply.text();
      sent.waits.push(performance.now() - sentMs);
      if (reply.status === 429) sent.refused += rowsPerBatch;
      else if (reply.status !== 200) throw new HarnessProblem(`answered ${reply.status}: ${text.slice(0, 300)}`);
      else {
        const { accepted, duplicates } = JSON.parse(text) as { accepted: number; duplicates: number };
        sent.accepted += accepted - duplicates;
        sent.again += duplicates;
      }
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  return { ...sent, tookSeconds: (performance.now() - startedMs) / 1000 };
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const entry = (text: string): object => ({
  request: { method: 'GET', url: 'https://shop.example/a/1', headers: [] },
  response: { status: 200, headers: [], content: { mimeType: 'application/json', text } },
});
const generic = { method: 'GET', uri: '/orders/9', status: 200 };

/** Each with the status that it has to be answered with, and how many of its records are refused. */
function hostile(): readonly (readonly [what: string, body: () => Buffer, status: number, rejected: number])[] {
  const big = 'a'.repeat(10_000_000);
  return [
    ['uri of 10 MB', () => Buffer.from(JSON.stringify([generic, { ...generic, uri: `/${big}` }])), 200, 1],
    ['member of 10 MB', () => Buffer.from(JSON.stringify([{ ...generic, user_agent: big }, generic])), 200, 1],
    ['3,000,000 levels', () => Buffer.from(nested(3_000_000)), 200, 1],
    ['5,000 levels', () => Buffer.from(`[${nested(5000)},${JSON.stringify(generic)}]`), 200, 1],
    ['wrong types', () => Buffer.from(JSON.stringify([1, null, [], 'x', { ...generic, status: {} }, generic])), 200, 5],
    ['100 MB HAR', () => Buffer.from(JSON.stringify({ log: { entries: Array(10).fill(entry(big)) } })), 413, 0],
    [
      '100 MB HAR, gzip',
      () => gzipSync(JSON.stringify({ log: { entries: Array(10).fill(entry(big)) } }), { level: 1 }),
      413,
      0,
    ],
    ['gzip bomb of 1 GB', () => gzipSync(Buffer.alloc(1_000_000_000), { level: 1 }), 413, 0],
    ['50,001 records', () => Buffer.from(JSON.stringify(Array(50_001).fill(generic))), 413, 0],
  ];
}

async function sendHostile(context: BenchContext, control: ControlPlane): Promise<void> {
  const before = residentBytes(control.pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentBytes(control.pid))), 20);
  try {
    for (const [what, make, status, rejected] of hostile()) {
      const body = make();
      const isPacked = body[0] === 0x1f && body[1] === 0x8b;
      const startedMs = performance.now();
      const reply = await fetch(`${control.url}/api/ingest`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${control.token}`,
          'content-type': 'application/json',
          ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
        },
        body,
      }).catch((error: unknown) => {
        // A body beyond the limit may be refused before it has been sent.
        if (status === 413 && error instanceof TypeError) return null;
        throw error;
      });
      const text = (await reply?.text()) ?? '';
      const took = performance.now() - startedMs;
      if (reply !== null && reply.status !== status)
        throw new HarnessProblem(`${what} was answered ${reply.status}, not ${status}: ${text.slice(0, 300)}`);
      const told = status === 200 ? (JSON.parse(text) as { rejected: unknown[] }).rejected.length : 0;
      if (told !== rejected) throw new HarnessProblem(`of ${what} ${told} records were refused, not ${rejected}`);
      context.recorder.add(`ingest / hostile / ${what}`, 'ms', 'lower', took);
    }
  } finally {
    clearInterval(watch);
  }
  context.recorder.add('ingest / hostile / most memory beyond what it was', 'MB', 'lower', (most - before) / 1_048_576);
}

async function measure(context: BenchContext, control: ControlPlane, postgres: Postgres): Promise<void> {
  const { recorder, options } = context;
  const before = { api: cpuUs(control.pid), database: cpuUs(postgres.pid) };
  const { accepted, again, refused, waits, tookSeconds } = await sendAll(control, Math.max(options.seconds, 6) * 2);
  if (accepted === 0 || again > 0) throw new HarnessProblem(`${accepted} records counted, ${again} came before`);
  recorder.add('ingest / counted', 'records/s', 'higher', accepted / tookSeconds);
  recorder.add('ingest / refused, to be sent again', 'records', 'lower', refused);
  recorder.add('ingest / until answered, p99', 'ms', 'lower', quantile(waits, 0.99));
  recorder.add('ingest / CPU of the API', 'µs/record', 'lower', (cpuUs(control.pid) - before.api) / accepted);
  const database = (cpuUs(postgres.pid) - before.database) / accepted;
  recorder.add('ingest / CPU of PostgreSQL', 'µs/record', 'lower', database);
  recorder.add('ingest / memory of the API', 'MB', 'lower', residentBytes(control.pid) / 1_048_576);
}

export async function ingestCase(context: BenchContext): Promise<void> {
  const { root, recorder, options } = context;
  const postgres = await startPostgres();
  if (postgres === null) return recorder.note('ingest was left out: apt-get install postgresql');
  const control = await startControlPlane({ root, databaseUrl: postgres.url });
  try {
    await sendAll(control, 3); // prepared statements, compiled code, templates
    await control.call('GET', '/api/inventory/stats');
    for (let count = 0; count < options.repetitions; count += 1) {
      context.progress(`ingest: ${count + 1} of ${options.repetitions}`);
      await measure(context, control, postgres);
    }
    context.progress('ingest: what nobody should send');
    await sendHostile(context, control);
  } finally {
    await control.stop();
    await postgres.stop();
  }
}
