// What a data-plane node says of itself: `GET :2019/status`, as far as the control plane reads it.

/** One of several upstreams of a site, or one that is checked. */
export interface NodeUpstream {
  readonly site: string;
  readonly url: string;
  readonly weight: number;
  readonly state: 'up' | 'down' | 'ejected';
  readonly detail: string;
  readonly workers_up: number;
}

/** Beside what it serves; what a node of an earlier release does not say is null. */
export interface NodeFacts {
  readonly release: string | null;
  /** It asks load balancers to send traffic elsewhere. */
  readonly draining: boolean;
  /** Requests of the last minute. */
  readonly rpm: number | null;
  /** Processes that want a core, as a share of the cores of its machine. */
  readonly cpu: number | null;
}

export interface NodeStatus {
  readonly generation: number;
  /** SHA-256 of the artifact it serves; '' without one. */
  readonly ruleset: string;
  readonly workers: number;
  /** It answers 503 for what is protected, until rules are sent to it. */
  readonly isClosed?: boolean;
  /** SHA-256 of its list of client measures; absent: it is of a release before them, or does not say. */
  readonly measures?: string;
  /** SHA-256 of its deny list; absent: it does not say. */
  readonly threats?: string;
  /** Absent: it does not say. */
  readonly upstreams?: readonly NodeUpstream[];
  /** Absent: it does not say. */
  readonly facts?: NodeFacts;
}

export type StatusAnswer =
  | { readonly kind: 'answered'; readonly status: NodeStatus }
  | { readonly kind: 'unreachable'; readonly detail: string };

/** What `GET :2019/status` says; of something that is no node, why it is none. */
export function statusOf(body: Readonly<Record<string, unknown>>): StatusAnswer {
  const { generation, ruleset, workers, sites, closed } = body;
  if (typeof generation !== 'number' || typeof ruleset !== 'string')
    return { kind: 'unreachable', detail: 'what answers there is not a data-plane node' };
  const digest = (name: 'measures' | 'threats'): string | undefined => {
    const { sha256 } = (body[name] ?? {}) as { readonly sha256?: unknown };
    return typeof sha256 === 'string' ? sha256 : undefined;
  };
  const [measures, threats] = [digest('measures'), digest('threats')];
  return {
    kind: 'answered',
    status: {
      generation,
      ruleset,
      workers: Array.isArray(workers) ? workers.length : 0,
      ...(typeof closed === 'string' ? { isClosed: true } : {}),
      ...(measures === undefined ? {} : { measures }),
      ...(threats === undefined ? {} : { threats }),
      upstreams: upstreamsOf(sites),
      facts: factsOf(body),
    },
  };
}

function factsOf({ release, draining, load }: Readonly<Record<string, unknown>>): NodeFacts {
  const { rpm, cpu } = (load ?? {}) as Readonly<Record<string, unknown>>;
  return {
    release: typeof release === 'string' ? release.slice(0, 64) : null,
    draining: draining === true,
    rpm: typeof rpm === 'number' && Number.isFinite(rpm) ? Math.round(rpm) : null,
    cpu: typeof cpu === 'number' && Number.isFinite(cpu) ? cpu : null,
  };
}

/** Of the sites in a node's status; what has another form is left out. */
function upstreamsOf(sites: unknown): NodeUpstream[] {
  if (!Array.isArray(sites)) return [];
  return sites.flatMap((site: { name?: unknown; upstreams?: unknown } | null) => {
    if (site === null || !Array.isArray(site.upstreams)) return [];
    return site.upstreams.map((one: Readonly<Record<string, unknown>>): NodeUpstream => {
      const { state } = one;
      return {
        site: String(site.name),
        url: String(one['url']),
        weight: Number(one['weight']) || 1,
        state: state === 'down' || state === 'ejected' ? state : 'up',
        detail: String(one['detail']).slice(0, 500),
        workers_up: Number(one['workersUp']) || 0,
      };
    });
  });
}
