import { Type } from '@sinclair/typebox';
import {
  ApiError,
  closed,
  decodeCursor,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
  SomeOf,
} from '../http-kit/index.js';
import { lift, subjectOf, type LiftParts } from '../measures/lift.js';
import { measureSources } from '../measures/model.js';
import { listDenied, type DeniedNetwork } from '../measures/query.js';
import { findCoveringOfMany, importDenials, readGivenList } from './import.js';

export type ThreatParts = LiftParts;

/** A million IPv6 networks with room for comments. */
const importBytesMax = 64 * 1024 * 1024;

const ThreatView = Type.Object({
  network: Type.String(),
  source: Type.String(),
  reason: Type.String(),
  added_by: Type.String(),
  added_at: Time,
  expires_at: Nullable(Time),
});
const Import = Type.Object(
  {
    addresses: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 2_000_000 })),
    text: Type.Optional(Type.String({ description: 'newline list or JSON text' })),
    reason: Type.Optional(Type.String({ maxLength: 500 })),
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
    skip_invalid: Type.Optional(Type.Boolean()),
    force: Type.Optional(Type.Boolean({ description: 'also when it covers your own address' })),
  },
  closed,
);

const listSchema = {
  tags: ['threat intelligence'],
  summary: 'Addresses and networks that are denied, by whatever source: lists, users, bans, the detection engine',
  querystring: Type.Object(
    {
      ...PageQuery,
      source: Type.Optional(SomeOf(measureSources)),
      q: Type.Optional(Type.String({ maxLength: 64, description: 'beginning of the address' })),
    },
    closed,
  ),
  response: { 200: Page(ThreatView), ...refusals },
};
const importSchema = {
  tags: ['threat intelligence'],
  summary: 'Import bad addresses and networks; wrong entries refuse the whole import unless skip_invalid is on',
  body: Import,
  response: {
    200: Type.Object({ added: Type.Integer(), known: Type.Integer(), skipped: Type.Integer() }),
    ...refusals,
  },
};
const removeSchema = {
  tags: ['threat intelligence'],
  summary: 'Let an address or network in again, whichever source denied it',
  querystring: Type.Object({ network: Type.String({ maxLength: 64 }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};

const viewThreat = (row: DeniedNetwork) => ({
  ...row,
  added_at: row.added_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
});

export function registerThreatRoutes(app: App, parts: ThreatParts): void {
  const { sql } = parts.database;
  app.get('/api/threat-intel', { schema: listSchema }, async (request) => {
    const { source, q, cursor, limit = 50 } = request.query;
    const after = cursor === undefined ? (['', ''] as const) : decodeCursor(cursor, ['string', 'string'] as const);
    const rows = await listDenied(sql, { after, source, q, now: new Date(parts.now()) }, limit + 1);
    return toPage(rows, limit, (row) => [row.network, row.source], viewThreat);
  });
  registerImport(app, parts);
  app.delete('/api/threat-intel', { schema: removeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const subject = subjectOf(request.query.network);
    await lift(parts, {
      subject,
      actions: ['deny'],
      actor,
      audited: { action: 'threat.remove', summary: `unblocked ${subject}` },
      absent: `${subject} is not in the list.`,
    });
    return reply.code(204).send(null);
  });
}

function registerImport(app: App, parts: ThreatParts): void {
  app.post('/api/threat-intel', { bodyLimit: importBytesMax, schema: importSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { addresses = [], text = '', reason = '', expires_in_seconds: seconds } = request.body;
    const { networks, problems } = await readGivenList(text, addresses);
    if (problems.length > 0 && request.body.skip_invalid !== true)
      throw new ApiError('validation_failed', `${problems.length} entries are wrong; nothing was imported.`, {
        errors: problems.slice(0, 100),
      });
    if (networks.length === 0)
      throw new ApiError('validation_failed', 'There is nothing to import.', {
        errors: [{ path: '', reason: 'give addresses or text' }],
      });
    const own = request.body.force === true ? undefined : await findCoveringOfMany(networks, request.ip);
    if (own !== undefined)
      throw new ApiError(
        'conflict',
        `${own} covers your own address ${request.ip}. Send "force": true if that is what you want.`,
      );
    const now = new Date(parts.now());
    const expiresAt = seconds === undefined ? null : new Date(now.getTime() + seconds * 1000);
    const given = { subjects: networks, source: 'manual', reason, addedBy: actor.name, expiresAt } as const;
    const added = await importDenials(parts, actor, given, now);
    await parts.measuresChanged();
    return { added, known: networks.length - added, skipped: problems.length };
  });
}
