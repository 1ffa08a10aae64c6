// What gates cost a request that they let through: each alone, and all of them together, in process and without
// sockets. Settings are such that everything is on and nobody is refused; every request comes from one of 5,000
// clients.
import { createHmac } from 'node:crypto';
import { resolveProxyConfig } from '#proxy/contract';
import {
  createGateMemory,
  createGateWorker,
  createRouter,
  createSharedClock,
  gates,
  openGateMemory,
  openGates,
  type GateRequest,
} from '#proxy/gates';
import type { BenchContext } from '../context.js';
import { HarnessProblem } from '../processes.js';
import { createGenerator, parseRequest, type Template } from '../traffic.js';

const clients = 5000;
const many = 10_000_000;
const secret = 'a secret of the benchmark, 32 bytes';
const zone = (name: string, matchPath: string, key: string) => ({
  name,
  match_path: matchPath,
  key,
  events: many,
  window: '1m',
});

/** Everything on. */
const settings = {
  sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true }],
  rl_enabled: true,
  rl_events: many,
  rl_zones: [zone('api', '/api', 'ip'), zone('login', '/login', 'global'), zone('session', '/', 'header:Cookie')],
  endpoint_limits: ['/login', '/search', '/api/orders', '/api/orders/{id}'].map((path) => ({
    path,
    method: '*',
    events: many,
    window: '1m',
  })),
  flood_global_enabled: true,
  flood_global_events: many,
  flood_burst_enabled: true,
  flood_burst_events: many,
  flood_autoban_enabled: true,
  challenge_enabled: true,
  challenge_paths: ['/checkout', '/register'],
  auth_enabled: true,
  auth_protected_paths: ['/api'],
  auth_secret: secret,
};

function token(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: 'ada', iss: 'https://id.example', exp: Math.floor(Date.now() / 1000) + 86_400 };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `Bearer ${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function requestsOf(templates: readonly Template[], count: number): GateRequest[] {
  const generate = createGenerator(templates, Math.random);
  const authorization = token();
  const startedMs = performance.now();
  return Array.from({ length: count }, (_, index) => {
    const { method, uri, protocol, headers } = parseRequest(generate().raw);
    const client = index % clients;
    return {
      head: {
        method,
        uri,
        protocol,
        headers: uri.startsWith('/api') ? [...headers, 'Authorization', authorization] : headers,
        clientIp: `198.18.${client >> 8}.${client & 255}`,
        clientPort: 40_000,
        serverIp: '127.0.0.1',
        serverPort: 8080,
      },
      exchange: { framing: { kind: 'none' }, isTls: false, isUpgrade: false },
      requestId: 'bench',
      atMs: 0,
      startedMs, // one moment for all: they are measured several times, and time does not go back
      give: () => {},
    };
  });
}

const cacheLineBytes = 64;

/**
 * Reads a request as its listener has just done when gates are asked: its texts are in the processor's cache then. Of
 * 50,000 that were made before none is, and the first gate that reads a cookie waited for memory (measured: 0.4 µs of a
 * microsecond's cost, 0.06 where it had been read).
 */
function read({ head }: GateRequest): number {
  let sum = head.uri.charCodeAt(0) + head.clientIp.charCodeAt(0);
  for (const text of head.headers) for (let at = 0; at < text.length; at += cacheLineBytes) sum += text.charCodeAt(at);
  return sum;
}

export function gatesCase({ options, recorder, progress, traffics }: BenchContext): void {
  const { config, problems } = resolveProxyConfig(settings, { customer: '', payment: '' });
  if (config === null) throw new HarnessProblem(JSON.stringify(problems));
  const [site] = createRouter(config).sites;
  const [, mix] = traffics.find(([name]) => name === 'mix') ?? [];
  if (site === undefined || mix === undefined) throw new HarnessProblem('there is no mix to measure gates with');
  const nobody = { contains: () => false };
  const measures = { hasChallenges: false, hasThrottles: false, on: () => 0 };
  const noName = (): Promise<never> => Promise.reject(new Error('no names here'));
  const worker = createGateWorker({
    clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now(), sharedMs: createSharedClock() },
    given: { measures, banSafe: nobody, siteKeys: { current: null } },
    shared: openGateMemory(createGateMemory()),
    names: { reverse: noName, resolve4: noName, resolve6: noName },
    challengeSecret: Buffer.from(secret),
    onBan: () => {},
    onKeysWanted: () => {},
  });
  const requests = requestsOf(mix, options.short ? 50_000 : 200_000);
  const measured = [
    { name: 'none', rows: [] },
    ...gates.map((row) => ({ name: row.name, rows: [row] })),
    { name: 'all', rows: gates },
  ];
  /** Of a request without any gate; what a gate costs is what it adds. */
  let reading = Number.POSITIVE_INFINITY;
  for (const { name, rows } of measured) {
    const { ofProtected } = openGates(worker, rows)(config);
    const run = (): number => {
      const before = process.cpuUsage();
      let refused = 0;
      let sum = 0;
      for (const request of requests) {
        sum += read(request);
        for (const gate of ofProtected) if (gate.decide(request, site) !== null) refused += 1;
      }
      const used = process.cpuUsage(before);
      if (sum === 0) throw new HarnessProblem('the requests hold nothing');
      if (refused > 0) throw new HarnessProblem(`the gates of ${name} decided something of ${refused} requests`);
      return (used.user + used.system) / requests.length;
    };
    run(); // warm-up
    for (let repetition = 0; repetition < options.repetitions; repetition += 1) {
      const cost = run();
      if (name === 'none') reading = Math.min(reading, cost);
      recorder.add(`gates / mix / ${name} / CPU`, 'µs', 'lower', name === 'none' ? cost : Math.max(0, cost - reading));
    }
    progress(`gates: ${name}`);
  }
}
