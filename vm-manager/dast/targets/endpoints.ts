// /targets/{id}: whose it is, and how scans log in there. The targets themselves are rows of assets.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { targets } from '../../assets/resources.js';
import { json, type Queryable } from '../../database.js';
import type { Reach } from '../../kit/caller.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { requireRow, toView, viewSchema, type Row } from '../../kit/resource.js';
import { checkSession, identities, placeOfSecret, readSession, SessionConfig } from './sessions.js';
import { verifyMethods, wafEntryOf, waysOf, whyNotVerified, type TargetRow } from './verify.js';

const closed = { additionalProperties: false } as const;

/** Throws 404 for a target that is not there or not within reach. */
export const requireTarget = async (sql: Queryable, reach: Reach, id: string): Promise<TargetRow> =>
  (await requireRow(sql, targets, reach, id)) as unknown as TargetRow;

const SessionView = Type.Intersect([
  SessionConfig,
  Type.Object({ has_secret: Type.Boolean(), updated_by: Type.String(), updated_at: Time }),
]);

const viewSession = (row: NonNullable<Awaited<ReturnType<typeof readSession>>>) => ({
  ...row.config,
  has_secret: true,
  updated_by: row.updated_by,
  updated_at: row.updated_at.toISOString(),
});

const Identity = OneOf(identities, 'second: another user, whom techniques of exploits compare the first one with');

const ways = {
  verified_at: Nullable(Time),
  verified_by: Nullable(Type.String()),
  file: Type.Object({ url: Type.String(), contents: Type.String() }),
  header: Type.Object({ url: Type.String(), name: Type.String(), value: Type.String() }),
  dns: Type.Object({ name: Type.String(), type: Type.String(), value: Type.String() }),
  site: Type.String(),
};

/** The address that is proved; throws 409 where the target names no entry of the firewall. */
function addressToProve(target: TargetRow, of: 'target' | 'waf'): string {
  if (of === 'target') return target.url;
  if (target.waf_url === null) throw new ApiError('conflict', 'The target has no waf_url: set it, then verify it.');
  return target.waf_url;
}

const verification: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/targets/:id/verification',
    permission: 'view_assets',
    kind: 'B',
    summary: 'What to set so that a target is verified: a file, a header, a TXT record, or a site of the firewall',
    answer: Type.Object({
      ...ways,
      waf: Nullable(
        Type.Object(
          { url: Type.String(), is_tried: Type.Boolean(), ...ways },
          { description: 'the same for waf_url, where its origin is another one' },
        ),
      ),
    }),
    handle: async ({ sql, reach, params, now }) => {
      const target = await requireTarget(sql, reach, params['id'] ?? '');
      const { waf_url: waf } = target;
      return {
        verified_at: target.verified_at?.toISOString() ?? null,
        verified_by: target.verified_by,
        ...waysOf(target, target.url),
        waf:
          waf === null
            ? null
            : {
                url: waf,
                is_tried: wafEntryOf(target, now)?.url === waf,
                verified_at: target.waf_verified_at?.toISOString() ?? null,
                verified_by: target.waf_verified_by,
                ...waysOf(target, waf),
              },
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/targets/:id/verify',
    // who verifies lets scans go as far as the target's bounds say, which its author chose without this permission
    permission: 'run_scans',
    kind: 'B',
    summary: 'Look for the proof that the target is yours; scans that attack need it; 409 says what is missing',
    body: Type.Object(
      { method: OneOf(verifyMethods), of: Type.Optional(OneOf(['target', 'waf'], 'waf: its waf_url is proved')) },
      closed,
    ),
    answer: viewSchema(targets),
    handle: async (call) => {
      const { method, of = 'target' } = call.body;
      const target = await requireTarget(call.sql, call.reach, call.params['id'] ?? '');
      const address = addressToProve(target, of);
      const [linked] = await call.sql<{ site: string | null }[]>`
        select site from vm_applications where id = ${target.application_id}`;
      const why = await whyNotVerified(call.host, target, address, linked?.site ?? null, method);
      if (why !== null)
        throw new ApiError('conflict', `${of === 'waf' ? 'Its waf_url' : 'The target'} is not verified: ${why}.`);
      const what = of === 'waf' ? `the waf_url of the target ${target.id}` : `the target ${target.id}`;
      const proof =
        of === 'waf'
          ? { waf_verified_at: call.now, waf_verified_by: method }
          : { verified_at: call.now, verified_by: method };
      const made = await call.audited('vm.update', `verified ${what} by ${method}`, async (tx) => {
        const [row] = await tx<Row[]>`
          update vm_targets set ${tx(proof)}, updated_at = ${call.now}, version = version + 1
          where id = ${target.id} and url = ${target.url} and waf_url is not distinct from ${target.waf_url}
          returning *`;
        if (row === undefined)
          throw new ApiError('conflict', 'The target has another address by now: verify it again.');
        return row;
      });
      return toView(targets, made);
    },
  }),
];

const sessions: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/targets/:id/auth-profile',
    permission: 'view_scans',
    kind: 'B',
    summary: 'How scans of a target log in, without the secret; null: they do not',
    query: Type.Object({ identity: Type.Optional(Identity) }, closed),
    answer: Type.Object({ profile: Nullable(SessionView) }),
    handle: async ({ sql, reach, params, query }) => {
      const { id } = await requireTarget(sql, reach, params['id'] ?? '');
      const row = await readSession(sql, id, query.identity ?? 'first');
      return { profile: row === null ? null : viewSession(row) };
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/targets/:id/auth-profile',
    permission: 'run_scans',
    kind: 'B',
    summary: 'Say how scans log in: a form, a bearer token, a header or a cookie, and a page that shows that it worked',
    body: Type.Object(
      {
        profile: Nullable(SessionConfig),
        secret: Type.Optional(Type.String({ minLength: 1, maxLength: 5000 })),
        identity: Type.Optional(Identity),
      },
      closed,
    ),
    answer: Type.Object({ profile: Nullable(SessionView) }),
    handle: async (call) => {
      const { profile, secret, identity = 'first' } = call.body;
      const target = await requireTarget(call.sql, call.reach, call.params['id'] ?? '');
      if (profile !== null) checkSession(profile, target);
      const before = await readSession(call.sql, target.id, identity);
      const place = placeOfSecret(target.url);
      const sealed = secret === undefined ? (before?.secret ?? null) : call.host.secrets.seal(secret, place);
      if (profile !== null && sealed === null)
        throw new ApiError('unfit', '/secret is missing: give the password, the token or the value.');
      const what = profile === null ? 'took the login of scans away from' : 'said how scans log in at';
      const whose = identity === 'first' ? '' : ' (second identity)';
      await call.audited('vm.update', `${what} the target ${target.id}${whose}`, async (tx) => {
        await tx`delete from vm_target_sessions where target_id = ${target.id} and identity = ${identity}`;
        if (profile !== null)
          await tx`
            insert into vm_target_sessions (target_id, identity, type, config, secret, updated_by, updated_at)
            values (${target.id}, ${identity}, ${profile.type}, ${json(tx, profile)}, ${sealed},
              ${call.caller.actor.name}, ${call.now})`;
      });
      const row = await readSession(call.sql, target.id, identity);
      return { profile: row === null ? null : viewSession(row) };
    },
  }),
];

export const targetEndpoints: readonly Endpoint[] = [...verification, ...sessions];
