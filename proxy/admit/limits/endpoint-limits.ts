// Tight limits on expensive endpoints, counted by client: all requests of a template together, so that `/orders/1` and
// `/orders/2` are one endpoint of `/orders/{id}`.
//
// A template is compared segment by segment: `{anything}` is one segment, a `*` at the end any rest, everything else is
// compared without case. A slash at the end does not matter. HEAD counts where GET does. A path that servers may read
// in several ways takes a place wherever one of the readings belongs. One that has too many readings to tell takes one
// in every endpoint of its method: the tightest decides, and nobody gets around a limit by writing a path oddly.
// One that asks for another method as well (`X-HTTP-Method-Override`) takes a place for both.
import { parseWindow } from '#settings/words';
import type { ProxyConfig } from '../../contract/index.js';
import { compileAutoBan, type AutoBan } from '../bans/auto-ban.js';
import type { Decision } from '../decision.js';
import type { Gate, GateContext, GateRequest } from '../gate.js';
import { prefixOf } from '../reading.js';
import { overridingMethods } from './method-override.js';
import { addWait, allOf, ask, compileLimit, limitBound, type Limit } from './limit.js';

interface Endpoint {
  /** '*' = every one. */
  readonly method: string;
  readonly limit: Limit;
}

/** Templates as a tree of segments. */
interface Branch {
  readonly named: Map<string, Branch>;
  longestName: number;
  any: Branch | null;
  readonly here: Endpoint[];
  readonly below: Endpoint[];
}

interface Endpoints {
  readonly root: Branch;
  readonly all: readonly Endpoint[];
  readonly autoBan: AutoBan | null;
}

const newBranch = (): Branch => ({ named: new Map(), longestName: 0, any: null, here: [], below: [] });

const isPlaceholder = (segment: string): boolean => /^\{[^{}/]*\}$/.test(segment);

function branchFor(branch: Branch, segment: string): Branch {
  if (isPlaceholder(segment)) return (branch.any ??= newBranch());
  let next = branch.named.get(segment);
  if (next === undefined) branch.named.set(segment, (next = newBranch()));
  branch.longestName = Math.max(branch.longestName, segment.length);
  return next;
}

/** Segments of a path of `prefixOf` or a reading: none for the root. */
function segmentsOf(path: string): string[] {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return end <= 1 ? [] : path.slice(1, end).split('/');
}

type EndpointLimit = ProxyConfig['endpointLimits'][number];

function plant(
  root: Branch,
  { path, method, events, window, dryRun, headers }: EndpointLimit,
  isShared: boolean,
): void {
  const limit = compileLimit({
    kind: 'endpoint',
    name: `${method} ${path}`,
    events,
    windowSeconds: parseWindow(window) ?? 60,
    isDryRun: dryRun,
    isShared,
    isTold: headers,
  });
  const segments = segmentsOf(prefixOf(path));
  const isOpen = segments.at(-1) === '*';
  let branch = root;
  for (const segment of isOpen ? segments.slice(0, -1) : segments) branch = branchFor(branch, segment);
  (isOpen ? branch.below : branch.here).push({ method, limit });
}

/** Those of all templates. */
function endpointsOf({ named, any, here, below }: Branch): Endpoint[] {
  const further = [...named.values(), ...(any === null ? [] : [any])];
  return [...here, ...below, ...further.flatMap(endpointsOf)];
}

/** Adds the endpoints of every template that the rest of the path from `from` on fits; `from` is behind a slash. */
function walk(branch: Branch, path: string, from: number, method: string, found: Endpoint[]): void {
  if (branch.below.length > 0) addMeant(branch.below, method, found);
  if (from >= path.length) {
    addMeant(branch.here, method, found);
    return;
  }
  if (branch.named.size === 0 && branch.any === null) return;
  const slash = path.indexOf('/', from);
  const end = slash < 0 ? path.length : slash;
  const named = branch.named.get(path.slice(from, end));
  if (named !== undefined) walk(named, path, end + 1, method, found);
  // `/orders.json` is served by the handler of `/orders`
  for (let dot = path.indexOf('.', from + 1); dot !== -1 && dot < end; dot = path.indexOf('.', dot + 1)) {
    if (dot - from > branch.longestName) break;
    const unsuffixed = branch.named.get(path.slice(from, dot));
    if (unsuffixed !== undefined) walk(unsuffixed, path, end + 1, method, found);
  }
  if (branch.any !== null && end > from) walk(branch.any, path, end + 1, method, found);
}

/** Those for this method that are not found yet. */
function addMeant(endpoints: readonly Endpoint[], method: string, found: Endpoint[]): void {
  for (const endpoint of endpoints) {
    const isGet = method === 'HEAD' && endpoint.method === 'GET';
    if ((isGet || endpoint.method === '*' || endpoint.method === method) && !found.includes(endpoint))
      found.push(endpoint);
  }
}

/** What one request is asked; kept, so that nothing is allocated where nothing is found. */
interface Scratch {
  readonly asked: Endpoint[];
}

function findMeant(
  readings: readonly string[] | null,
  method: string,
  { root, all }: Endpoints,
  found: Endpoint[],
): void {
  if (readings === null) addMeant(all, method, found);
  else for (const path of readings) walk(root, path, 1, method, found);
}

function meantBy({ head, site }: GateRequest, worker: GateContext<Endpoints, Scratch>): readonly Endpoint[] {
  const { asked } = worker.state;
  asked.length = 0;
  const readings = worker.paths.readings(head.uri, site);
  // frameworks write methods in capitals before they compare them
  findMeant(readings, head.method.toUpperCase(), worker.compiled, asked);
  for (const method of overridingMethods(head.uri, head.headers)) findMeant(readings, method, worker.compiled, asked);
  return asked;
}

export const endpointLimits: Gate<Endpoints, Scratch> = {
  name: 'endpoint-limits',
  appliesTo: 'protected',
  bound: limitBound,
  createState: () => ({ asked: [] }),
  compile: (config) => {
    if (!config.rlEnabled || config.endpointLimits.length === 0) return null;
    const root = newBranch();
    for (const endpoint of config.endpointLimits) plant(root, endpoint, config.rlDistributed);
    return { root, all: endpointsOf(root), autoBan: compileAutoBan(config) };
  },
  wait: (request, worker) => {
    const places: Promise<void>[] = [];
    for (const { limit } of meantBy(request, worker)) {
      worker.client.read(request.head.clientIp);
      addWait(limit, worker.client, request, worker, places);
    }
    return allOf(places);
  },
  decide: (request, site, worker) => {
    const { autoBan } = worker.compiled;
    const { head } = request;
    const asked = meantBy(request, worker);
    let recorded: Decision | null = null;
    for (const { limit } of asked) {
      worker.client.read(head.clientIp);
      const decision = ask(limit, worker.client, request, site, worker, autoBan);
      if (decision === null) continue;
      if (decision.kind !== 'throttle' || !decision.isDryRun) return decision;
      recorded ??= decision;
    }
    return recorded;
  },
};
