// Who may call a route. Every feature says it for each of its routes, as a row `METHOD pattern` → access. A route
// without a row cannot be registered, and a row without a route stops the start (api/features.ts).
import { Type } from '@sinclair/typebox';

export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A role in bodies and answers. */
export const RoleName = Type.Unsafe<Role>({ type: 'string', enum: [...roles] });

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

export interface GuardedAccess {
  readonly kind: 'guarded';
  readonly permission: Permission;
  /** Roles that may call it. */
  readonly roles: readonly Role[];
  /** API tokens with this permission as a scope may call it too. People's own affairs and IAM are for sessions only. */
  readonly tokens: boolean;
  /** Callable while a password change or two-factor enrolment is due. */
  readonly whileDutyIsDue: boolean;
}

export type RouteAccess =
  | { readonly kind: 'public' }
  /** Data-plane nodes, with DATA_ADMIN_TOKEN. */
  | { readonly kind: 'dataplane' }
  /** The feature that has the route admits by permissions and tokens of its own; nobody passes without a token. */
  | { readonly kind: 'feature' }
  | GuardedAccess;

/** By `METHOD pattern`, the pattern as it is registered: `GET /api/users/:id`. */
export type AccessRows = Readonly<Record<string, RouteAccess>>;

export const open: RouteAccess = { kind: 'public' };
export const nodesOnly: RouteAccess = { kind: 'dataplane' };

export const everybody: readonly Role[] = ['viewer', 'operator', 'admin'];
export const tuners: readonly Role[] = ['operator', 'admin'];
export const admins: readonly Role[] = ['admin'];

/** People of these roles, and API tokens that carry the permission. */
export const may = (permission: Permission, who: readonly Role[]): RouteAccess => ({
  kind: 'guarded',
  permission,
  roles: who,
  tokens: true,
  whileDutyIsDue: false,
});

/** People of these roles who are logged in themselves. */
export const inPerson = (permission: Permission, who: readonly Role[], whileDutyIsDue = false): RouteAccess => ({
  kind: 'guarded',
  permission,
  roles: who,
  tokens: false,
  whileDutyIsDue,
});
