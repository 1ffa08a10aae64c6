// Bots, as people see them: which crawlers came and whether they are who they say, and asking on demand.
import { isIP } from 'node:net';
import { Type } from '@sinclair/typebox';
import { claimedCrawler, crawlers, isSameAddress, proveCrawler, systemNames } from '#proxy/contract';
import { ApiError, closed, refusals, type App } from '../http-kit/index.js';
import type { EdgeParts } from './routes.js';

const tags = ['edge'];
const Verdict = Type.Unsafe<'verified' | 'impostor' | 'unverified'>({
  type: 'string',
  enum: ['verified', 'impostor', 'unverified'],
});

const listSchema = {
  tags,
  summary: 'Crawlers that came since the nodes began, and whether they are who they say',
  response: {
    200: Type.Object({
      action: Type.String(),
      crawlers: Type.Array(
        Type.Object({
          crawler: Type.String(),
          kind: Type.String({ description: 'search, preview, ads, ai-training, ai-search or ai-assistant' }),
          verified: Type.Integer(),
          impostor: Type.Integer(),
          unverified: Type.Integer({ description: 'nobody knows, or it is being found out' }),
          ranges: Type.Integer({ description: 'networks that bot_crawler_ranges has of it; 0 = it has no list' }),
        }),
      ),
    }),
    ...refusals,
  },
};
const verifySchema = {
  tags,
  summary: 'Is the client at this address the crawler that it claims to be? By forward-confirmed reverse DNS, now',
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
      names: Type.Array(Type.String({ description: 'of the address' })),
      detail: Type.String(),
    }),
    ...refusals,
  },
};

export function registerBotRoutes(app: App, { nodeGates, currentSettings }: EdgeParts): void {
  app.get('/api/bots', { schema: listSchema }, async () => {
    const counts = ((await nodeGates?.figures()) ?? []).flatMap(({ answer }) => answer?.crawlers ?? []);
    const sum = (name: string, verdicts: readonly string[]): number =>
      counts
        .filter(({ crawler, verdict }) => crawler === name && verdicts.includes(verdict))
        .reduce((total, { requests }) => total + requests, 0);
    const { bot_action: action, bot_crawler_ranges: listed } = await currentSettings();
    return {
      action,
      crawlers: crawlers.map(({ name, kind }) => ({
        crawler: name,
        kind,
        verified: sum(name, ['verified']),
        impostor: sum(name, ['impostor']),
        unverified: sum(name, ['unverified', 'pending']),
        ranges: listed.find(({ crawler }) => crawler === name)?.prefixes.length ?? 0,
      })),
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
    const { verdict, names: found, detail } = await proveCrawler(ip, claimed, names, isSameAddress);
    return { ip, crawler: claimed.name, verdict, names: [...found], detail };
  });
}
