// The sites of the installation, each with its traffic, upstream health and certificate.
import type { Item, Reply } from '../../client/http.js';

export type SiteView = Item<'GET /api/sites'>;
export type SitesReply = Reply<'GET /api/sites'>;
type Node = Item<'GET /api/nodes'>;
type Certificate = Item<'GET /api/certificates'>;
type Counted = Reply<'GET /api/traffic'>['sites'][number];

export type SiteState = 'on' | 'monitor' | 'off';

export interface UpstreamHealth {
  readonly url: string;
  readonly isUp: boolean;
  /** Of a node, why it is not up. */
  readonly detail: string;
  readonly node: string;
}

export interface SiteRow {
  readonly name: string;
  /** null: any. */
  readonly host: string | null;
  readonly prefix: string;
  readonly upstream: string;
  readonly state: SiteState;
  /** null: not known, more sites are listed than were counted. */
  readonly requests: number | null;
  readonly blocked: number | null;
  /** Empty: they have no health check. null: not known. */
  readonly upstreams: readonly UpstreamHealth[] | null;
  /** null: none. undefined: not known. */
  readonly certificate: Certificate | null | undefined;
  /** null: it is of the environment, not of the settings. */
  readonly view: SiteView | null;
}

export interface SiteFacts {
  readonly sites: SitesReply;
  /** null: not read. */
  readonly nodes: readonly Node[] | null;
  readonly certificates: readonly Certificate[] | null;
  /** `isWhole`: a site that is not in it had no request. */
  readonly traffic: { readonly sites: readonly Counted[]; readonly isWhole: boolean } | null;
}

const stateOf = ({
  protected: isProtected,
  mode,
}: {
  readonly protected: boolean;
  readonly mode: string;
}): SiteState => (!isProtected ? 'off' : mode === 'On' ? 'on' : 'monitor');

/** Of several certificates for a site, the one that serves; among those the one that ends last. */
function certificateOf(name: string, all: readonly Certificate[]): Certificate | null {
  const rank = ({ state, issued }: Certificate): string =>
    `${state === 'serving' ? 2 : state === 'failing' ? 1 : 0} ${issued?.not_after ?? ''}`;
  return (
    all
      .filter(({ sites, state }) => sites.includes(name) && state !== 'revoked')
      .toSorted((left, right) => (rank(left) < rank(right) ? 1 : -1))[0] ?? null
  );
}

/** As the nodes that answer report it; null where none does. */
function healthOf(name: string, nodes: readonly Node[] | null): UpstreamHealth[] | null {
  const answering = (nodes ?? []).filter(({ state }) => state !== 'unreachable');
  if (answering.length === 0) return null;
  return answering.flatMap(({ url: node, upstreams }) =>
    upstreams
      .filter(({ site }) => site === name)
      .map(({ url, state, detail }) => ({ url, isUp: state === 'up', detail, node })),
  );
}

/** In the order of the settings; those of the environment where none is saved. */
export function siteRows({ sites, nodes, certificates, traffic }: SiteFacts): SiteRow[] {
  const countedOf = (name: string): Pick<SiteRow, 'requests' | 'blocked'> => {
    const found = traffic?.sites.find(({ site }) => site === name);
    const none = traffic?.isWhole === true ? 0 : null;
    return { requests: found?.requests ?? none, blocked: found?.blocked ?? none };
  };
  const rowOf = (
    site: Pick<SiteView, 'name' | 'prefix' | 'upstream' | 'protected' | 'mode'>,
    view: SiteView | null,
  ): SiteRow => ({
    name: site.name,
    host: view?.host ?? null,
    prefix: site.prefix,
    upstream: site.upstream,
    state: stateOf(site),
    ...countedOf(site.name),
    upstreams: healthOf(site.name, nodes),
    certificate: certificates === null ? undefined : certificateOf(site.name, certificates),
    view,
  });
  return sites.items.length > 0
    ? sites.items.map((view) => rowOf(view, view))
    : sites.defaults.map((site) => rowOf(site, null));
}
