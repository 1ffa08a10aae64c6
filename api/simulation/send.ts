// Sends the requests of a wave to a node, each signed as of its simulated client: so many a second, so many at once, so
// long, and no longer than until somebody stops it. Nodes come from the environment of the operator and never from a
// request; what is sent goes nowhere else.
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { markMs, markOf, simulatedAddress, simulationField } from '#proxy/contract';
import { clientsMax, type Attack, type Wave } from './waves.js';

export interface Plan {
  readonly wave: Wave;
  /** Of a node's listener in plain HTTP. */
  readonly url: string;
  /** As the site is asked for. */
  readonly host: string;
  /** Of the site, without a slash at its end. */
  readonly prefix: string;
  readonly key: Uint8Array;
  /** Number of the simulation: its clients have addresses that no other of the last hundreds had. */
  readonly number: number;
  readonly requests: number;
  readonly seconds: number;
  readonly rate: number;
  readonly now: () => number;
}

/** What one request came to. */
export interface Sent {
  readonly attack: string;
  readonly address: string;
  /** When its answer was there, after the beginning: what is stopped is known to be only then. */
  readonly atMs: number;
  /** null: no answer. */
  readonly status: number | null;
  /** As the answer names it: every answer that came through a node does; null: there was none. */
  readonly requestId: string | null;
}

const atOnceMax = 20;
const answerMsMax = 10_000;
const bytesMax = 1024 * 1024;

export const addressOf = (number: number, client: number): string => simulatedAddress(number * clientsMax + client);

/** Resolves when everything is answered, the time is over, or `signal` says so. `onSent` hears of each answer. */
export async function sendWave(plan: Plan, signal: AbortSignal, onSent: (sent: Sent) => void): Promise<void> {
  const { wave, requests, seconds, rate } = plan;
  const agent = new Agent({ keepAlive: true, maxSockets: atOnceMax });
  const start = performance.now();
  const isOver = (): boolean => signal.aborted || performance.now() - start >= seconds * 1000;
  const under = new Set<Promise<void>>();
  try {
    for (let number = 0; number < requests && !isOver(); number++) {
      const dueMs = (number * 1000) / rate - (performance.now() - start);
      if (dueMs > 0) await pause(Math.min(dueMs, 1000 * seconds), undefined, { signal }).catch(() => undefined);
      if (isOver()) break;
      const attack = wave.attack(number);
      const address = addressOf(plan.number, attack.client);
      const one = sendOne(plan, attack, agent, signal)
        .then((answer) => onSent({ attack: attack.name, address, atMs: performance.now() - start, ...answer }))
        .finally(() => under.delete(one));
      under.add(one);
      if (under.size >= atOnceMax) await Promise.race(under);
    }
    await Promise.all(under);
  } finally {
    agent.destroy();
  }
}

type Answered = Pick<Sent, 'status' | 'requestId'>;

function sendOne(plan: Plan, attack: Attack, agent: Agent, signal: AbortSignal): Promise<Answered> {
  const { url, host, prefix, key, number, now } = plan;
  const uri = `${prefix}${attack.path}`;
  const { method, body } = attack;
  const mark = markOf(key, addressOf(number, attack.client), now() + markMs, { method, uri, host });
  const headers = {
    ...attack.headers,
    host,
    [simulationField]: mark,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: null, requestId: null });
    const sent = httpRequest(
      url,
      { method, path: uri, headers, agent, setHost: false, timeout: answerMsMax, signal },
      (response) => {
        const { statusCode = null } = response;
        const id = response.headers['x-request-id'];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length) > bytesMax && response.destroy());
        response.once('close', () => resolve({ status: statusCode, requestId: typeof id === 'string' ? id : null }));
      },
    );
    sent.once('timeout', () => sent.destroy());
    sent.once('error', none);
    sent.end(body);
  });
}
