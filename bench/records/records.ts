// Request records into PostgreSQL, beside a data plane that is loaded: 20,000 records a second are offered in batches,
// as nodes offer them, while eight connections keep the data plane busy (its own records are not among them). What
// counts: records stored a second, what was sampled out and refused (both are counted by the API, both must add up),
// CPU per record.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { startControlPlane, startPostgres, type ControlPlane, type Postgres } from '../control-plane.js';
import { cpuUs, residentBytes } from '../cpu.js';
import { measureLoad, type LoadResult } from '../load.js';
import { HarnessProblem, temporaryDirectory } from '../processes.js';
import { quantile } from '../statistics.js';
import { startBackend, startGatehouse, type System } from '../systems.js';
import { encodeTemplates } from '../traffic.js';

const offeredPerSecond = 20_000;
const rowsPerBatch = 2_000;
/** More than the API lets wait before it samples (60,000 records). */
const inFlightMax = 48;

const passed = '"status":200,"verdict":"pass","inbound_score":0,"outbound_score":0,"rule_ids":[]';
const blocked = '"status":403,"verdict":"block","inbound_score":5,"outbound_score":0,"rule_ids":[942100,949110]';
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36';

/**
 * As proxy/records/request-records.ts writes them: one in fifty tripped a rule. Made as text and not as objects,
 * because whoever offers them runs on the machine that is measured.
 */
function makeBatch(nowMs: number): string {
  const rows = Array.from(
    { length: rowsPerBatch },
    (_, index) =>
      `{"at_ms":${nowMs},"request_id":"${randomUUID()}","site":"bench","generation":1,` +
      `"client_ip":"198.51.100.${index % 250}","method":"GET",` +
      `"uri":"/shop/items/${index}?page=${index % 17}&sort=price",${index % 50 === 0 ? blocked : passed},` +
      `"user_agent":"${userAgent}","request_bytes":0,"response_bytes":5120,"latency_us":1834,"inspection_us":96}`,
  );
  return `{"node":"bench","batch_id":"${randomUUID()}","dropped":0,"events":[],"requests":[${rows.join(',')}]}`;
}

interface Offered {
  offered: number;
  stored: number;
  sampledOut: number;
  refused: number;
  /** Milliseconds from sending a batch to its acknowledgement. */
  readonly waits: number[];
}

/**
 * Sends at the given pace until the time is over; waits for every answer. A 503 is counted and not repeated: the pace
 * is what is measured.
 */
async function offer(control: ControlPlane, perSecond: number, seconds: number): Promise<Offered> {
  const result: Offered = { offered: 0, stored: 0, sampledOut: 0, refused: 0, waits: [] };
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    const sentMs = performance.now();
    const reply = await fetch(`${control.url}/api/dataplane/records`, {
      method: 'POST',
      headers: { authorization: `Bearer ${control.nodeToken}`, 'content-type': 'application/json' },
      body: makeBatch(Math.round(performance.timeOrigin + sentMs)),
    });
    const text = await reply.text();
    result.waits.push(performance.now() - sentMs);
    if (reply.status === 503) {
      result.refused += rowsPerBatch;
      return;
    }
    if (reply.status !== 200) throw new HarnessProblem(`records were answered ${reply.status}: ${text.slice(0, 300)}`);
    const { stored, sampled_out } = JSON.parse(text) as { stored: number; sampled_out: number };
    result.stored += stored;
    result.sampledOut += sampled_out;
  };
  while (performance.now() - startedMs < seconds * 1000) {
    const due = ((performance.now() - startedMs) / 1000) * perSecond;
    if (result.offered + rowsPerBatch <= due && running.size < inFlightMax) {
      result.offered += rowsPerBatch;
      const one = send().finally(() => running.delete(one));
      running.add(one);
      one.catch(() => undefined); // told below, when all are awaited
    } else await pause(2);
  }
  await Promise.all(running);
  return result;
}

