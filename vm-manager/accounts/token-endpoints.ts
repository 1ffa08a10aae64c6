// Tokens for programs. The text is in the answer that makes it, and nowhere else.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { isIP } from 'node:net';
import { isUnconfined, isWithin } from '../kit/caller.js';
import { endpoint, notFound, toId, toMoment, unfit, When, writes, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery } from '../kit/list.js';
import { areOfAuthor, permissionNames, scopeNames, scopesAllow, tokenScopes } from '../kit/permissions.js';
import { insertToken, listTokens, requireToken, revokeToken, rotateToken, type VmToken } from './token-store.js';

const closed = { additionalProperties: false } as const;
const TokenView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.String(),
  prefix: Type.String({ description: 'the beginning of its text' }),
  user_id: Type.String(),
  scopes: Type.Array(Type.String()),
  application_ids: Nullable(Type.Array(Type.String())),
  allowed_cidrs: Nullable(Type.Array(Type.String())),
  created_at: Time,
  expires_at: Nullable(Time),
  last_used_at: Nullable(Time),
  last_ip: Nullable(Type.String()),
  revoked_at: Nullable(Time),
});

const viewToken = (token: VmToken) => ({
  id: token.id,
  name: token.name,
  kind: token.kind,
  prefix: `apt_${token.id}`,
  user_id: token.user_id,
  scopes: token.scopes,
  application_ids: token.application_ids,
  allowed_cidrs: token.allowed_cidrs,
  created_at: token.created_at.toISOString(),
  expires_at: token.expires_at?.toISOString() ?? null,
  last_used_at: token.last_used_at?.toISOString() ?? null,
  last_ip: token.last_ip,
  revoked_at: token.revoked_at?.toISOString() ?? null,
});

/** Whose tokens somebody may see and end: null for everybody's. */
function whose({ caller }: Call, changes: boolean): string | null {
  const reach = caller.reach('manage_tokens', changes);
  return reach !== null && isUnconfined(reach) ? null : caller.person.userId;
}

/** A token cannot make one that may more than itself, and its children stay within its applications. */
async function checkNew(call: Call, scopes: readonly string[], applications: readonly string[] | null): Promise<void> {
  const own = call.caller.scopes;
  if (own !== null) {
    if (!own.some((scope) => scope === 'write' || scope === 'admin'))
      throw new ApiError('scope_denied', 'A token makes others only with the scope write or admin.');
    const surplus = scopes.filter((scope) =>
      permissionNames.some(
        (name) =>
          (scopesAllow([scope], name, false) && !scopesAllow(own, name, false)) ||
          (scopesAllow([scope], name, true) && !scopesAllow(own, name, true)),
      ),
    );
    if (surplus.length > 0)
      throw new ApiError('scope_denied', `The token may not hand on ${surplus.join(', ')}: it does not have them.`);
    const within = call.caller.reach('view_findings', false)?.within ?? null;
    if (within !== null && (applications === null || applications.some((id) => !within.includes(id))))
      throw new ApiError('scope_denied', 'The token is confined to applications; name some of them.');
  }
  for (const id of applications ?? []) toId(id, 'application');
}

/** What a token makes ends with it at the latest, and is used from where it may be used itself. */
function inherit(call: Call, expires: Date | null, networks: readonly string[] | null) {
  const parent = call.caller.token;
  if (parent === null) return { expires, networks };
  const end = parent.expires_at;
  if (end !== null && expires !== null && expires > end)
    throw unfit('/expires_at', `is later than the end of the token that asks (${end.toISOString()})`);
  const own = parent.allowed_cidrs;
  const outside =
    own === null ? undefined : (networks ?? []).find((network) => !own.some((one) => covers(one, network)));
  if (outside !== undefined)
    throw unfit('/allowed_cidrs', `${outside} is not within the networks of the token that asks`);
  return { expires: expires ?? end, networks: networks ?? own };
}

const bitsOf = (network: string): number => {
  const [base = '', bits] = network.split('/');
  return bits === undefined ? (isIP(base) === 6 ? 128 : 32) : Number(bits);
};

const covers = (wide: string, narrow: string): boolean =>
  bitsOf(wide) <= bitsOf(narrow) && isWithin(narrow.split('/')[0] ?? '', [wide]);

function checkNetworks(networks: readonly string[] | null): void {
  for (const network of networks ?? []) {
    const [base = '', bits = '0', surplus] = network.split('/');
    const family = isIP(base);
    const fits =
      family !== 0 && surplus === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
    if (!fits) throw unfit('/allowed_cidrs', `${network.slice(0, 60)} is no network such as 192.0.2.0/24`);
  }
}

