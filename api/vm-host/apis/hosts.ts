// Hosts that this server knows of by itself: of its sites, of certificates, of servers in specifications, and services
// that were seen to ask each other.
import type { KnownHost } from '#vm-manager';
import { listNewestOfAll } from '../../spec/store.js';
import type { ApisParts } from './index.js';
import { sendDocuments } from './posture.js';
import { reading } from './reading/reading-thread.js';

/** Documents that are read for their servers: each may take a second. */
const documentsMax = 50;
const hostForm = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

type Sites = readonly { readonly name: string; readonly host: string | null }[];

/** The site that answers for the host by its name; one for any host is none that protects it knowingly. */
const siteOf = (sites: Sites, host: string): string | null =>
  sites.find((one) => {
    const own = one.host?.toLowerCase() ?? '';
    return own === host || (own.startsWith('*.') && host.endsWith(own.slice(1)));
  })?.name ?? null;

async function ofSpecifications({ database: { sql } }: ApisParts, sites: Sites): Promise<KnownHost[]> {
  const found: KnownHost[] = [];
  for (const row of await listNewestOfAll(sql, documentsMax)) {
    const urls = await reading.with(async (ask) => {
      const [there] = await sendDocuments(ask, sql, [row]);
      return there === undefined ? [] : (await ask({ kind: 'servers', sha256: row.sha256 }, 'urls')).urls;
    });
    for (const url of urls) {
      if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) continue;
      const { hostname, port, href } = new URL(url);
      if (!hostForm.test(hostname)) continue;
      found.push({
        ...{ host: hostname, source: 'specification', from: `${row.site} ${row.name}`, url: href },
        ...{ site: siteOf(sites, hostname), port: port === '' ? null : Number(port) },
      });
    }
  }
  return found;
}

export async function knownHosts(parts: ApisParts, max: number): Promise<KnownHost[]> {
  const { sql } = parts.database;
  const { sites } = await parts.currentSettings();
  const none = { port: null, url: null };
  const ofSites = sites.flatMap(({ name, host }): KnownHost[] =>
    host === null ? [] : [{ ...none, host: host.toLowerCase(), source: 'site', from: name, site: name }],
  );
  const certificates = await sql<{ names: string }[]>`
    select names from certificates where revoked_at is null order by created_at desc limit ${max}`;
  const ofCertificates = certificates.flatMap(({ names }) =>
    names.split(' ').map(
      (host): KnownHost => ({
        ...none,
        host,
        source: 'certificate',
        from: names.slice(0, 300),
        site: siteOf(sites, host),
      }),
    ),
  );
  const hops = await sql<{ callee: string; caller: string }[]>`
    select callee, min(caller) as caller from api_hops group by callee order by callee limit ${max}`;
  const names = new Set(sites.map(({ name }) => name));
  const seen = await sql<{ site: string }[]>`select site from api_sites order by site limit ${max}`;
  const ofTraffic = [
    ...seen.map(({ site }) => ({ name: site, from: 'requests' })),
    ...hops.map(({ callee, caller }) => ({ name: callee, from: `requests of ${caller}` })),
  ].flatMap(({ name, from }): KnownHost[] => {
    const host = name.toLowerCase().replace(/:\d+$/, '');
    const port = /:(\d+)$/.exec(name)?.[1];
    // a site of the settings has its host there; records of others name hosts
    if (names.has(name) || !host.includes('.') || !hostForm.test(host)) return [];
    const at = { url: null, port: port === undefined ? null : Number(port) };
    return [{ ...at, host, source: 'traffic', from, site: siteOf(sites, host) }];
  });
  const all = [ofSites, ofCertificates, ofTraffic, await ofSpecifications(parts, sites)];
  return all.flatMap((some) => some.slice(0, max));
}
