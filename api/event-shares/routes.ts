// Share links of events: made and revoked by operators, opened by a reader with the link. A link that is unknown, over
// or revoked, whose event is gone, or that the settings do not allow any more, is answered in the same words.
import { Type } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  Crowd,
  decodeTimeCursor,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { SharedEventView, shareEvent } from './shared-view.js';
import {
  activeMax,
  activePerPersonMax,
  countActive,
  findEvent,
  insertShare,
  openShare,
  readShares,
  revokeShare,
  type EventShare,
} from './store.js';

export type ShareParts = Pick<Parts, 'database' | 'now' | 'audit' | 'currentSettings'>;

const daysDefault = 7;
const daysMax = 30;
const dayMs = 86_400_000;
const opensPerMinuteMax = 30;

/** Links that are made: each opens without a login, so nobody makes them by the hundred. */
const linksInTheMaking = new Crowd({
  what: 'share links',
  atOnce: { perPerson: 5, all: 20 },
  within: { minutes: 5, perPerson: 30, all: 120 },
});

const ShareView = Type.Object({
  id: Type.String(),
  event_id: Type.Integer(),
  event_at: Time,
  title: Type.String({ description: 'the sentence of the event, as its reader sees it' }),
  created_by: Type.String(),
  created_at: Time,
  expires_at: Time,
  revoked_at: Nullable(Time),
  revoked_by: Nullable(Type.String()),
  opened: Type.Integer({ description: 'how often it was opened' }),
  last_opened_at: Nullable(Time),
});

const EventId = Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });
const createSchema = {
  tags: ['events'],
  summary: 'Make a link to an event that opens without a login; its token is shown once',
  params: EventId,
  body: Type.Object(
    { expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: daysMax, default: daysDefault })) },
    closed,
  ),
  response: {
    201: Type.Object({
      token: Type.String({ description: 'with `path` it is the link' }),
      path: Type.String({ description: 'of the console; the token stands behind #, which browsers do not send' }),
      details: ShareView,
    }),
    ...refusals,
  },
};
const listSchema = {
  tags: ['events'],
  summary: 'Links to events, newest first; links that ended more than 30 days ago are removed',
  querystring: Type.Object(
    { ...PageQuery, event_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })) },
    closed,
  ),
  response: { 200: Page(ShareView), ...refusals },
};
const revokeSchema = {
  tags: ['events'],
  summary: 'Revoke a link to an event',
  params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
  response: { 204: Type.Null(), ...refusals },
};
const openSchema = {
  tags: ['events'],
  summary: 'The event behind a link; secrets and personal data are masked, the client is shown as its network',
  security: [],
  body: Type.Object({ token: Type.String({ maxLength: 200 }) }, closed),
  response: { 200: SharedEventView, ...refusals },
};

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
const viewShare = (share: EventShare) => ({
  ...share,
  event_at: share.event_at.toISOString(),
  created_at: share.created_at.toISOString(),
  expires_at: share.expires_at.toISOString(),
  revoked_at: iso(share.revoked_at),
  last_opened_at: iso(share.last_opened_at),
});

const closedLink = (): ApiError =>
  new ApiError(
    'not_found',
    'This link does not open an event. It may have ended or been revoked: ask the sender for a new one.',
  );

export function registerShareRoutes(app: App, parts: ShareParts): void {
  const { sql } = parts.database;
  registerCreate(app, parts);
  registerOpen(app, parts);
  app.get('/api/event-shares', { schema: listSchema }, async (request) => {
    const { cursor, limit = 50, event_id } = request.query;
    const before = cursor === undefined ? null : decodeTimeCursor(cursor, 'string');
    const rows = await readShares(sql, { before, eventId: event_id }, limit + 1);
    return toPage(rows, limit, ({ created_at, id }) => [created_at.getTime(), id], viewShare);
  });
  app.delete('/api/event-shares/:id', { schema: revokeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      if (!(await revokeShare(tx, request.params.id, actor.name, new Date(parts.now()))))
        throw new ApiError('not_found', 'There is no link with this id that works.');
      await parts.audit.record(tx, {
        actor,
        action: 'event.share.revoke',
        summary: `revoked the share link ${request.params.id}`,
        details: { share: request.params.id },
      });
    });
    return reply.code(204).send(null);
  });
}

function registerCreate(app: App, parts: ShareParts): void {
  const { sql } = parts.database;
  app.post('/api/events/:id/shares', { schema: createSchema }, async (request, reply) => {
    const { actor, userId } = requirePrincipal(request);
    if (!(await parts.currentSettings()).event_share_links)
      throw new ApiError('conflict', 'Share links are switched off. An administrator turns on event_share_links.');
    const event = await findEvent(sql, request.params.id);
    if (event === null) throw new ApiError('not_found', 'There is no event with this id, or retention removed it.');
    const now = new Date(parts.now());
    const expiresAt = new Date(now.getTime() + (request.body.expires_in_days ?? daysDefault) * dayMs);
    const title = shareEvent(event, expiresAt).summary.text;
    const made = await linksInTheMaking.within(userId, async () =>
      sql.begin(async (tx) => {
        if ((await countActive(tx, now)) >= activeMax)
          throw new ApiError('conflict', `There are ${activeMax} share links that work. Revoke some first.`);
        if ((await countActive(tx, now, userId)) >= activePerPersonMax)
          throw new ApiError('conflict', `${activePerPersonMax} share links of yours work. Revoke some first.`);
        const share = await insertShare(tx, { event, title, userId, expiresAt }, now);
        await parts.audit.record(tx, {
          actor,
          action: 'event.share',
          summary: `made share link ${share.share.id} to event ${event.id}, until ${expiresAt.toISOString()}`,
          details: { share: share.share.id, event: event.id, request: event.request_id },
        });
        return share;
      }),
    );
    return reply.code(201).send({ token: made.token, path: `/shared#${made.token}`, details: viewShare(made.share) });
  });
}

function registerOpen(app: App, parts: ShareParts): void {
  const config = { rateLimit: { max: opensPerMinuteMax, timeWindow: 60_000 } };
  // POST, so that the token stands in no log of addresses
  app.post('/api/shared-event', { config, schema: openSchema, bodyLimit: 4096 }, async (request, reply) => {
    reply.headers({ 'x-robots-tag': 'noindex, nofollow, noarchive', 'referrer-policy': 'no-referrer' });
    const isAllowed = (await parts.currentSettings()).event_share_links;
    const found = isAllowed ? await openShare(parts.database.sql, request.body.token, new Date(parts.now())) : null;
    if (found === null) throw closedLink();
    return shareEvent(found.event, found.expiresAt);
  });
}