async function measure(
  context: BenchContext,
  name: string,
  perSecond: number,
  parts: {
    readonly control: ControlPlane;
    readonly postgres: Postgres;
    readonly load: (() => Promise<LoadResult>) | null;
  },
): Promise<void> {
  const { recorder, options } = context;
  const { control, postgres, load } = parts;
  const seconds = Math.max(options.seconds, 6) * 2;
  const counted = async (): Promise<number> =>
    Number((await control.call('GET', '/api/policy/stats'))['records_sampled_out']);
  const sampledBefore = await counted();
  const before = { api: cpuUs(control.pid), database: cpuUs(postgres.pid), atMs: performance.now() };
  const [result, loaded] = await Promise.all([offer(control, perSecond, seconds), load?.() ?? null]);
  const tookSeconds = (performance.now() - before.atMs) / 1000;
  const key = `records / ${name}`;
  recorder.add(`${key} / offered`, 'records/s', 'none', result.offered / seconds);
  recorder.add(`${key} / stored`, 'records/s', 'higher', result.stored / tookSeconds);
  recorder.add(`${key} / sampled out`, '%', 'lower', (result.sampledOut / result.offered) * 100);
  recorder.add(`${key} / refused, to be sent again`, '%', 'lower', (result.refused / result.offered) * 100);
  recorder.add(`${key} / until acknowledged, p99`, 'ms', 'lower', quantile(result.waits, 0.99));
  recorder.add(`${key} / CPU of the API`, 'µs/record', 'lower', (cpuUs(control.pid) - before.api) / result.offered);
  recorder.add(
    `${key} / CPU of PostgreSQL`,
    'µs/record',
    'lower',
    (cpuUs(postgres.pid) - before.database) / Math.max(1, result.stored),
  );
  recorder.add(`${key} / memory of the API`, 'MB', 'lower', residentBytes(control.pid) / 1_048_576);
  if (loaded !== null) recorder.add(`${key} / requests of the load`, 'requests/s', 'higher', loaded.requestsPerSecond);
  if (result.stored + result.sampledOut + result.refused !== result.offered)
    throw new HarnessProblem(
      `${result.offered} offered, but ${result.stored} stored + ${result.sampledOut} sampled out + ` +
        `${result.refused} refused`,
    );
  await pause(6000); // the statistics are at most five seconds old
  const countedNow = (await counted()) - sampledBefore;
  if (countedNow < result.sampledOut)
    throw new HarnessProblem(`${result.sampledOut} records were sampled out and ${countedNow} were counted`);
}

export async function recordsCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder, traffics } = context;
  const postgres = await startPostgres();
  if (postgres === null) return recorder.note('records were left out: apt-get install postgresql');
  const temporary = temporaryDirectory('records');
  const backend = await startBackend(root);
  const control = await startControlPlane({ root, databaseUrl: postgres.url });
  let node: System | null = null;
  try {
    node = await startGatehouse({
      root,
      backendPort: backend.port,
      paranoia: 1,
      workers: 1,
      rules,
      listener: options.listener,
    });
    const { port, pid } = node;
    const templates = join(temporary.path, 'mix.templates');
    writeFileSync(templates, encodeTemplates(traffics[0]?.[1] ?? []));
    const load = (): Promise<LoadResult> =>
      measureLoad({
        port,
        pid,
        seconds: Math.max(options.seconds, 6) * 2,
        connections: 8,
        script: join(root, 'bench/fresh.lua'),
        templates,
      });
    await offer(control, 5000, 2); // partitions, prepared statements, compiled code
    context.progress('records: 20,000 a second, nothing beside');
    await measure(context, '20,000/s alone', offeredPerSecond, { control, postgres, load: null });
    context.progress('records: 20,000 a second beside a loaded data plane');
    await measure(context, '20,000/s beside a loaded data plane', offeredPerSecond, { control, postgres, load });
    context.progress('records: as many as can be sent');
    await measure(context, 'more than it can store', 200_000, { control, postgres, load: null });
  } finally {
    await node?.stop();
    await control.stop();
    await postgres.stop();
    await backend.stop();
    temporary.remove();
  }
}
