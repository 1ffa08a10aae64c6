// An operator decides over a client: refused, challenged on all paths, or slowed down, until when and why.
import { Type } from '@sinclair/typebox';
import { readPrincipalKey } from '#proxy/contract';
import {
  ApiError,
  closed,
  decodeCursor,
  OneOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type App,
} from '../../http-kit/index.js';
import { findCovering, importThreats } from '../../threat-intel/import.js';
import { toDenied } from '../../threat-intel/list-text.js';
import type { EdgeParts } from '../routes.js';
import { pushVerdicts } from './push.js';
import { listVerdicts, removeVerdict, setVerdicts } from './store.js';

const tags = ['edge'];
const actions = ['deny', 'challenge', 'throttle'] as const;

const View = Type.Object({
  network: Type.String({ description: 'a network, or a principal: kind and keyed hash, `jwt:0123456789abcdef`' }),
  action: OneOf(actions),
  reason: Type.String(),
  added_by: Type.String(),
  added_at: Time,
  expires_at: Time,
});

const addSchema = {
  tags,
  summary: 'Decide over a client or principal: deny, challenge on all paths, or slow down to 15 requests in 10 seconds',
  body: Type.Object(
    {
      network: Type.String({
        maxLength: 64,
        description: 'an address, a network, or a principal as verdicts have it (`jwt:0123456789abcdef`)',
      }),
      action: OneOf(actions),
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
  summary: 'Clients and principals that are challenged or slowed down, and principals that are denied, at the moment',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(View), ...refusals },
};
const removeSchema = {
  tags,
  summary: 'End a verdict on a client or principal before its time',
  querystring: Type.Object({ network: Type.String({ maxLength: 64 }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};

/** Canonical, as the deny list has it; a principal as it is. */
function networkOf(text: string): string {
  if (readPrincipalKey(text) !== null) return text;
  const parsed = toDenied(text);
  if (!('reason' in parsed)) return parsed.network;
  throw new ApiError('validation_failed', `The network ${parsed.reason}.`, {
    errors: [{ path: '/network', reason: parsed.reason }],
  });
}

export function registerVerdictRoutes(app: App, parts: EdgeParts): void {
  const { sql } = parts.database;
  app.post('/api/bans', { schema: addSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { action, reason = '', expires_in_seconds: seconds = 600, force = false } = request.body;
    const network = networkOf(request.body.network);
    const isPrincipal = readPrincipalKey(network) !== null;
    if (!force && !isPrincipal && findCovering([network], request.ip) !== undefined)
      throw new ApiError(
        'conflict',
        `${network} covers your own address ${request.ip}. Send "force": true if that is what you want.`,
      );
    const now = new Date(parts.now());
    const expiresAt = new Date(now.getTime() + seconds * 1000);
    if (action === 'deny' && !isPrincipal) {
      const given = { networks: [network], source: 'manual', reason, addedBy: actor.name, expiresAt };
      await importThreats(parts, actor, given, now);
      await parts.threatsChanged();
    } else {
      const row = { network, action, reason, added_by: actor.name, added_at: now, expires_at: expiresAt };
      await sql.begin(async (tx) => {
        await setVerdicts(tx, [row]);
        await parts.audit.record(tx, {
          actor,
          action: 'verdict.add',
          summary: `${action} for ${network}${reason === '' ? '' : `: ${reason}`}`,
          details: { network, action, expires_at: expiresAt.toISOString() },
        });
      });
      await pushVerdicts(parts, now);
    }
    const times = { added_at: now.toISOString(), expires_at: expiresAt.toISOString() };
    return { network, action, reason, added_by: actor.name, ...times };
  });
  app.get('/api/verdicts', { schema: listSchema }, async ({ query: { cursor, limit = 50 } }) => {
    const after = cursor === undefined ? '' : decodeCursor(cursor, ['string'] as const)[0];
    const rows = await listVerdicts(sql, after, new Date(parts.now()), limit + 1);
    return toPage(
      rows,
      limit,
      ({ network }) => [network],
      (row) => ({ ...row, added_at: row.added_at.toISOString(), expires_at: row.expires_at.toISOString() }),
    );
  });
  app.delete('/api/verdicts', { schema: removeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const network = networkOf(request.query.network);
    const now = new Date(parts.now());
    await sql.begin(async (tx) => {
      if ((await removeVerdict(tx, network, now)) === 0)
        throw new ApiError('not_found', `There is no verdict on ${network}; GET /api/verdicts names those in force.`);
      await parts.audit.record(tx, { actor, action: 'verdict.lift', summary: `ended the verdict on ${network}` });
    });
    await pushVerdicts(parts, now);
    return reply.code(204).send(null);
  });
}