function parseEnd(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const at = toMoment(text, '/expires_at');
  if (at <= now) throw unfit('/expires_at', 'is over already');
  return at;
}

const NewToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]+$' }),
    kind: Type.Optional(OneOf(['personal', 'service'])),
    scopes: Type.Array(OneOf(scopeNames), { minItems: 1, maxItems: scopeNames.length, uniqueItems: true }),
    expires_at: Type.Optional(When),
    application_ids: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 1000 })),
    allowed_cidrs: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 100 })),
  },
  closed,
);

export const tokenEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/tokens',
    permission: 'self',
    kind: 'C',
    summary: 'My tokens; all with manage_tokens',
    query: Type.Object({ limit: ListQuery.limit, offset: ListQuery.offset }, closed),
    answer: List(TokenView),
    handle: async (call) => {
      const { limit = 50, offset = 0 } = call.query;
      const { rows, total } = await listTokens(call.sql, whose(call, false), limit, offset);
      return { items: rows.map(viewToken), total, total_is_estimate: false, limit, offset, next_cursor: null };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/tokens/scopes',
    permission: 'self',
    kind: 'A',
    summary: 'Scopes and the permissions that they let through',
    answer: Type.Object({
      items: Type.Array(Type.Object({ name: Type.String(), permissions: Type.Array(Type.String()) })),
    }),
    handle: async () => ({
      items: scopeNames.map((name) => ({ name, permissions: [...(tokenScopes[name] ?? [])].sort() })),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/tokens',
    permission: 'self',
    kind: 'B',
    summary: 'Make a token; its text is shown once',
    body: NewToken,
    status: 201,
    answer: Type.Intersect([TokenView, Type.Object({ token: Type.String() })]),
    handle: async (call) => {
      const { body, now, caller } = call;
      const applications = body.application_ids ?? null;
      await checkNew(call, body.scopes, applications);
      checkNetworks(body.allowed_cidrs ?? null);
      const given = parseEnd(body.expires_at, now);
      const { expires, networks } = inherit(call, given, body.allowed_cidrs ?? null);
      const made = await call.audited(
        'vm.token',
        `made the token ${body.name} (${body.scopes.join(', ')})`,
        async (tx) =>
          insertToken(
            tx,
            {
              name: body.name,
              kind: body.kind ?? 'personal',
              user_id: caller.person.userId,
              scopes: body.scopes,
              application_ids: applications,
              allowed_cidrs: networks,
              expires_at: expires,
            },
            now,
          ),
        ({ token }) => viewToken(token),
      );
      return { ...viewToken(made.token), token: made.text };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/tokens/:id',
    permission: 'self',
    kind: 'C',
    summary: 'One token',
    answer: TokenView,
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      const token = await requireToken(call.sql, id, whose(call, false));
      if (token === null) throw notFound('token', id.slice(0, 20));
      return viewToken(token);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/tokens/:id',
    permission: 'self',
    anyScope: true,
    kind: 'S',
    summary: 'Revoke a token; it opens nothing from now on',
    status: 204,
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      const token = await requireToken(call.sql, id, whose(call, writes({ method: 'DELETE' })));
      if (token === null) throw notFound('token', id.slice(0, 20));
      const { scopes, token: asks } = call.caller;
      if (asks !== null && asks.id !== id && (asks.application_ids !== null || !areOfAuthor(scopes ?? [])))
        throw new ApiError('scope_denied', 'This token revokes only itself: others need write, in all applications.');
      await call.audited('vm.token', `revoked the token ${token.name}`, (tx) => revokeToken(tx, id, call.now));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/tokens/:id/rotate',
    permission: 'self',
    anyScope: true,
    kind: 'B',
    summary: 'Give a token of mine another text, shown once; the one before holds for grace_s seconds more',
    body: Type.Object({ grace_s: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, default: 0 })) }, closed),
    answer: Type.Intersect([TokenView, Type.Object({ token: Type.String() })]),
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      // its text speaks for its owner: nobody else may have it, and no token that of another
      const token = await requireToken(call.sql, id, call.caller.person.userId);
      if (token === null) throw notFound('token', id.slice(0, 20));
      if (call.caller.token !== null && call.caller.token.id !== id)
        throw new ApiError('scope_denied', 'A token gets another text only for itself.');
      const graceMs = (call.body.grace_s ?? 0) * 1000;
      const made = await call.audited('vm.token', `gave the token ${token.name} another text`, async (tx) => {
        const rotated = await rotateToken(tx, id, graceMs, call.now);
        if (rotated === null) throw new ApiError('conflict', 'The token is revoked or over. Make another one.');
        return rotated;
      });
      return { ...viewToken(made.token), token: made.text };
    },
  }),
];
