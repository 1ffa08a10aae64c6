// Route × role, the whole table. A route that is not here cannot be registered (`guard.ts` throws at start), and the
// test beside calls every row as every role, without a token, with an expired, a forged and a suspended user's token.
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const permissions = [
  'settings:read',
  'settings:write',
  'apply',
  'versions:read',
  'rollback',
  'rules:read',
  'rules:write',
  'events:read',
  'threat-intel:read',
  'threat-intel:write',
  'ingest',
  'stats:read',
  'jobs:read',
  'licence:read',
  'licence:write',
  'audit:read',
  'users',
  'tokens',
  'account',
] as const;
export type Permission = (typeof permissions)[number];

export type RouteAccess =
  | { readonly kind: 'public' }
  /** Data-plane nodes, with DATA_ADMIN_TOKEN; the route checks it itself. */
  | { readonly kind: 'dataplane' }
  | {
      readonly kind: 'guarded';
      readonly permission: Permission;
      /** Roles that may call it. */
      readonly roles: readonly Role[];
      /**
       * API tokens with this permission as a scope may call it too. People's own affairs and IAM are for sessions only.
       */
      readonly tokens: boolean;
      /** Callable while a password change or two-factor enrolment is due. */
      readonly whileDutyIsDue: boolean;
    };

const open: RouteAccess = { kind: 'public' };
const everybody: readonly Role[] = ['viewer', 'operator', 'admin'];
const tuners: readonly Role[] = ['operator', 'admin'];
const admins: readonly Role[] = ['admin'];
const may = (permission: Permission, who: readonly Role[]): RouteAccess => ({
  kind: 'guarded',
  permission,
  roles: who,
  tokens: true,
  whileDutyIsDue: false,
});
const inPerson = (permission: Permission, who: readonly Role[], whileDutyIsDue = false): RouteAccess => ({
  kind: 'guarded',
  permission,
  roles: who,
  tokens: false,
  whileDutyIsDue,
});

export const routeMatrix: Readonly<Record<string, RouteAccess>> = {
  'GET /api': open,
  'GET /api/': open,
  'GET /api/health': open,
  'GET /api/ready': open,
  'GET /api/openapi.json': open,
  'POST /api/login': open,
  'POST /api/login/otp': open,
  'GET /api/sso': open,
  'GET /api/sso/login': open,
  'GET /api/sso/callback': open,

  'POST /api/dataplane/records': { kind: 'dataplane' },
  'POST /api/dataplane/samples': { kind: 'dataplane' },

  'POST /api/logout': inPerson('account', everybody, true),
  'GET /api/account': inPerson('account', everybody, true),
  'POST /api/account/password': inPerson('account', everybody, true),
  'POST /api/account/totp': inPerson('account', everybody, true),
  'POST /api/account/totp/confirm': inPerson('account', everybody, true),
  'DELETE /api/account/totp': inPerson('account', everybody),
  'POST /api/account/recovery-codes': inPerson('account', everybody),
  'GET /api/account/sessions': inPerson('account', everybody),
  'DELETE /api/account/sessions/:id': inPerson('account', everybody),

  'GET /api/users': inPerson('users', admins),
  'POST /api/users': inPerson('users', admins),
  'GET /api/users/:id': inPerson('users', admins),
  'PATCH /api/users/:id': inPerson('users', admins),
  'DELETE /api/users/:id': inPerson('users', admins),
  'POST /api/users/:id/password': inPerson('users', admins),
  'DELETE /api/users/:id/totp': inPerson('users', admins),
  'GET /api/users/:id/sessions': inPerson('users', admins),
  'DELETE /api/users/:id/sessions': inPerson('users', admins),
  'GET /api/tokens': inPerson('tokens', admins),
  'POST /api/tokens': inPerson('tokens', admins),
  'DELETE /api/tokens/:id': inPerson('tokens', admins),
  'GET /api/roles/matrix': may('settings:read', everybody),

  'GET /api/settings': may('settings:read', everybody),
  'GET /api/settings/schema': may('settings:read', everybody),
  'PUT /api/settings': may('settings:write', tuners),
  'PATCH /api/settings': may('settings:write', tuners),
  'POST /api/apply': may('apply', tuners),
  'GET /api/config/versions': may('versions:read', everybody),
  'GET /api/config/versions/:id': may('versions:read', everybody),
  'GET /api/config/diff': may('versions:read', everybody),
  'POST /api/config/rollback': may('rollback', tuners),

  'GET /api/license': may('licence:read', everybody),
  'POST /api/license': may('licence:write', admins),
  'GET /api/audit': may('audit:read', everybody),
  'GET /api/audit/export': may('audit:read', everybody),
  'GET /api/audit/verify': may('audit:read', everybody),

  'GET /api/rules': may('rules:read', everybody),
  'GET /api/rules/categories': may('rules:read', everybody),
  'GET /api/rules/evidence': may('rules:read', everybody),
  'GET /api/rules/:id': may('rules:read', everybody),
  'POST /api/rules': may('rules:write', tuners),
  'PATCH /api/rules/:id': may('rules:write', tuners),
  'DELETE /api/rules/:id': may('rules:write', tuners),
  'POST /api/rules/test': may('rules:write', tuners),
  'GET /api/vpatch/catalog': may('rules:read', everybody),
  'POST /api/vpatch': may('rules:write', tuners),
  'GET /api/fp-suggestions': may('rules:read', everybody),
  'GET /api/threat-intel': may('threat-intel:read', everybody),
  'POST /api/threat-intel': may('threat-intel:write', tuners),
  'DELETE /api/threat-intel': may('threat-intel:write', tuners),
  'GET /api/managed-feed': may('threat-intel:read', everybody),
  'POST /api/managed-feed/refresh': may('threat-intel:write', admins),
  'GET /api/events': may('events:read', everybody),
  'GET /api/events/stream': may('events:read', everybody),
  'GET /api/requests': may('events:read', everybody),
  'GET /api/policy/stats': may('stats:read', everybody),
  'GET /api/nodes': may('stats:read', everybody),
  'GET /api/jobs': may('jobs:read', everybody),
};

/** Static files of the API explorer. */
const publicPrefixes = ['/api/docs'] as const;

/** The row of a registered route (Fastify's pattern, `:id` and all); null when there is none. */
export function findRouteAccess(method: string, pattern: string): RouteAccess | null {
  if (publicPrefixes.some((prefix) => pattern === prefix || pattern.startsWith(`${prefix}/`))) return open;
  return routeMatrix[`${method === 'HEAD' ? 'GET' : method} ${pattern}`] ?? null;
}
