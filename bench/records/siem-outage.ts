// Receivers of security events that are away: 200 events a second come in while every kind of connector has nobody to
// deliver to for so many minutes (`--minutes`), then the receivers are back. What counts: events lost, events out of
// order, and events that came twice under another id. All three have to be 0. Delivered twice under one id is allowed.
import { randomUUID } from 'node:crypto';
import { createServer as createHttp, type Server as HttpServer } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { startControlPlane, startPostgres, type ControlPlane } from '../control-plane.js';
import { HarnessProblem } from '../processes.js';

const eventsPerSecond = 200;
const eventsPerBatch = 100;
/** Before and after the outage. */
const calmSeconds = 10;
/** Until everything has arrived. */
const drainMsMax = 15 * 60_000;

/** What one receiver saw: the number in the path of each event and its id, as they came. */
interface Seen {
  readonly numbers: number[];
  readonly ids: string[];
}

interface Receiver {
  readonly name: string;
  readonly seen: Seen;
  readonly connector: object;
  kill(): Promise<void>;
  revive(): Promise<void>;
}

const numberOf = (path: string): number => Number(/\/items\/(\d+)/.exec(path)?.[1] ?? Number.NaN);

function note({ numbers, ids }: Seen, path: unknown, id: unknown): void {
  numbers.push(numberOf(String(path)));
  ids.push(String(id));
}

/** An event of one of the formats, or what goes round it there, as far as it is looked at here. */
interface Parsed {
  readonly id?: unknown;
  readonly request?: { readonly path?: unknown };
  /** Splunk's. */
  readonly event?: Parsed;
  /** Elasticsearch's. */
  readonly create?: { readonly _id?: unknown };
  readonly url?: { readonly path?: unknown };
}
const rowsOf = (text: string): Parsed[] => {
  const parsed = JSON.parse(text) as Parsed | Parsed[];
  return Array.isArray(parsed) ? parsed : [parsed];
};
const linesOf = (text: string): Parsed[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Parsed);

/** `take` notes what a call brought, and says what is answered. */
async function receiveHttp(
  name: string,
  connectorAt: (url: string) => object,
  take: (seen: Seen, path: string, body: string) => string,
): Promise<Receiver> {
  const seen: Seen = { numbers: [], ids: [] };
  const make = (): HttpServer =>
    createHttp((request, reply) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = take(seen, request.url ?? '', Buffer.concat(chunks).toString('utf8'));
        reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
      });
    });
  let server = make();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    name,
    seen,
    connector: connectorAt(`http://127.0.0.1:${port}`),
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    async revive() {
      server = make();
      await listen(port);
    },
  };
}

/** Reads to the end of a connection and then closes it, as syslog servers do; frames by octets (RFC 6587 3.4.1). */
async function receiveLines(name: string, kind: 'syslog' | 'cef'): Promise<Receiver> {
  const seen: Seen = { numbers: [], ids: [] };
  const sockets = new Set<Socket>();
  const id = kind === 'cef' ? /externalId=(\S+)/ : / id="([^"]+)"/;
  const take = (socket: Socket): void => {
    sockets.add(socket);
    let rest = '';
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: string) => {
      rest += chunk;
      for (;;) {
        const space = rest.indexOf(' ');
        const end = space + 1 + Number(rest.slice(0, Math.max(0, space)));
        if (space < 0 || rest.length < end) return;
        const message = rest.slice(space + 1, end);
        note(seen, message, id.exec(message)?.[1]);
        rest = rest.slice(end);
      }
    });
  };
  let server: Server = createTcp(take);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    name,
    seen,
    connector: { name, kind, target: `tcp://127.0.0.1:${port}` },
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    async revive() {
      server = createTcp(take);
      await listen(port);
    },
  };
}

async function startReceivers(): Promise<Receiver[]> {
  const hec = await receiveHttp(
    'hec',
    (target) => ({ name: 'hec', kind: 'splunk_hec', target, token: 'x' }),
    (seen, _path, body) => {
      for (const { event } of linesOf(body)) note(seen, event?.request?.path, event?.id);
      return '{"text":"Success","code":0}';
    },
  );
  const elastic = await receiveHttp(
    'elastic',
    (target) => ({ name: 'elastic', kind: 'elasticsearch', target }),
    (seen, _path, body) => {
      const lines = linesOf(body);
      const items: object[] = [];
      for (let at = 0; at + 1 < lines.length; at += 2) {
        const id: unknown = lines[at]?.create?._id;
        note(seen, lines[at + 1]?.url?.path, id);
        items.push({ create: { _id: id, status: 201 } });
      }
      return JSON.stringify({ errors: false, items });
    },
  );
  const sentinel = await receiveHttp(
    'sentinel',
    (target) => ({
      name: 'sentinel',
      kind: 'sentinel',
      target,
      token: 'secret',
      options: { tenant_id: 't', client_id: 'c', dcr_id: 'dcr-1', stream: 'Custom-X', login_url: target },
    }),
    (seen, path, body) => {
      if (path.includes('/oauth2/')) return '{"access_token":"a","token_type":"Bearer","expires_in":3600}';
      for (const row of rowsOf(body)) note(seen, row.request?.path, row.id);
      return '';
    },
  );
  const hook = await receiveHttp(
    'hook',
    (target) => ({ name: 'hook', kind: 'webhook', target, token: 'x', options: { batch: '100' } }),
    (seen, _path, body) => {
      for (const event of rowsOf(body)) note(seen, event.request?.path, event.id);
      return '{}';
    },
  );
  return [hec, elastic, sentinel, hook, await receiveLines('lines', 'syslog'), await receiveLines('cef', 'cef')];
}

