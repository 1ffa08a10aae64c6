// Paced traffic for a soak: each request says what its answer must be, so that a wrong one is a failed one.
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

interface Wanted {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string | null;
  readonly status: 200 | 403;
}

/** One in ten is an attack. The numbers in it keep every memo from answering. */
function requestOf(n: number): Wanted {
  const kinds: readonly Wanted[] = [
    { method: 'GET', path: `/shop/items/${n}?page=${n % 17}&sort=price`, body: null, status: 200 },
    { method: 'GET', path: `/search?q=lamp+number+${n}`, body: null, status: 200 },
    { method: 'POST', path: '/cart', body: `item=${n}&count=2&note=for+the+hall`, status: 200 },
    { method: 'GET', path: `/static/app.${n}.js`, body: null, status: 200 },
    { method: 'GET', path: `/account/orders/${n}`, body: null, status: 200 },
  ];
  if (n % 10 !== 9) return kinds[n % kinds.length] as Wanted;
  const attacks: readonly Wanted[] = [
    { method: 'GET', path: `/search?q=${n}'%20OR%20'1'='1'%20--%20`, body: null, status: 403 },
    { method: 'GET', path: `/show?file=../../../../etc/passwd&n=${n}`, body: null, status: 403 },
    { method: 'POST', path: '/comment', body: `text=<script>alert(${n})</script>`, status: 403 },
  ];
  return attacks[Math.floor(n / 10) % attacks.length] as Wanted;
}

export interface Tally {
  /** Requests that were answered, by whatever status. */
  answered: number;
  readonly failures: Map<string, number>;
}

export interface Target {
  readonly port: number;
  readonly agent: Agent;
  readonly tally: Tally;
}

export function createTarget(port: number, connections: number): Target {
  return {
    port,
    agent: new Agent({ keepAlive: true, maxSockets: connections }),
    tally: { answered: 0, failures: new Map() },
  };
}

/** Resolves when the answer is complete; never rejects. */
export function send({ port, agent, tally }: Target, n: number): Promise<void> {
  const { method, path, body, status } = requestOf(n);
  return new Promise((resolve) => {
    const fail = (why: string): void => {
      tally.failures.set(why, (tally.failures.get(why) ?? 0) + 1);
      resolve();
    };
    const headers = {
      host: 'soak.example.org',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) soak',
      accept: '*/*',
      ...(body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }),
    };
    const call = request({ host: '127.0.0.1', port, method, path, headers, agent, timeout: 30_000 }, (reply) => {
      reply.resume();
      reply.once('error', (error) => fail(error.message));
      reply.once('end', () => {
        tally.answered++;
        if (reply.statusCode === status) resolve();
        else fail(`${reply.statusCode} instead of ${status}`);
      });
    });
    call.once('timeout', () => call.destroy(new Error('no answer in 30 s')));
    call.once('error', (error) => fail(error.message));
    call.end(body ?? undefined);
  });
}

const clock = { next: 0 };

/** As many as the target answers with so many connections, for some seconds: requests a second. */
export async function findCapacity(target: Target, connections: number, seconds: number): Promise<number> {
  const before = target.tally.answered;
  const endMs = performance.now() + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < endMs) await send(target, clock.next++);
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return (target.tally.answered - before) / seconds;
}

const stepMs = 20;
/**
 * Requests without an answer. Whatever is due beyond them is left out: a machine that got other things to do would
 * pile up a backlog that outlasts the soak, and 60 % of what it could bear before may be more than it can bear now.
 */
const waitingMax = 500;

export interface Paced {
  readonly due: number;
  readonly leftOut: number;
}

/** At a pace, whatever the answers take, until `ending`; resolves when the last answer is there. */
export async function keepPace(targets: readonly Target[], perSecond: number, ending: AbortSignal): Promise<Paced> {
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let sent = 0;
  let leftOut = 0;
  while (!ending.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond);
    for (; sent < due; sent++) {
      if (running.size >= waitingMax) {
        // none ends before the next pause; to count them one by one is slower than a billion a second fall due
        leftOut += due - sent;
        sent = due;
        break;
      }
      const call = send(targets[sent % targets.length] as Target, clock.next++).finally(() => running.delete(call));
      running.add(call);
    }
    await pause(stepMs);
  }
  await Promise.all(running);
  return { due: sent, leftOut };
}
