// Hosts that this server knows of by itself: of its sites, of certificates, of servers in specifications, and services
// that were seen to ask each other.
import type { KnownHost } from '#vm-manager';
import { listNewestOfAll } from '../../spec/store.js';
import type { ApisParts } from './parts.js';
import { sendDocuments } from './posture.js';
import { reading } from './reading/reading-thread.js';

/** Documents that are read for their servers: each may take a second. */
const documentsMax = 50;
const hostForm = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

async function ofSpecifications({ database: { sql } }: ApisParts): Promise<KnownHost[]> {
  const found: KnownHost[] = [];
  for (const row of await listNewestOfAll(sql, documentsMax)) {
    const urls = await reading.with(async (ask) => {
      const [there] = await sendDocuments(ask, sql, [row]);
      return there === undefined ? [] : (await ask({ kind: 'servers', sha256: row.sha256 }, 'urls')).urls;
    });
    for (const url of urls) {
      if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) continue;
      // who writes an address with a login or a token into a document does not hand it to everybody who sees hosts
      const { hostname, port, protocol, host, pathname } = new URL(url);
      const bare = `${protocol}//${host}${pathname}`;
      if (!hostForm.test(hostname)) continue;
      found.push({
        ...{ host: hostname, source: 'specification', from: `${row.site} ${row.name}`, url: bare },
        ...{ site: null, port: port === '' ? null : Number(port) },
      });
    }
  }
  return found;
}

export async function knownHosts(parts: ApisParts, max: number): Promise<KnownHost[]> {
  const { sql } = parts.database;
  const { sites } = await parts.currentSettings();
  const none = { port: null, url: null, site: null };
  const ofSites = sites.flatMap(({ name, host }): KnownHost[] =>
    host === null ? [] : [{ ...none, host: host.toLowerCase(), source: 'site', from: name, site: name }],
  );
  const certificates = await sql<{ names: string }[]>`
    select names from certificates where revoked_at is null order by created_at desc limit ${max}`;
  const ofCertificates: KnownHost[] = [];
  for (const { names } of certificates)
    for (const host of names.split(' '))
      if (ofCertificates.length < max)
        ofCertificates.push({ ...none, host, source: 'certificate', from: names.slice(0, 300) });
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
    return [{ ...none, port: port === undefined ? null : Number(port), host, source: 'traffic', from }];
  });
  const all = [ofSites, ofCertificates, ofTraffic, await ofSpecifications(parts)];
  return all.flatMap((some) => some.slice(0, max));
}
