// Bots, as people see them: which crawlers came and whether they are who they say, and asking on demand.
import { isIP } from 'node:net';
import { Type } from '@sinclair/typebox';
import {
  claimedCrawler,
  crawlers,
  isSameAddress,
  networkWith,
  proveCrawler,
  systemNames,
  type CrawlerProof,
} from '#proxy/contract';
import type { Settings } from '#settings';
import type { Queryable } from '../db/client.js';
import { ApiError, closed, Nullable, refusals, Time, type App } from '../http-kit/index.js';
import { dueAtMs } from './crawler-lists/job.js';
import { isOf, listCrawlerLists, type CrawlerListRow } from './crawler-lists/store.js';
import {
  recentAgents,
  recentFingerprints,
  recentMs,
  recentRequestsMax,
  type RecentAgent,
  type RecentCount,
} from './recent-clients.js';
import type { EdgeParts } from './routes.js';

const tags = ['edge'];
const Verdict = Type.Unsafe<'verified' | 'impostor' | 'unverified'>({
  type: 'string',
  enum: ['verified', 'impostor', 'unverified'],
});

const Recent = {
  requests: Type.Integer(),
  blocked: Type.Integer({ description: 'that were refused' }),
  bytes: Type.Number({ description: 'of answers' }),
  last_at: Time,
};

const listSchema = {
  tags,
  summary: 'Crawlers that came since the nodes began, and whether they are who they say; TLS clients of late',
  response: {
    200: Type.Object({
      action: Type.String(),
      score_threshold: Type.Integer({ description: 'points of tx.apb_score from which a client is a bot' }),
      allow_verified: Type.Boolean(),
      verify_rdns: Type.Boolean(),
      recent_seconds: Type.Integer({ description: 'how far back "recent" looks, at the newest requests of the log' }),
      recent_requests_max: Type.Integer({ description: 'how many of them' }),
      fingerprints: Type.Array(
        Type.Object({
          ja3: Type.String(),
          ja4: Type.String(),
          listed: Type.Boolean({ description: 'whether bot_ja3_blocklist refuses it' }),
          ...Recent,
          clients: Type.Integer({ description: 'addresses that had it' }),
          user_agents: Type.Integer({ description: 'that it called itself; a browser has one' }),
          user_agent: Type.String({ description: 'the last of them' }),
        }),
        { description: 'TLS clients of recent requests, the most frequent first' },
      ),
      crawlers: Type.Array(
        Type.Object({
          crawler: Type.String(),
          kind: Type.String({ description: 'search, preview, ads, ai-training, ai-search or ai-assistant' }),
          requests: Type.Integer({ description: 'since the nodes began, by any client' }),
          verified: Type.Integer(),
          impostor: Type.Integer(),
          unverified: Type.Integer({ description: 'unknown, or it is being looked up' }),
          ranges: Type.Integer({ description: 'networks of it, of the settings and of lists; 0 = it has no list' }),
          recent: Nullable(Type.Object(Recent, { description: 'null: it was not seen lately' })),
        }),
      ),
      lists: Type.Array(
        Type.Object({
          crawler: Type.String(),
          host: Type.String({ description: 'where it comes from, without the path' }),
          state: Type.String({ description: 'waiting: not fetched yet; ok; failed: the copy of before is in force' }),
          networks: Type.Integer({ description: 'of the last good copy' }),
          attempted_at: Nullable(Time),
          succeeded_at: Nullable(Time),
          next_at: Nullable(Time),
          last_error: Nullable(Type.String()),
        }),
        { description: 'those of bot_crawler_range_urls' },
      ),
    }),
    ...refusals,
  },
};
const verifySchema = {
  tags,
  summary:
    'Is the client at this address the crawler that it claims to be? By the published lists, and else by ' +
    'forward-confirmed reverse DNS, now',
  body: Type.Object(
    {
      ip: Type.String({ maxLength: 64 }),
      crawler: Type.Optional(Type.String({ maxLength: 64, description: 'a name of GET /api/bots' })),
      user_agent: Type.Optional(Type.String({ maxLength: 1000, description: 'what it says of itself, instead' })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      ip: Type.String(),
      crawler: Type.String(),
      verdict: Verdict,
      decided_by: Type.Unsafe<'ranges' | 'dns'>({
        type: 'string',
        enum: ['ranges', 'dns'],
        description: 'ranges: bot_crawler_ranges, or a list of bot_crawler_range_urls; dns: names of the address',
      }),
      network: Nullable(Type.String({ description: 'of the list that the address is in' })),
      names: Type.Array(Type.String({ description: 'of the address; not asked for where ranges prove it' })),
      detail: Type.String(),
    }),
    ...refusals,
  },
};

type Listed = Settings['bot_crawler_ranges'];

/** Of one crawler: what the settings have, with what was fetched. */
function networksOf(name: string, listed: Listed, lists: readonly CrawlerListRow[]): readonly string[] {
  const own = listed
    .filter(({ crawler }) => crawler === name)
    .flatMap(({ prefixes }) => prefixes.flatMap(({ ipv4Prefix, ipv6Prefix }) => [ipv4Prefix ?? [], ipv6Prefix ?? []]))
    .flat();
  return [...new Set([...own, ...lists.filter(({ crawler }) => crawler === name).flatMap((list) => list.networks)])];
}

