import { Type } from '@sinclair/typebox';
import ipaddr from 'ipaddr.js';
import type { Actor } from '../audit/chain.js';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { requirePrincipal } from '../auth/guard.js';
import { decodeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { toRange } from '../addresses/inner-networks.js';
import { parseNetworks, toNetwork } from './parse.js';
import { addThreats, removeThreats, settleThreats, threatChunk, type NewThreats, type ThreatAddress } from './store.js';

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

/**
 * Whether a canonical network holds this address; for a million of them, so IPv4 is compared as numbers and IPv6 is
 * read only for a client that has such an address.
 */
function coverage(ip: string): (network: string) => boolean {
  const address = ipaddr.process(ip);
  const text = address.toString();
  if (address.kind() === 'ipv4') {
    const { from } = toRange(text);
    return (network) => {
      if (network.includes(':')) return false;
      if (!network.includes('/')) return network === text;
      const range = toRange(network);
      return range.from <= from && from <= range.to;
    };
  }
  return (network) =>
    network === text || (network.includes(':') && network.includes('/') && address.match(ipaddr.parseCIDR(network)));
}

/**
 * Part by part, so that the others of the embedded database's one connection get their turn. The entry of the audit log
 * comes with the first part: nobody is ever denied without one, and what an interruption left out can be sent again.
 */
async function importThreats(house: House, actor: Actor, given: NewThreats, now: Date): Promise<number> {
  const { networks, reason } = given;
  const summary = `blocked ${networks.length === 1 ? networks[0] : `${networks.length} addresses and networks`}${reason === '' ? '' : `: ${reason}`}`;
  let added = 0;
  for (let at = 0; at < networks.length; at += threatChunk) {
    added += await house.database.sql.begin(async (tx) => {
      const fresh = await addThreats(tx, { ...given, networks: networks.slice(at, at + threatChunk) }, now);
      if (at === 0)
        await house.audit.record(tx, {
          actor,
          action: 'threat.add',
          summary,
          details: { networks: networks.slice(0, 20) },
        });
      return fresh;
    });
  }
  await settleThreats(house.database.sql, networks.length);
  return added;
}

export function registerThreatRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/threat-intel',
    {
      schema: {
        tags: ['threat intelligence'],
        summary: 'Bad addresses',
        querystring: Type.Object(
          {
            ...PageQuery,
            source: Type.Optional(Type.String({ maxLength: 100 })),
            q: Type.Optional(Type.String({ maxLength: 64, description: 'beginning of the address' })),
          },
          closed,
        ),
        response: { 200: Page(ThreatView), ...refusals },
      },
    },
    async (request) => {
      const { source, q } = request.query;
      const limit = request.query.limit ?? 50;
      const [after, afterSource] =
        request.query.cursor === undefined
          ? ['', '']
          : decodeCursor(request.query.cursor, ['string', 'string'] as const);
      const rows = await sql<ThreatAddress[]>`
        select * from threat_addresses where (network, source) > (${after}, ${afterSource}) and (expires_at is null or expires_at > ${new Date(house.now())})
        ${source === undefined ? sql`` : sql`and source = ${source}`} ${q === undefined ? sql`` : sql`and starts_with(network, ${q})`}
        order by network, source limit ${limit + 1}`;
      return toPage(
        rows,
        limit,
        (row) => [row.network, row.source],
        (row) => ({ ...row, added_at: row.added_at.toISOString(), expires_at: row.expires_at?.toISOString() ?? null }),
      );
    },
  );
  app.post(
    '/api/threat-intel',
    {
      bodyLimit: importBytesMax,
      schema: {
        tags: ['threat intelligence'],
        summary: 'Import bad addresses and networks; wrong entries refuse the whole import unless skip_invalid is on',
        body: Type.Object(
          {
            addresses: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 2_000_000 })),
            text: Type.Optional(Type.String({ description: 'newline list or JSON text' })),
            reason: Type.Optional(Type.String({ maxLength: 500 })),
            expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000 })),
            skip_invalid: Type.Optional(Type.Boolean()),
            force: Type.Optional(Type.Boolean({ description: 'also when it covers your own address' })),
          },
          closed,
        ),
        response: {
          200: Type.Object({ added: Type.Integer(), known: Type.Integer(), skipped: Type.Integer() }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const { actor } = requirePrincipal(request);
      const {
        addresses = [],
        text = '',
        reason = '',
        expires_in_seconds,
        skip_invalid = false,
        force = false,
      } = request.body;
      const parsed = [await parseNetworks(text), await parseNetworks(addresses)];
      const problems = parsed.flatMap((part, i) =>
        part.problems.map((p) => ({
          path: i === 0 ? `/text line ${p.entry}` : `/addresses/${p.entry - 1}`,
          reason: `${JSON.stringify(p.text)} ${p.reason}`,
        })),
      );
      const networks = [...new Set(parsed.flatMap((part) => part.networks))];
      if (problems.length > 0 && !skip_invalid)
        throw new ApiError('validation_failed', `${problems.length} entries are wrong; nothing was imported.`, {
          errors: problems.slice(0, 100),
        });
      if (networks.length === 0)
        throw new ApiError('validation_failed', 'There is nothing to import.', {
          errors: [{ path: '', reason: 'give addresses or text' }],
        });
      const own = force ? undefined : networks.find(coverage(request.ip));
      if (own !== undefined)
        throw new ApiError(
          'conflict',
          `${own} covers your own address ${request.ip}. Send "force": true if that is what you want.`,
        );
      const now = new Date(house.now());
      const expiresAt = expires_in_seconds === undefined ? null : new Date(now.getTime() + expires_in_seconds * 1000);
      const added = await importThreats(
        house,
        actor,
        { networks, source: 'manual', reason, addedBy: actor.name, expiresAt },
        now,
      );
      await house.threatsChanged();
      return { added, known: networks.length - added, skipped: problems.length };
    },
  );
  app.delete(
    '/api/threat-intel',
    {
      schema: {
        tags: ['threat intelligence'],
        summary: 'Unblock an address or network',
        querystring: Type.Object({ network: Type.String({ maxLength: 64 }) }, closed),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      const parsed = toNetwork(request.query.network);
      if ('reason' in parsed)
        throw new ApiError('validation_failed', `The network ${parsed.reason}.`, {
          errors: [{ path: '/network', reason: parsed.reason }],
        });
      await sql.begin(async (tx) => {
        if ((await removeThreats(tx, [parsed.network])) === 0)
          throw new ApiError('not_found', `${parsed.network} is not in the list.`);
        await house.audit.record(tx, { actor, action: 'threat.remove', summary: `unblocked ${parsed.network}` });
      });
      await house.threatsChanged();
      return reply.code(204).send(null);
    },
  );
}
