// Windows of clients as nodes send them, for tests: what is not said is what an honest client does.
import type { ClientWindow } from '#proxy/contract';
import type { FeatureVector, Weights } from '../engine/vector.js';

export const specified: Weights = { signature: 40, anomaly: 20, api_abuse: 25, bot: 15 };

export const emptyVector: FeatureVector = {
  address: '192.0.2.1',
  sites: ['shop'],
  window_seconds: 300,
  requests: 20,
  blocked: 0,
  flagged: 0,
  limited: 0,
  challenged: 0,
  held: 0,
  denied: 0,
  not_found: 0,
  login_failures: 0,
  score_max: 0,
  score_sum: 0,
  groups: {},
  rules: {},
  agents: {},
  odd_browsers: 0,
  paths: 3,
  shapes: 3,
  sessions: 0,
  user_agents: 1,
  samples: [],
  deviations: [],
  threats: [],
  missing: [],
};

/** A bitmap with so many different things in it. */
export function bitmapOf(things: number, bits: number): string {
  const bytes = Buffer.alloc(bits / 8);
  for (let at = 0; at < Math.min(things, bits); at += 1) {
    const bit = (at * 37) % bits;
    bytes[bit >>> 3] = (bytes[bit >>> 3] as number) | (1 << (bit & 7));
  }
  return bytes.toString('base64');
}

export function windowOf(address: string, lastMs: number, over: Partial<ClientWindow> = {}): ClientWindow {
  const requests = over.requests ?? 8;
  return {
    site: 'shop',
    address,
    first_ms: lastMs - 4000,
    last_ms: lastMs,
    requests,
    blocked: 0,
    flagged: 0,
    limited: 0,
    challenged: 0,
    held: 0,
    ok: requests,
    denied: 0,
    not_found: 0,
    failed: 0,
    server_errors: 0,
    login_failures: 0,
    request_bytes: 0,
    response_bytes: requests * 4000,
    score_max: 0,
    score_sum: 0,
    groups: {},
    rules: {},
    agents: { browser: requests },
    odd_browsers: 0,
    paths: bitmapOf(5, 512),
    sessions: bitmapOf(1, 256),
    user_agents: bitmapOf(1, 64),
    shapes: [1, 2, 3, 4, 5],
    samples: [],
    ...over,
  };
}
