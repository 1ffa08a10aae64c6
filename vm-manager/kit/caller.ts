// Who asks, and what they may see. Visibility is a predicate over application and project that every statement on
// something that belongs to an application carries; what is not visible does not exist for the caller (404).
import { ApiError, type Actor } from '#http-kit';
import type { FastifyRequest } from 'fastify';
import { BlockList, isIPv6 } from 'node:net';
import { findToken, isVmToken, type VmToken } from '../accounts/token-store.js';
import { anyOf, type Fragment, type Queryable, type Sql } from '../database.js';
import type { Host, Person } from '../host.js';
import { builtInRoles, isPermission, scopesAllow, type VmPermission } from './permissions.js';

/** What somebody may touch under one permission. `all`: everything. */
export interface Reach {
  readonly all: boolean;
  readonly projects: readonly string[];
  readonly applications: readonly string[];
  /** A token is confined to these applications whatever its owner sees; null: it is not. */
  readonly within: readonly string[] | null;
}

export interface Caller {
  readonly kind: 'session' | 'token';
  readonly person: Person;
  readonly actor: Actor;
  readonly scopes: readonly string[] | null;
  /** The token that asks; null for a session. */
  readonly token: VmToken | null;
  /** Empty when the permission is held nowhere. `writes` says whether the request changes something. */
  reach(permission: VmPermission, writes: boolean): Reach | null;
  /** Permissions that are held somewhere, and the roles they come from. */
  readonly permissions: readonly VmPermission[];
  readonly roles: readonly string[];
}

interface Grant {
  readonly scope: 'org' | 'project' | 'application';
  readonly scope_id: number;
  readonly role: string;
}

const bearer = { 'www-authenticate': 'Bearer' };

/** Throws ApiError 401 for whoever is nobody, 403 for a token that may not be used from here. */
export async function identify(host: Host, request: FastifyRequest, whileDutyIsDue = false): Promise<Caller> {
  const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
  if (text !== null && isVmToken(text)) return identifyToken(host, request, text);
  if (text?.startsWith('gh_') === true)
    throw new ApiError(
      'scope_denied',
      'Tokens that begin with gh_ are for the control plane under /api. Make one for /api/v1 with POST /api/v1/tokens.',
    );
  const person = await host.identity.person(request, whileDutyIsDue);
  return toCaller(host.sql, person, null, request.ip);
}

async function identifyToken(host: Host, request: FastifyRequest, text: string): Promise<Caller> {
  const token = await findToken(host.sql, text, new Date(host.now()), request.ip);
  const owner = token === null ? null : await host.identity.owner(token.user_id);
  if (token === null || owner === null)
    throw new ApiError('not_authenticated', 'The token is unknown, expired or revoked.', { headers: bearer });
  if (token.allowed_cidrs !== null && !isWithin(request.ip, token.allowed_cidrs))
    throw new ApiError('scope_denied', `The token may not be used from ${request.ip}.`);
  return toCaller(host.sql, { ...owner, sessionId: null }, token, request.ip);
}

/** Whether the address lies in one of the networks; what is no address lies in none. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv6(base) ? 'ipv6' : 'ipv4';
    list.addSubnet(base, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

async function toCaller(sql: Sql, person: Person, token: VmToken | null, ip: string): Promise<Caller> {
  const rows = await sql<Grant[]>`select scope, scope_id, role from vm_grants where user_id = ${person.userId}`;
  const [confined] = await sql`select 1 from vm_confined where user_id = ${person.userId}`;
  // rights add up; administrators see everything: nobody can lock them out
  const isConfined = confined !== undefined && person.role !== 'admin';
  const grants: readonly Grant[] = isConfined ? rows : [{ scope: 'org', scope_id: 0, role: person.role }, ...rows];
  const custom = await readRoles(sql, grants);
  const may = (role: string): readonly VmPermission[] => builtInRoles[role] ?? custom.get(role) ?? [];
  const name = token === null ? person.email : `token ${token.name} of ${person.email}`;
  return {
    kind: token === null ? 'session' : 'token',
    person,
    actor: { id: person.userId, name, role: person.role, sourceIp: ip },
    scopes: token?.scopes ?? null,
    token,
    roles: [...new Set(grants.map(({ role }) => role))],
    permissions: [...new Set(grants.flatMap(({ role }) => may(role)))].sort(),
    reach(permission, writes) {
      if (token !== null && !scopesAllow(token.scopes, permission, writes)) return null;
      const held = grants.filter(({ role }) => may(role).includes(permission));
      if (held.length === 0) return null;
      const ids = (scope: Grant['scope']): string[] =>
        held.filter((grant) => grant.scope === scope).map(({ scope_id }) => String(scope_id));
      return {
        all: held.some(({ scope }) => scope === 'org'),
        projects: ids('project'),
        applications: ids('application'),
        within: token?.application_ids ?? null,
      };
    },
  };
}

/** Somebody without a request: for what runs by the clock on their behalf. null: there is no such user any more. */
export async function callerOf(host: Host, userId: string): Promise<Caller | null> {
  const owner = await host.identity.owner(userId);
  return owner === null ? null : toCaller(host.sql, { ...owner, sessionId: null }, null, '');
}

/** Whether a user may read what the audit log says of the vulnerability manager: `view_audit`, everywhere. */
export async function seesAudit(sql: Sql, { userId, role }: Pick<Person, 'userId' | 'role'>): Promise<boolean> {
  const caller = await toCaller(sql, { userId, role, email: '', sessionId: null }, null, '');
  const reach = caller.reach('view_audit', false);
  return reach !== null && isUnconfined(reach);
}

async function readRoles(sql: Sql, grants: readonly Grant[]): Promise<Map<string, VmPermission[]>> {
  const names = [...new Set(grants.map(({ role }) => role))].filter((role) => !Object.hasOwn(builtInRoles, role));
  if (names.length === 0) return new Map();
  const rows = await sql<{ name: string; permissions: string[] }[]>`
    select name, permissions from vm_roles where name in ${sql(names)}`;
  return new Map(rows.map(({ name, permissions }) => [name, permissions.filter(isPermission)]));
}

/** Everything, for work that no caller asks for. */
export const reachOfSystem: Reach = { all: true, projects: [], applications: [], within: null };

/** True for rows of applications within reach; the columns are written as they stand in the statement. */
export function reachable(sql: Queryable, reach: Reach, application: Fragment, project: Fragment): Fragment {
  const granted = reach.all
    ? sql`true`
    : anyOf(sql, [
        ...(reach.applications.length === 0 ? [] : [sql`${application} in ${sql(reach.applications)}`]),
        ...(reach.projects.length === 0 ? [] : [sql`${project} in ${sql(reach.projects)}`]),
      ]);
  if (reach.within === null) return granted;
  if (reach.within.length === 0) return sql`false`;
  return sql`${granted} and ${application} in ${sql(reach.within)}`;
}

/** Whether somebody reaches all of the organisation: for what belongs to no application. */
export const isUnconfined = (reach: Reach): boolean => reach.all && reach.within === null;

/** Throws `role_denied` unless what the grants of the user and the token leave over is the whole organisation. */
export function requireWhole(reach: Reach | null, what: string): void {
  if (reach === null || !isUnconfined(reach))
    throw new ApiError('role_denied', `${what} are of the whole organisation; your grant or token is not.`);
}
