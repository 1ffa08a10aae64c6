// Which site a request belongs to: by host, then by the longest prefix, whole segments, on the path as an upstream
// would read it. What could be read in two ways is never given the benefit of an unprotected site.
import { URL } from 'node:url';
import { strictPolicy } from '#settings/words';
import { readingsOf, type OpinionMode } from '#engine';
import type { FailMode, Mode, ProxyConfig, SiteConfig } from '../contract/index.js';
import { pathAtUpstream } from '../contract/site-names.js';
import { covers, keyOf, normalisePath, pathKeys, pathOf } from '../http/path-readings.js';

export interface Site {
  readonly name: string;
  readonly prefix: string; // '' for the root, else '/a/b' without a slash at the end
  readonly caselessPrefix: string;
  readonly host: string | null;
  readonly isProtected: boolean;
  readonly mode: Mode;
  /** What the engine's mode becomes for this site, unless the rules turned it off; null = as the rules say. */
  readonly engineMode: Mode | null;
  /** Which rules of the artifact it has; null = those of the installation. */
  readonly policy: string | null;
  /** What it wants of the second opinion; null: nothing. */
  readonly secondOpinion: OpinionMode | null;
  readonly failMode: FailMode;
  /** Larger request bodies are refused; null = the installation's limit. */
  readonly requestBodyBytesMax: number | null;
  /** Where it leads; the first is the one that `upstream` names. */
  readonly upstreams: readonly [SiteUpstream, ...SiteUpstream[]];
  readonly healthCheck: SiteConfig['healthCheck'];
  readonly upstreamAuthority: string; // for Host
  /** What stands before the rest of the path at the upstream, without a slash at its end; null = nothing changes. */
  readonly basePath: string | null;
  /** The base path takes the place of the prefix; else it stands before the whole path. */
  readonly stripsPrefix: boolean;
  readonly preservesHost: boolean;
}

export interface SiteUpstream {
  /** As the settings have it. */
  readonly url: string;
  readonly weight: number;
  readonly origin: string; // key of the connection pool
  readonly tls: boolean;
  readonly host: string; // to connect to
  readonly port: number;
  readonly authority: string; // for Host
  readonly verifyCertificate: boolean;
}

export interface Routed {
  readonly site: Site;
  /** The request target the upstream gets. */
  readonly target: string;
  /**
   * The path had dots, doubled slashes or encodings that change its meaning, or is another site's for servers that
   * ignore case.
   */
  readonly isAmbiguous: boolean;
}

export interface Router {
  readonly sites: readonly Site[];
  readonly hasProtected: boolean;
  match(host: string, uri: string): Routed | null;
}

function compileUpstream(text: string, weight: number, verifyCertificate: boolean): SiteUpstream {
  const url = new URL(text);
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const origin = `${url.protocol}//${host}:${port}${verifyCertificate ? '' : '#unverified'}`;
  return { url: text, weight, origin, tls, host, port, authority: url.host, verifyCertificate };
}

const opinionModeOf = (setting: ProxyConfig['secondOpinion'] | undefined): OpinionMode | null =>
  setting === 'monitor' || setting === 'enforce' ? setting : null;

function compileSite(site: SiteConfig, config: ProxyConfig): Site {
  const url = new URL(site.upstream);
  const listed = site.upstreams.length === 0 ? [{ url: site.upstream, weight: 1 }] : site.upstreams;
  const upstreams = listed.map((one) => compileUpstream(one.url, one.weight, site.verifyUpstreamCertificate));
  return {
    name: site.name,
    prefix: site.prefix.replace(/\/+$/, ''),
    caselessPrefix: keyOf(Buffer.from(site.prefix.replace(/\/+$/, ''), 'utf8').toString('latin1')),
    host: site.host === null ? null : site.host.toLowerCase(),
    isProtected: site.protected,
    mode: site.mode ?? config.mode,
    // Rules in DetectionOnly stay so unless this very site says On; DetectionOnly from either side withholds.
    engineMode: site.mode ?? (config.mode === 'DetectionOnly' ? 'DetectionOnly' : null),
    policy: site.policy ?? null,
    secondOpinion: opinionModeOf(site.secondOpinion ?? config.secondOpinion),
    failMode: site.failMode,
    requestBodyBytesMax: site.requestBodyLimitBytes ?? null,
    upstreams: upstreams as [SiteUpstream, ...SiteUpstream[]],
    healthCheck: site.healthCheck,
    upstreamAuthority: url.host,
    ...pathAtUpstream(site.upstream, site.stripPrefix ?? null),
    preservesHost: site.hostPolicy === 'preserve',
  };
}

