// Single requests through the rules of a version: what serves now, or a version that was only built (a dry run leaves
// its artifact on disk). The proof of a virtual patch is made here. Nothing is sent to a site: an attack that passes
// would reach the application.
import type { ProxyConfig } from '#proxy/contract';
import type { Settings } from '#settings';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { configOf, type ChangeRoadParts } from './node-target.js';
import { replayConfigOf, type ReplayConfig, type ReplaySample } from './replay.js';

/** A request as it is written down; text is sent as UTF-8. */
export interface RequestToTry {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly uri: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface TriedRequest {
  /** null: no site is asked for this host and path. */
  readonly site: string | null;
  readonly isRefused: boolean;
  readonly status: number | null;
  /** The rule that refused it, or would where the site only detects. */
  readonly ruleId: number | null;
  readonly ruleIds: readonly number[];
}

/** What is asked: what serves, or settings with the artifact that a dry run made of them. */
export type TriedRules = 'serving' | { readonly settings: Settings; readonly artifactSha256: string };

export type TrialReport =
  | {
      readonly kind: 'tried';
      readonly artifactSha256: string;
      readonly versionId: number | null;
      readonly generation: number | null;
      /** Nodes by what they say they serve; empty where only a version was asked. */
      readonly nodes: readonly {
        readonly url: string;
        readonly state: 'serves it' | 'serves something else' | 'silent';
      }[];
      readonly requests: readonly TriedRequest[];
    }
  | { readonly kind: 'impossible'; readonly reason: string };

/** `site`: the name of one; null: the one that host and path lead to. */
export type TryRequests = (
  rules: TriedRules,
  requests: readonly RequestToTry[],
  site: string | null,
) => Promise<TrialReport>;

type Site = ProxyConfig['sites'][number];

/** Named hosts before any host, longer prefixes before shorter ones: as the data plane's router chooses. */
function siteOf(sites: readonly Site[], { uri, headers }: RequestToTry): Site | null {
  const host = (headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '').toLowerCase().replace(/:\d+$/, '');
  const path = uri.split(/[?#]/, 1)[0] ?? '/';
  const isBelow = (prefix: string): boolean => {
    const bare = prefix.replace(/\/+$/, '');
    return path === bare || path.startsWith(`${bare}/`);
  };
  const fits = sites.filter((site) => (site.host === null || site.host === host) && isBelow(site.prefix));
  const [first] = fits.sort(
    (left, right) =>
      Number(right.host !== null) - Number(left.host !== null) || right.prefix.length - left.prefix.length,
  );
  // a report made beside the firewall names a host that no site has: any site with this path is as good
  return first ?? sites.find(({ prefix }) => isBelow(prefix)) ?? null;
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function toSample(request: RequestToTry, site: Site, index: number, atMs: number): ReplaySample {
  const headers = request.headers.flatMap(([name, value]) => [latin1(name), latin1(value)]);
  const has = (wanted: string): boolean => request.headers.some(([name]) => name.toLowerCase() === wanted);
  if (!has('host')) headers.push('Host', site.host ?? 'www.example.org');
  const body = request.body === '' ? null : latin1(request.body);
  if (body !== null && !has('content-type')) headers.push('Content-Type', 'application/x-www-form-urlencoded');
  if (body !== null && !has('content-length')) headers.push('Content-Length', String(body.length));
  return {
    requestId: `try-${index}`,
    atMs,
    site: site.name,
    method: request.method,
    uri: latin1(request.uri),
    protocol: 'HTTP/1.1',
    headers,
    body,
    // one address each, so that what is counted for an address does not add up over the requests of a trial
    clientIp: `192.0.2.${1 + (index % 250)}`,
  };
}

interface Subject {
  readonly versionId: number | null;
  readonly sha256: string;
  readonly config: ReplayConfig;
  readonly generation: number | null;
}

async function subjectOf(parts: ChangeRoadParts, rules: TriedRules): Promise<Subject | string> {
  if (rules !== 'serving')
    return {
      versionId: null,
      sha256: rules.artifactSha256,
      config: replayConfigOf(await configOf(parts, rules)),
      generation: null,
    };
  const { sql } = parts.database;
  const state = await readState(sql);
  const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
  if (active === null || active.artifactSha256 === null)
    return 'no settings are active yet: apply them first (POST /api/apply)';
  const { id: versionId, artifactSha256: sha256 } = active;
  const config = replayConfigOf(await configOf(parts, active));
  return { versionId, sha256, config, generation: state.generation };
}

/** Rejects when the compile process dies; what cannot be tried is a report. */
export async function tryRequests(
  parts: ChangeRoadParts,
  rules: TriedRules,
  requests: readonly RequestToTry[],
  site: string | null,
): Promise<TrialReport> {
  const subject = await subjectOf(parts, rules);
  if (typeof subject === 'string') return { kind: 'impossible', reason: subject };
  const { sha256, config } = subject;
  const { sites } = config;
  const named = site === null ? null : sites.find(({ name }) => name === site);
  if (named === undefined) return { kind: 'impossible', reason: `the settings have no site ${site}` };
  const chosen = requests.map((request) => named ?? siteOf(sites, request));
  const samples = requests.flatMap((request, index) => {
    const at = chosen[index];
    return at == null ? [] : [toSample(request, at, index, parts.now())];
  });
  const outcomes = await parts.compiler.tryOut({ sha256, config, samples });
  if (outcomes === null)
    return { kind: 'impossible', reason: 'the artifact of the rules is not on this server any more: apply once' };
  const left = [...outcomes];
  const answers = rules === 'serving' ? await parts.fleet.ask() : new Map<string, never>();
  return {
    kind: 'tried',
    artifactSha256: sha256,
    versionId: subject.versionId,
    generation: subject.generation,
    nodes: [...answers].map(([url, answer]) => ({
      url,
      state:
        answer.kind === 'unreachable'
          ? 'silent'
          : answer.status.ruleset === sha256
            ? 'serves it'
            : 'serves something else',
    })),
    requests: chosen.map((at) => {
      const outcome = at == null ? undefined : left.shift();
      return {
        site: at?.name ?? null,
        isRefused: outcome?.isBlocked ?? false,
        status: outcome?.status ?? null,
        ruleId: outcome?.stoppedBy ?? null,
        ruleIds: outcome?.ruleIds ?? [],
      };
    }),
  };
}
