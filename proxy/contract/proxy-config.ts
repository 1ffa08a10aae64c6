// Settings → the configuration of a data-plane node: the rows that reach it, and what is made of several of them. Pure.
import {
  checkSettings,
  parseWindow,
  siteDefaults,
  sitePoliciesOf,
  toDataPlane,
  type DataPlaneSettings,
  type Problem,
  type Settings,
} from '#settings';
import type { DeclaredGraphql } from '../graphql/endpoints.js';
import type { SchemaPlan } from '../schema/plan.js';
import { dashboardSite } from './site-names.js';

/**
 * What a node runs beside rules. The consumer owns its contract: whoever gives a node something produces exactly this.
 */
export type ProxyConfig = Omit<DataPlaneSettings, 'sites' | 'timeouts'> & {
  readonly timeouts: DataPlaneSettings['timeouts'] & {
    /** Time a client may take nothing of its answer; absent: clientIdleMs. */
    readonly clientWriteMs?: number;
  };
  readonly sites: readonly SiteConfig[];
  /** CIDRs of proxies in front whose X-Forwarded-For is believed; from others it is replaced. */
  readonly trustedProxies: readonly string[];
  /** The settings name no sites, so these are the two of the process environment (UPSTREAM_*). Absent: they do. */
  readonly sitesFromEnvironment?: boolean;
  /** What is enforced of specifications of APIs; absent: nothing. */
  readonly apiSchemas?: readonly SchemaPlan[];
  /** Endpoints of GraphQL that specifications declare; absent: none. */
  readonly graphqlDeclared?: readonly DeclaredGraphql[];
};

type SentSite = DataPlaneSettings['sites'][number];

/** What of a site is in the artifact, under the key of its policy. */
const inArtifact = [
  'paranoiaLevel',
  'inboundThreshold',
  'outboundThreshold',
  'earlyBlocking',
  'categories',
  'allowedMethods',
  'allowedContentTypes',
  'restrictedHeaders',
  'restrictedExtensions',
  'responseBodyLimitBytes',
  'responseBodyTypes',
] as const satisfies readonly (keyof SentSite)[];

export type SiteConfig = Omit<SentSite, (typeof inArtifact)[number]> & {
  /** Which rules of the artifact it has; null or absent: those of the installation (#settings sitePoliciesOf). */
  readonly policy?: string | null;
};

function toSiteConfig(site: SentSite, policy: string | null): SiteConfig {
  const kept = Object.entries(site).filter(([name]) => !(inArtifact as readonly string[]).includes(name));
  return {
    ...(Object.fromEntries(kept) as unknown as SiteConfig),
    host: site.host?.toLowerCase() ?? null,
    upstream: site.upstream === '' ? (site.upstreams[0]?.url ?? '') : site.upstream,
    policy,
  };
}

/** Where the sites of settings without sites lead. */
export interface UpstreamDefaults {
  readonly customer: string;
  readonly payment: string;
  /** The console under a name of its own (DASHBOARD_DOMAIN); null or absent: it has none. */
  readonly dashboard?: { readonly host: string; readonly upstream: string } | null;
}

/** UPSTREAM_CUSTOMER and UPSTREAM_PAYMENT, or the bundled demo applications. */
export function upstreamDefaults(env: Readonly<Record<string, string | undefined>>): UpstreamDefaults {
  const given = (value: string | undefined, fallback: string): string =>
    value === undefined || value === '' ? fallback : value;
  return {
    customer: given(env['UPSTREAM_CUSTOMER'], 'http://127.0.0.1:8000'),
    payment: given(env['UPSTREAM_PAYMENT'], 'http://127.0.0.1:8000/payment'),
    ...dashboardOf(env),
  };
}

function dashboardOf(env: Readonly<Record<string, string | undefined>>): Pick<UpstreamDefaults, 'dashboard'> {
  const host = env['DASHBOARD_DOMAIN']?.trim().toLowerCase() ?? '';
  if (host === '') return {};
  const given = env['DASHBOARD_UPSTREAM'] ?? '';
  return { dashboard: { host, upstream: given === '' ? `http://127.0.0.1:${env['UI_PORT'] || '3010'}` : given } };
}