export function createRouter(config: ProxyConfig): Router {
  const sites = config.sites.map((site) => compileSite(site, config));
  // Named hosts before "any", longer prefixes before shorter: the first that fits is the right one.
  const ordered = [...sites].sort(
    (a, b) => Number(b.host !== null) - Number(a.host !== null) || b.prefix.length - a.prefix.length,
  );
  const only = ordered.length === 1 ? (ordered[0] as Site) : null;
  // Where all sites are alike, it does not matter whose rules a path in several readings gets.
  const isUniform = sites.every(
    (site) =>
      site.mode === sites[0]?.mode &&
      site.engineMode === sites[0]?.engineMode &&
      site.policy === sites[0]?.policy &&
      site.secondOpinion === sites[0]?.secondOpinion &&
      site.failMode === sites[0]?.failMode,
  );
  const isCatchAll =
    only !== null &&
    only.host === null &&
    only.prefix === '' &&
    (only.basePath === null || only.basePath === '') &&
    only.isProtected;
  return {
    sites,
    hasProtected: sites.some((site) => site.isProtected),
    match(host, uri) {
      const path = pathOf(uri);
      if (isCatchAll && only !== null && uri.charCodeAt(0) === 0x2f)
        return { site: only, target: uri, isAmbiguous: false };
      const normal = normalisePath(path);
      const name = bareHost(host);
      const site = siteFor(ordered, name, normal);
      const target = site === null ? null : targetFor(site, uri, path);
      if (site === null || target === null) return null;
      const others = site.isProtected && isUniform ? [] : sitesOfReadings(ordered, name, path, normal);
      const isAmbiguous = normal !== path || others.some((other) => other !== site);
      return { site: isAmbiguous && !isUniform ? asStrictAs(site, others) : site, target, isAmbiguous };
    },
  };
}

function siteFor(ordered: readonly Site[], name: string, path: string): Site | null {
  for (const site of ordered)
    if ((site.host === null || site.host === name) && coversPath(site.prefix, path)) return site;
  return null;
}

/** Many frameworks and file systems take /API for /api, and serve /api.json by its handler. */
function caselessSiteFor(ordered: readonly Site[], name: string, key: string): Site | null {
  for (const site of ordered)
    if ((site.host === null || site.host === name) && covers(site.caselessPrefix, key)) return site;
  return null;
}

/** The sites that other servers may take the path for; one that can mean anything is every site's. */
function sitesOfReadings(
  ordered: readonly Site[],
  name: string,
  path: string,
  normal: string,
): readonly (Site | null)[] {
  const keys = pathKeys(path);
  if (keys === null) return ordered.filter((site) => site.host === null || site.host === name);
  return [siteFor(ordered, name, normal), ...keys.map((key) => caselessSiteFor(ordered, name, key))];
}

/** A path that another server may read as another site's gets that site's rules, where those are stricter. */
function asStrictAs(site: Site, others: readonly (Site | null)[]): Site {
  let strict = site;
  for (const other of others) {
    if (other === null || !other.isProtected) continue;
    if (strict.mode === 'DetectionOnly' && other.mode === 'On')
      strict = { ...strict, mode: other.mode, engineMode: other.engineMode };
    if (strict.policy !== other.policy) strict = { ...strict, policy: strictPolicy };
    // What one of them does not want overruled is not overruled.
    if (strict.secondOpinion !== other.secondOpinion) strict = { ...strict, secondOpinion: null };
    if (strict.failMode === 'open' && other.failMode === 'closed') strict = { ...strict, failMode: 'closed' };
  }
  return strict;
}

function coversPath(prefix: string, path: string): boolean {
  if (prefix === '') return true;
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f);
}

/** Host without port, lower case, without the dot of a fully qualified name. */
function bareHost(host: string): string {
  let end = host.length;
  if (host.startsWith('[')) end = host.indexOf(']') + 1;
  else {
    const colon = host.indexOf(':');
    if (colon !== -1) end = colon;
  }
  if (host.charCodeAt(end - 1) === 0x2e) end -= 1;
  return host.slice(0, end).toLowerCase();
}

const aBase = '/base';

/** Whether some server resolves the rest of a path to something above what stands before it. */
function climbs(rest: string): boolean {
  if (!/\.\.|%|[\x80-\xff]/.test(rest)) return false;
  return readingsOf(aBase + rest)?.some((reading) => !reading.startsWith(aBase)) ?? false;
}

/**
 * Null when the path would have to be rewritten and does not literally begin with the prefix, or leads out of the base
 * path: what is there is no part of the site, or is it under another name.
 */
function targetFor(site: Site, uri: string, path: string): string | null {
  if (uri === '*') return uri;
  const queryAt = uri.indexOf('?');
  const query = queryAt === -1 ? '' : uri.slice(queryAt);
  if (site.basePath === null) return uri.charCodeAt(0) === 0x2f ? uri : path + query;
  if (site.stripsPrefix && !coversPath(site.prefix, path)) return null;
  const rest = site.stripsPrefix ? path.slice(site.prefix.length) : path;
  const isSame = site.prefix === '' && site.basePath === '';
  if (!isSame && climbs(rest)) return null;
  const target = site.basePath + rest;
  return (target === '' || target.charCodeAt(0) !== 0x2f ? `/${target}` : target) + query;
}