function batchFrom(first: number): string {
  const events = Array.from({ length: eventsPerBatch }, (_, index) => ({
    ...{ at_ms: Date.now(), request_id: randomUUID(), site: 'bench', client_ip: '198.51.100.7', kind: 'waf' },
    ...{ verdict: 'block', method: 'GET', uri: `/items/${first + index}?q=1`, status: 403, rule_id: 942_100 },
    ...{ inbound_score: 5, details: { headers: [], messages: [{ rule_id: 942_100, message: 'SQL', tags: [] }] } },
  }));
  return JSON.stringify({ node: 'bench', batch_id: randomUUID(), dropped: 0, requests: [], events });
}

/** Sends events at their pace for so long; returns the number of the next one. */
async function offer(control: ControlPlane, from: number, seconds: number): Promise<number> {
  let next = from;
  const startedMs = performance.now();
  while (performance.now() - startedMs < seconds * 1000) {
    const due = from + ((performance.now() - startedMs) / 1000) * eventsPerSecond;
    if (next + eventsPerBatch > due) {
      await pause(20);
      continue;
    }
    const reply = await fetch(`${control.url}/api/dataplane/records`, {
      method: 'POST',
      headers: { authorization: `Bearer ${control.nodeToken}`, 'content-type': 'application/json' },
      body: batchFrom(next),
    });
    const text = await reply.text();
    if (reply.status !== 200) throw new HarnessProblem(`events were answered ${reply.status}: ${text.slice(0, 300)}`);
    next += eventsPerBatch;
  }
  return next;
}

interface Judged {
  readonly lost: number;
  readonly disordered: number;
  readonly strange: number;
  readonly twice: number;
}

/** Order is that of first arrivals; a number under two ids is one event that came as two. */
export function judge({ numbers, ids }: Seen, sent: number): Judged {
  const idOf = new Map<number, string>();
  let highest = -1;
  let disordered = 0;
  let strange = 0;
  let twice = 0;
  for (const [at, number] of numbers.entries()) {
    const id = ids[at] as string;
    const known = idOf.get(number);
    if (known !== undefined) {
      if (known === id) twice += 1;
      else strange += 1;
      continue;
    }
    idOf.set(number, id);
    if (number < highest) disordered += 1;
    highest = Math.max(highest, number);
  }
  let lost = 0;
  for (let number = 0; number < sent; number += 1) if (!idOf.has(number)) lost += 1;
  return { lost, disordered, strange, twice };
}

export async function siemOutageCase({ root, options, recorder, progress }: BenchContext): Promise<void> {
  const postgres = await startPostgres();
  if (postgres === null) recorder.note('siem-outage ran on the embedded database: apt-get install postgresql');
  const control = await startControlPlane({ root, databaseUrl: postgres?.url ?? null });
  const receivers = await startReceivers();
  try {
    await control.call('PATCH', '/api/settings', { siem_connectors: receivers.map(({ connector }) => connector) });
    let next = await offer(control, 0, calmSeconds);
    await Promise.all(receivers.map((one) => one.kill()));
    progress(`siem-outage: every receiver is away for ${options.minutes} minutes`);
    next = await offer(control, next, options.minutes * 60);
    await Promise.all(receivers.map((one) => one.revive()));
    const backMs = performance.now();
    next = await offer(control, next, calmSeconds);
    await waitForAll(receivers, next, backMs);
    const tookSeconds = (performance.now() - backMs) / 1000;
    recorder.add('siem-outage / events', 'events', 'none', next);
    recorder.add('siem-outage / until all had arrived', 's', 'lower', tookSeconds);
    for (const { name, seen } of receivers) {
      const { lost, disordered, strange, twice } = judge(seen, next);
      for (const [what, value] of [
        ['lost', lost],
        ['out of order', disordered],
        ['twice under two ids', strange],
      ] as const)
        recorder.add(`siem-outage / ${name} / ${what}`, 'events', 'lower', value);
      recorder.add(`siem-outage / ${name} / twice under one id`, 'events', 'none', twice);
      progress(`siem-outage: ${name}: ${next} events, ${lost} lost, ${disordered} out of order, ${twice} twice`);
      if (lost + disordered + strange > 0)
        throw new HarnessProblem(`${name}: ${lost} lost, ${disordered} out of order, ${strange} twice under two ids`);
    }
  } finally {
    await Promise.all(receivers.map((one) => one.kill().catch(() => undefined)));
    await control.stop();
    await postgres?.stop();
  }
}

async function waitForAll(receivers: readonly Receiver[], sent: number, sinceMs: number): Promise<void> {
  const isBehind = (): boolean => receivers.some(({ seen }) => new Set(seen.numbers).size < sent);
  while (isBehind() && performance.now() - sinceMs < drainMsMax) await pause(1000);
}
