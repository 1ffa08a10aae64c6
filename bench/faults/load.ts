// Load through the balancer: requests that have to be answered as their rules say, and clients that spend a limit.
import { Agent, createServer, request, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ownAddress } from './network.js';

export interface Failure {
  readonly fromMs: number;
  readonly toMs: number;
  readonly what: string;
  /** Of the balancer: to which node it was sent. */
  readonly node: string;
}

export interface Asked {
  answered: number;
  slowestMs: number;
  readonly tookMs: number[];
  readonly failures: Failure[];
}

export interface Spent {
  readonly key: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly passed: number;
  readonly sent: number;
}

interface Answer {
  readonly status: number;
  readonly node: string;
  /** '' where it was answered to its end. */
  readonly problem: string;
}

const requestMsMax = 30_000;
export const limit = 40;

/** The application behind the nodes. */
export async function startUpstream(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((_request, response) => response.end('fine'));
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, ownAddress, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://${ownAddress}:${address.port}`, server };
}

/** Asks once, and never again: what fails counts. */
function ask(agent: Agent, host: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const asked = request({
      agent,
      host,
      port: 8080,
      path,
      headers: { 'user-agent': 'test', accept: '*/*', ...headers },
    });
    let node = '';
    const fail = (problem: string): void => resolve({ status: 0, node, problem });
    asked.setTimeout(requestMsMax, () => asked.destroy(new Error(`no answer in ${requestMsMax / 1000} s`)));
    asked.once('error', (error) => fail(error.message));
    asked.once('response', (response) => {
      node = String(response.headers['x-node'] ?? '');
      response.resume();
      response.once('error', (error) => fail(error.message));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, node, problem: '' }));
    });
    asked.end();
  });
}

const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: 1, timeout: 0 });

/** Every tenth is an attack. */
async function client(host: string, everyMs: number, number: number, asked: Asked, ending: AbortSignal): Promise<void> {
  const agent = newAgent();
  for (let turn = 0; !ending.aborted; turn += 1) {
    const isAttack = turn % 10 === number % 10;
    const fromMs = Date.now();
    const path = isAttack ? "/app?q=1'%20OR%20'1'='1'%20--%20" : `/app?q=${number}-${turn}`;
    const { status, node, problem } = await ask(agent, host, path);
    const tookMs = Date.now() - fromMs;
    asked.tookMs.push(tookMs);
    if (status === (isAttack ? 403 : 200)) asked.answered += 1;
    else asked.failures.push({ fromMs, toMs: Date.now(), what: problem || `${path.slice(0, 12)} ${status}`, node });
    await pause(Math.max(0, everyMs - tookMs));
  }
  agent.destroy();
}

export async function keepAsking(
  host: string,
  { clients, everyMs }: { readonly clients: number; readonly everyMs: number },
  ending: AbortSignal,
): Promise<Asked> {
  const asked: Asked = { answered: 0, slowestMs: 0, tookMs: [], failures: [] };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(host, everyMs, index, asked, ending)));
  asked.slowestMs = asked.tookMs.reduce((most, one) => Math.max(most, one), 0);
  return asked;
}

/** A client spends three times its limit over some seconds, four requests at a time. */
async function spend(host: string, key: string, other: Failure[]): Promise<Spent> {
  const fromMs = Date.now();
  let [passed, sent] = [0, 0];
  const one = async (): Promise<void> => {
    const agent = newAgent();
    while (sent < 3 * limit) {
      sent += 1;
      const askedMs = Date.now();
      const { status, node, problem } = await ask(agent, host, '/limited', { 'x-key': key });
      if (status === 200) passed += 1;
      else if (status !== 429) other.push({ fromMs: askedMs, toMs: Date.now(), what: problem || String(status), node });
      await pause(100);
    }
    agent.destroy();
  };
  await Promise.all([one(), one(), one(), one()]);
  return { key, fromMs, toMs: Date.now(), passed, sent };
}

/** One key after the other. */
export async function keepSpending(
  host: string,
  ending: AbortSignal,
): Promise<{ spent: Spent[]; failures: Failure[] }> {
  const [spent, failures]: [Spent[], Failure[]] = [[], []];
  while (!ending.aborted) spent.push(await spend(host, `key-${spent.length}`, failures));
  return { spent, failures };
}
