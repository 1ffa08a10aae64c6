// What `up` asks the data plane that it started: what it serves, and to serve something else.
import type { GenerationReply, GenerationRequest } from '#proxy/contract';
import type { Values } from '#settings/environment';
import { networkRefusal } from '../refusal.js';

const statusMsMax = 5_000;
const generationMsMax = 120_000;

/** Throws Refusal when nothing answers, or not in time. */
function ask(values: Values, path: string, msMax: number, init: RequestInit = {}): Promise<Response> {
  const { GATEHOUSE_ADMIN_PORT: port, GATEHOUSE_ADMIN_TOKEN: token } = values;
  return fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(msMax),
  }).catch((error: unknown) => {
    throw networkRefusal('the data plane', error) ?? error;
  });
}

export interface GenerationAnswer {
  readonly status: number;
  readonly body: GenerationReply;
}

export async function sendGeneration(values: Values, generation: GenerationRequest): Promise<GenerationAnswer> {
  const reply = await ask(values, '/generation', generationMsMax, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(generation),
  });
  return { status: reply.status, body: (await reply.json()) as GenerationReply };
}

export interface ServedSite {
  readonly name: string;
  readonly host: string | null;
  readonly prefix: string;
  readonly upstream: string;
}

/** Of `GET /status`, what is told to a person. */
export interface Served {
  /** Hash of the rules; '' = nothing serves. */
  readonly ruleset: string;
  readonly mode: string;
  /** Why protected sites are answered 503 until the control plane sends what is to serve; null: they are served. */
  readonly closed: string | null;
  readonly sites: readonly ServedSite[];
  readonly sitesFrom: 'environment' | 'settings';
}

/**
 * What the data plane serves, in its own words: the settings may say something else than the environment. Throws
 * Refusal when it does not answer; null when it does not say.
 */
export async function readServed(values: Values): Promise<Served | null> {
  const reply = await ask(values, '/status', statusMsMax, { headers: { connection: 'close' } });
  return reply.ok ? ((await reply.json()) as Served) : null;
}
