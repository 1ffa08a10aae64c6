// An operator decides over a client: refused, challenged on all paths, or slowed down, until when and why.
import { Type } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  Nullable,
  OneOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../../http-kit/index.js';
import { lift, subjectOf } from '../../measures/lift.js';
import { kindOfSubject, measureActions, measureSources, readPlace } from '../../measures/model.js';
import { checkPlace, followPlaces } from '../../measures/places.js';
import { keyOf, listMeasures, readKey } from '../../measures/query.js';
import { decide } from '../../measures/store.js';
import { findCoveringOfMany, importDenials } from '../../threat-intel/import.js';
import type { EdgeParts } from '../routes.js';

const tags = ['edge'];

/** Networks of a place that are put in force before the answer; more of them are its job's, within 15 seconds. */
const atOnceMax = 20_000;

const View = Type.Object({
  network: Type.String({ description: 'a network, a principal (`jwt:0123456789abcdef`), `country:DE` or `asn:64500`' }),
  action: OneOf(measureActions),
  source: OneOf(measureSources, 'who decided'),
  reason: Type.String(),
  added_by: Type.String(),
  added_at: Time,
  expires_at: Nullable(Time),
});

const addSchema = {
  tags,
  summary: 'Decide over a client or principal: deny, challenge on all paths, or slow down to 15 requests in 10 seconds',
  body: Type.Object(
    {
      network: Type.String({
        maxLength: 64,
        description:
          'an address, a network, a principal as verdicts have it (`jwt:0123456789abcdef`), a country (`country:DE`) ' +
          'or an autonomous system (`asn:64500`); the last two need the MMDB files of docs/events.md',
      }),
      action: OneOf(measureActions),
      expires_in_seconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 31_536_000, default: 600, description: 'when it ends by itself' }),
      ),
      reason: Type.Optional(Type.String({ maxLength: 500 })),
      force: Type.Optional(Type.Boolean({ description: 'also when it covers your own address' })),
    },
    closed,
  ),
  response: { 200: View, ...refusals },
};
const listSchema = {
  tags,
  summary:
    'What is decided over single clients and principals at the moment: denied, challenged or slowed down; entries of ' +
    'lists (tor, feed, managed) are left out',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(View), ...refusals },
};
const removeSchema = {
  tags,
  summary: 'End what is decided over a client or principal before its time, denials by lists included',
  querystring: Type.Object({ network: Type.String({ maxLength: 64 }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};

export function registerVerdictRoutes(app: App, parts: EdgeParts): void {
  const { sql } = parts.database;
  app.post('/api/bans', { schema: addSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { action, reason = '', expires_in_seconds: seconds = 600, force = false } = request.body;
    const network = subjectOf(request.body.network);
    const place = readPlace(network);
    const isPrincipal = kindOfSubject(network) === 'principal';
    const networks = place === null ? [network] : await checkPlace(place, parts);
    if (!force && !isPrincipal && (await findCoveringOfMany(networks, request.ip)) !== undefined)
      throw new ApiError(
        'conflict',
        `${network} covers your own address ${request.ip}. Send "force": true if that is what you want.`,
      );
    const now = new Date(parts.now());
    const expiresAt = new Date(now.getTime() + seconds * 1000);
    if (action === 'deny' && !isPrincipal && place === null) {
      const given = { subjects: [network], source: 'manual', reason, addedBy: actor.name, expiresAt } as const;
      await importDenials(parts, actor, given, now);
    } else {
      const by = { source: 'manual', addedBy: actor.name } as const;
      await sql.begin(async (tx) => {
        await decide(tx, [{ subject: network, action, reason, expiresAt }], by, now);
        await parts.audit.record(tx, {
          actor,
          action: 'verdict.add',
          summary: `${action} for ${network}${reason === '' ? '' : `: ${reason}`}`,
          details: { network, action, expires_at: expiresAt.toISOString() },
        });
      });
    }
    await (place === null || networks.length > atOnceMax ? parts.measuresChanged() : followPlaces(parts, now));
    const times = { added_at: now.toISOString(), expires_at: expiresAt.toISOString() };
    return { network, action, source: 'manual' as const, reason, added_by: actor.name, ...times };
  });
  app.get('/api/verdicts', { schema: listSchema }, async ({ query: { cursor, limit = 50 } }) => {
    const after = cursor === undefined ? null : readKey(cursor);
    const rows = await listMeasures(
      sql,
      { states: 'active', isDecided: true },
      after,
      new Date(parts.now()),
      limit + 1,
    );
    return toPage(rows, limit, keyOf, ({ subject, action, source, reason, added_by, added_at, expires_at }) => ({
      ...{ network: subject, action, source: source as (typeof measureSources)[number], reason, added_by },
      added_at: added_at.toISOString(),
      expires_at: expires_at?.toISOString() ?? null,
    }));
  });
  app.delete('/api/verdicts', { schema: removeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const subject = subjectOf(request.query.network);
    await lift(parts, {
      subject,
      actions: measureActions,
      actor,
      audited: { action: 'verdict.lift', summary: `ended the verdict on ${subject}` },
      absent: `There is no verdict on ${subject}; GET /api/verdicts names those in force.`,
    });
    return reply.code(204).send(null);
  });
}
