// Writes to whichever control plane takes them: settings that are saved and applied, addresses that are denied. What
// was acknowledged has to be there at the end.
import { setTimeout as pause } from 'node:timers/promises';
import { HarnessProblem } from '../processes.js';
import type { Part } from './parts.js';
import { firstLogin } from './planes.js';

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const callMsMax = 60_000;

/** An administrator who asks the other control plane where one does not answer. */
export class Administrator {
  private token = '';
  private next = 0;

  constructor(private readonly controls: readonly Part[]) {}

  async call(host: string, method: string, path: string, body?: unknown): Promise<Reply> {
    const reply = await fetch(`http://${host}:8095${path}`, {
      method,
      signal: AbortSignal.timeout(callMsMax),
      headers: {
        connection: 'close',
        ...(this.token === '' ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  }

  /** To any of them, in turn. Rejects where the one whose turn it is gives no answer. */
  ask(method: string, path: string, body?: unknown): Promise<Reply> {
    this.next = (this.next + 1) % this.controls.length;
    return this.call(this.controls[this.next]?.host ?? '', method, path, body);
  }

  /** Until one answers 2xx. */
  async insist(method: string, path: string, body?: unknown, withinMs = 120_000): Promise<Record<string, unknown>> {
    const untilMs = performance.now() + withinMs;
    for (let said = 'nothing'; ; await pause(200)) {
      const reply = await this.ask(method, path, body).catch((error: Error) => error);
      if (!(reply instanceof Error) && reply.status < 300) return reply.body;
      said = reply instanceof Error ? reply.message : `${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`;
      if (performance.now() > untilMs) throw new HarnessProblem(`${method} ${path}: ${said}`);
    }
  }

  async logIn(): Promise<void> {
    const { email, password } = firstLogin;
    const next = 'Slow-meadow-cloud-73';
    this.token = String((await this.insist('POST', '/api/login', { email, password }))['token']);
    await this.insist('POST', '/api/account/password', { current: password, password: next });
    this.token = String((await this.insist('POST', '/api/login', { email, password: next }))['token']);
  }
}

export interface Written {
  saved: number;
  applied: number;
  denied: number;
  /** 503, 409, and connections without an answer: the caller knows that it may not count on it. */
  refused: number;
  /** Answers that nobody should get. */
  readonly faults: string[];
  readonly lost: string[];
  readonly tookMs: number[];
}

const ruleOf = (n: number): object => ({
  ...{ id: 1_000_001, name: `change ${n}`, enabled: true, kind: 'visual', variable: 'ARGS', operator: 'contains' },
  ...{ value: `never-sent-${n}`, action: 'block', phase: 2 },
});

/** What a caller has to be ready for while parts die. */
const mayRefuse = new Set([409, 412, 502, 503]);

interface Acknowledged {
  readonly addresses: Set<string>;
  /** The newest change that was acknowledged; each replaces the one before. */
  change: number;
  /** The newest that may be stored without having been acknowledged. */
  sent: number;
  version: number;
}

async function step(written: Written, what: () => Promise<Reply>): Promise<Reply | null> {
  const fromMs = performance.now();
  const reply = await what().catch(() => null);
  written.tookMs.push(performance.now() - fromMs);
  if (reply !== null && reply.status < 300) return reply;
  if (reply !== null && !mayRefuse.has(reply.status))
    written.faults.push(`${reply.status} ${JSON.stringify(reply.body).slice(0, 400)}`);
  written.refused += 1;
  return null;
}

async function keepChanging(admin: Administrator, known: Acknowledged, written: Written, ending: AbortSignal) {
  while (!ending.aborted) {
    known.sent += 1;
    const change = known.sent;
    const body = { custom_rules: [ruleOf(change)] };
    if ((await step(written, () => admin.ask('PATCH', '/api/settings', body))) !== null) {
      written.saved += 1;
      known.change = change;
      const applied = await step(written, () => admin.ask('POST', '/api/apply'));
      if (applied !== null) {
        written.applied += 1;
        known.version = Math.max(known.version, Number(applied.body['version']));
      }
    }
    await pause(5000, undefined, { signal: ending }).catch(() => undefined);
  }
}

async function keepDenying(admin: Administrator, known: Acknowledged, written: Written, ending: AbortSignal) {
  for (let n = 1; !ending.aborted; n += 1) {
    const address = `198.18.${n >> 8}.${n & 255}`;
    const body = { addresses: [address], reason: 'fault run' };
    if ((await step(written, () => admin.ask('POST', '/api/threat-intel', body))) !== null) {
      written.denied += 1;
      known.addresses.add(address);
    }
    await pause(1000, undefined, { signal: ending }).catch(() => undefined);
  }
}

async function listDenied(admin: Administrator): Promise<Set<string>> {
  const found = new Set<string>();
  for (let cursor = ''; ; ) {
    const query = `limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await admin.insist('GET', `/api/threat-intel?${query}`);
    for (const { network } of page['items'] as { network: string }[]) found.add(network.replace('/32', ''));
    cursor = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : '';
    if (cursor === '') return found;
  }
}

async function findLost(admin: Administrator, known: Acknowledged): Promise<string[]> {
  const lost: string[] = [];
  const denied = await listDenied(admin);
  for (const address of known.addresses) if (!denied.has(address)) lost.push(`the denial of ${address}`);
  const text = JSON.stringify(await admin.insist('GET', '/api/settings'));
  const stored = Number(/"change (\d+)"/.exec(text)?.[1] ?? 0);
  if (stored < known.change) lost.push(`change ${known.change} (${stored} is stored)`);
  const active = Number((await admin.insist('GET', '/api/nodes'))['active_version']);
  if (active < known.version) lost.push(`the apply of version ${known.version} (${active} is active)`);
  return lost;
}

export async function keepWriting(admin: Administrator, ending: AbortSignal, settled: Promise<unknown>) {
  const written: Written = { saved: 0, applied: 0, denied: 0, refused: 0, faults: [], lost: [], tookMs: [] };
  const known: Acknowledged = { addresses: new Set(), change: 0, sent: 0, version: 0 };
  await Promise.all([keepChanging(admin, known, written, ending), keepDenying(admin, known, written, ending)]);
  await settled;
  written.lost.push(...(await findLost(admin, known)));
  return written;
}