/** `settings` are complete; what cannot be in them was found by `findImpossible`. */
export function toProxyConfig(settings: Settings, upstreams: UpstreamDefaults): ProxyConfig {
  const sent = toDataPlane(settings);
  const { ofSite } = sitePoliciesOf(settings);
  const common = {
    ...sent,
    sites: withOpinion(
      sent.sites.map((site) => toSiteConfig(site, ofSite.get(site.name) ?? null)),
      sent,
    ),
    timeouts: { ...sent.timeouts, ...floodTimeouts(settings) },
    trustedProxies: settings.rl_trust_proxy ? settings.rl_trusted_proxies : [],
  };
  const dashboard = withOpinion(dashboardSites(upstreams, common.sites), sent);
  if (common.sites.length > 0) return { ...common, sites: [...common.sites, ...dashboard] };
  return {
    ...common,
    sites: [...withOpinion(environmentSites(upstreams), sent), ...dashboard],
    sitesFromEnvironment: true,
  };
}

/** Each site with what it wants of the second opinion, so that a replay needs no more than the sites. */
function withOpinion(
  sites: readonly SiteConfig[],
  { secondOpinion }: Pick<DataPlaneSettings, 'secondOpinion'>,
): readonly SiteConfig[] {
  return sites.map((site) => ({ ...site, secondOpinion: site.secondOpinion ?? secondOpinion }));
}

/** While they are on, they count instead of the waiting times for clients. */
function floodTimeouts(settings: Settings): Partial<ProxyConfig['timeouts']> {
  if (!settings.flood_timeouts_enabled) return {};
  const milliseconds = (window: string): number => (parseWindow(window) ?? 0) * 1000;
  return {
    clientHeadMs: milliseconds(settings.flood_read_header),
    clientBodyIdleMs: milliseconds(settings.flood_read_body),
    clientIdleMs: milliseconds(settings.flood_idle),
    clientWriteMs: milliseconds(settings.flood_write),
  };
}

export interface ResolvedConfig {
  /** null when there are problems. */
  readonly config: ProxyConfig | null;
  readonly problems: readonly Problem[];
}

/** The same for settings of any shape. Never throws on what a person wrote. */
export function resolveProxyConfig(candidate: unknown, upstreams: UpstreamDefaults): ResolvedConfig {
  const checked = checkSettings(candidate);
  if (checked.kind === 'refused') return { config: null, problems: checked.problems };
  return { config: toProxyConfig(checked.settings, upstreams), problems: [] };
}

/**
 * A stored configuration under the environment of today: sites that came from the environment follow it, those of the
 * settings stay.
 */
export function followEnvironment(config: ProxyConfig, upstreams: UpstreamDefaults): ProxyConfig {
  const own = config.sites.filter(({ name }) => name !== dashboardSite);
  const sites = config.sitesFromEnvironment === true ? withOpinion(environmentSites(upstreams), config) : own;
  return { ...config, sites: [...sites, ...withOpinion(dashboardSites(upstreams, sites), config)] };
}

/** What a site is where nobody says anything of it. */
export const usualSite = {
  host: null,
  protected: true,
  failMode: 'closed',
  mode: null,
  hostPolicy: 'preserve',
  verifyUpstreamCertificate: true,
  stripPrefix: null,
  requestBodyLimitBytes: null,
  secondOpinion: null,
  policy: null,
  ...siteDefaults(),
} as const satisfies Partial<SiteConfig>;

function environmentSites(upstreams: UpstreamDefaults): SiteConfig[] {
  return [
    { ...usualSite, name: 'customer', prefix: '/', upstream: upstreams.customer },
    { ...usualSite, name: 'payment', prefix: '/payment', upstream: upstreams.payment },
  ];
}

/**
 * The console under a name of its own. No rules look at it, because people write rules and payloads there; who comes is
 * judged by its login. A site of the settings with that host has its way.
 */
function dashboardSites({ dashboard }: UpstreamDefaults, sites: readonly Pick<SiteConfig, 'host'>[]): SiteConfig[] {
  if (dashboard == null || sites.some(({ host }) => host === dashboard.host)) return [];
  const { host, upstream } = dashboard;
  return [{ ...usualSite, name: dashboardSite, prefix: '/', host, upstream, protected: false }];
}

/** The threshold at which one critical rule blocks; every one of the self-test's attacks matches at least one. */
const selfTestThresholdMax = 5;

/**
 * A node refuses rules that do not see an SQL injection. Somebody who switches that category off, or raises the
 * threshold above what one rule scores, means it.
 */
export function chooseSelfTest({
  categories: { sqli },
  inbound_threshold,
}: Pick<Settings, 'categories' | 'inbound_threshold'>): 'inspect' | 'skip' {
  const expectsBlocks = sqli.enabled && sqli.path_exclusions.length === 0 && inbound_threshold <= selfTestThresholdMax;
  return expectsBlocks ? 'inspect' : 'skip';
}
