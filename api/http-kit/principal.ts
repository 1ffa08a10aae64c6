// Who asks. The guard puts the principal on every request that it lets in; routes read it and believe nothing else.
import type { FastifyRequest } from 'fastify';
import type { Permission, Role } from './access.js';

/** Who did something and from where, as the audit log keeps it. `role` is `system` for the product itself. */
export interface Actor {
  readonly id: string | null;
  readonly name: string;
  readonly role: Role | 'system' | 'none';
  readonly sourceIp: string;
}

export const systemActor: Actor = { id: null, name: 'system', role: 'system', sourceIp: '' };

export type Duty = 'change_password' | 'enrol_totp';

export interface Principal {
  readonly kind: 'session' | 'token';
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionId: string | null;
  readonly scopes: readonly Permission[] | null;
  /** What has to be done before anything else is allowed. */
  readonly duty: Duty | null;
  readonly actor: Actor;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** The principal of a guarded route. */
export function requirePrincipal(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('a guarded route ran without a principal');
  return request.principal;
}
