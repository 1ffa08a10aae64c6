// What the room needs of the server that it is mounted in. The control plane gives its own users, sessions, audit log
// and database; a test gives what it likes. The room knows none of them by name.
import type { Actor, Role } from '#http-kit';
import type { FastifyRequest } from 'fastify';
import type { Sql, Tx } from './database.js';
import type { Narrator } from './graph/explain.js';
import type { Firewall } from './vpatches/firewall.js';

/** Somebody who is logged in, or for whom a token speaks. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionId: string | null;
}

export type LoginAnswer =
  | { readonly kind: 'in'; readonly token: string; readonly expiresAt: Date }
  | { readonly kind: 'mfa'; readonly challenge: string };

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly suspended: boolean;
  readonly mfa: boolean;
  readonly created_at: Date;
  readonly last_login_at: Date | null;
}

/** One identity with the control plane: its users and its sessions. */
export interface Identity {
  /**
   * The person behind the request's session (bearer or cookie). Throws ApiError: 401 without a valid one, and for a
   * token of the step before the second factor; 403 while a password change or an enrolment is due.
   */
  person(request: FastifyRequest): Promise<Person>;
  /** The person that a token belongs to; null when there is none any more, or it is suspended. */
  owner(userId: string): Promise<Omit<Person, 'sessionId'> | null>;
  /** Throws ApiError as the control plane's own login does. */
  logIn(request: FastifyRequest, email: string, password: string): Promise<LoginAnswer>;
  answerMfa(request: FastifyRequest, challenge: string, code: string): Promise<LoginAnswer & { kind: 'in' }>;
  /** Ends this session, or all of the user (and every token of the same version). */
  logOut(person: Person, actor: Actor, which: 'this' | 'all'): Promise<void>;
  users(filter: { readonly role?: string; readonly q?: string; readonly id?: string }): Promise<readonly UserRow[]>;
  /** How often one address may try to log in; options of the rate limiter. */
  readonly loginConfig: Readonly<Record<string, unknown>>;
}

/** The hash-chained log: an entry is kept or lost with the transaction of what it tells. */
export interface AuditPort {
  record(tx: Tx, entry: AuditInput): Promise<void>;
  list(filter: AuditFilter): Promise<readonly AuditView[]>;
  verify(): Promise<{ readonly ok: boolean; readonly checked: number; readonly first_broken: unknown }>;
}

export interface AuditInput {
  readonly actor: Actor;
  readonly action: VmAction;
  readonly summary: string;
  readonly details?: unknown;
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly q?: string | undefined;
  readonly id?: number | undefined;
  readonly before: number;
  readonly limit: number;
}

export interface AuditView {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly role: string;
  readonly source_ip: string;
  readonly action: string;
  readonly summary: string;
  readonly details: unknown;
  readonly hash: string;
}

/** Actions of this room; the control plane's table of audit actions has a row for each. */
export type VmAction =
  | 'vm.create'
  | 'vm.update'
  | 'vm.delete'
  | 'vm.transition'
  | 'vm.import'
  | 'vm.token'
  | 'vm.access'
  | 'vm.gate';

export interface Host {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly identity: Identity;
  readonly audit: AuditPort;
  readonly brandName: string;
  /** Who writes narratives of chains, asked for each; null, or absent: no model is configured. */
  readonly narrator?: () => Promise<Narrator | null>;
  /** The firewall in front of the applications; absent: this server has none, and virtual patches answer 503. */
  readonly firewall?: Firewall;
  /** Whether toxic combinations are also made by the further rules; absent: no. */
  readonly withToxicPack?: () => Promise<boolean>;
}