/** How each list that is wanted stands. */
async function viewLists(sql: Queryable, settings: Settings) {
  const known = await listCrawlerLists(sql, settings);
  return settings.bot_crawler_range_urls.map((source) => {
    const row = known.find(isOf(source));
    const nextMs = dueAtMs(settings, row);
    return {
      crawler: source.crawler,
      host: URL.canParse(source.url) ? new URL(source.url).host : '',
      state: row === undefined ? 'waiting' : row.last_error === null ? 'ok' : 'failed',
      networks: row?.networks.length ?? 0,
      attempted_at: row?.attempted_at.toISOString() ?? null,
      succeeded_at: row?.succeeded_at?.toISOString() ?? null,
      next_at: nextMs === 0 ? null : new Date(nextMs).toISOString(),
      last_error: row?.last_error ?? null,
    };
  });
}

/**
 * What a node says of such a client: ranges that it is in prove it; where there are some, and it is in none of them, it
 * is an impostor until its names prove it.
 */
async function prove(
  ip: string,
  networks: readonly string[],
  byNames: () => Promise<CrawlerProof>,
): Promise<CrawlerProof & { readonly decided_by: 'ranges' | 'dns'; readonly network: string | null }> {
  const network = networks.length === 0 ? null : networkWith(ip, networks);
  if (network !== null)
    return {
      ...{ verdict: 'verified', isOpen: false, names: [], detail: `its operator publishes ${network}` },
      ...{ decided_by: 'ranges', network },
    };
  const proof = await byNames();
  if (networks.length === 0 || proof.verdict !== 'unverified') return { ...proof, decided_by: 'dns', network };
  const detail = `it is in none of the ${networks.length} networks that its operator publishes, and ${proof.detail}`;
  return { ...proof, verdict: 'impostor', detail, decided_by: 'ranges', network };
}

const counted = ({ requests, blocked, bytes, last_at: at }: RecentCount) => ({
  ...{ requests, blocked, bytes },
  last_at: at.toISOString(),
});

/** Of crawlers by name, whatever they call themselves besides. */
function byCrawler(agents: readonly RecentAgent[]): ReadonlyMap<string, RecentCount> {
  const found = new Map<string, RecentCount>();
  for (const one of agents) {
    const name = claimedCrawler(one.user_agent)?.name;
    if (name === undefined) continue;
    const known = found.get(name) ?? { requests: 0, blocked: 0, bytes: 0, last_at: one.last_at };
    found.set(name, {
      requests: known.requests + one.requests,
      blocked: known.blocked + one.blocked,
      bytes: known.bytes + one.bytes,
      last_at: one.last_at > known.last_at ? one.last_at : known.last_at,
    });
  }
  return found;
}

async function viewFingerprints(sql: Queryable, { bot_ja3_blocklist: list }: Settings, now: Date) {
  return (await recentFingerprints(sql, now)).map((row) => ({
    ...{ ja3: row.ja3, ja4: row.ja4, listed: list.includes(row.ja3) },
    ...counted(row),
    ...{ clients: row.clients, user_agents: row.user_agents, user_agent: row.user_agent },
  }));
}

export function registerBotRoutes(app: App, parts: EdgeParts): void {
  const { nodeGates, currentSettings } = parts;
  const { sql } = parts.database;
  app.get('/api/bots', { schema: listSchema }, async () => {
    const counts = ((await nodeGates?.figures()) ?? []).flatMap(({ answer }) => answer?.crawlers ?? []);
    const sum = (name: string, verdicts: readonly string[]): number =>
      counts
        .filter(({ crawler, verdict }) => crawler === name && verdicts.includes(verdict))
        .reduce((total, { requests }) => total + requests, 0);
    const settings = await currentSettings();
    const { bot_action: action, bot_crawler_ranges: listed } = settings;
    const fetched = await listCrawlerLists(sql, settings);
    const now = new Date(parts.now());
    const recent = byCrawler(await recentAgents(sql, now));
    const recentOf = (name: string) => {
      const found = recent.get(name);
      return found === undefined ? null : counted(found);
    };
    return {
      action,
      score_threshold: settings.bot_score_threshold,
      allow_verified: settings.bot_allow_verified,
      verify_rdns: settings.bot_verify_rdns,
      recent_seconds: recentMs / 1000,
      recent_requests_max: recentRequestsMax,
      fingerprints: await viewFingerprints(sql, settings, now),
      crawlers: crawlers.map(({ name, kind }) => ({
        crawler: name,
        kind,
        requests: sum(name, ['verified', 'impostor', 'unverified', 'pending']),
        verified: sum(name, ['verified']),
        impostor: sum(name, ['impostor']),
        unverified: sum(name, ['unverified', 'pending']),
        ranges: networksOf(name, listed, fetched).length,
        recent: recentOf(name),
      })),
      lists: await viewLists(sql, settings),
    };
  });
  const names = systemNames();
  app.post('/api/bots/verify', { schema: verifySchema }, async ({ body: { ip, crawler, user_agent: userAgent } }) => {
    if (isIP(ip) === 0)
      throw new ApiError('validation_failed', 'The address is none.', {
        errors: [{ path: '/ip', reason: 'write an IPv4 or IPv6 address' }],
      });
    const claimed =
      crawler === undefined ? claimedCrawler(userAgent ?? '') : crawlers.find(({ name }) => name === crawler);
    if (claimed === undefined || claimed === null)
      throw new ApiError('validation_failed', 'No crawler is named.', {
        errors: [{ path: '/crawler', reason: `name one: ${crawlers.map(({ name }) => name).join(', ')}` }],
      });
    const settings = await currentSettings();
    const networks = networksOf(claimed.name, settings.bot_crawler_ranges, await listCrawlerLists(sql, settings));
    const proof = await prove(ip, networks, () => proveCrawler(ip, claimed, names, isSameAddress));
    return { ip, crawler: claimed.name, ...proof, names: [...proof.names] };
  });
}
