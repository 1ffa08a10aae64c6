// What the room needs of the server that it is mounted in. The control plane gives its own users, sessions, audit log
// and database; a test gives what it likes. The room knows none of them by name.
import type { Actor, Role } from '#http-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import type { Sql, Tx } from './database.js';
import type { ApiPort } from './apis/port.js';
import type { ModelSettings } from './assistant/settings.js';
import type { BackupPort } from './backups/port.js';
import type { Narrator } from './graph/explain.js';
import type { HostHealth } from './health/component.js';
import type { TakeEvents } from './kit/outbox.js';
import type { EventBounds } from './kit/prune-events.js';
import type { FirewallActivity } from './reports/sections/firewall-activity.js';
import type { Firewall } from './vpatches/firewall.js';

/** Somebody who is logged in, or for whom a token speaks. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionId: string | null;
}

export type LoginAnswer =
  | {
      readonly kind: 'in';
      readonly token: string;
      readonly expiresAt: Date;
      /** What has to be done before anything else is allowed. */
      readonly duty: 'change_password' | 'enrol_totp' | null;
    }
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
  /** Grows with every change of the account. */
  readonly version: number;
}

export interface SessionRow {
  readonly id: string;
  readonly source_ip: string;
  readonly user_agent: string;
  readonly method: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

/** Throws ApiError where the user, as stored and locked, may not be touched. */
export type AcceptUser = (before: UserRow) => void;

/**
 * Users, changed as the control plane changes them: its rules (policy, last administrator, sessions that end), its
 * audit entries. Every function throws ApiError as the control plane's own routes do. The reply gets the header
 * `x-gatehouse-notice` if a password could not be compared with breaches.
 */
export interface UserAdministration {
  create(
    actor: Actor,
    user: { readonly email: string; readonly name: string; readonly role: Role; readonly password: string },
    reply: FastifyReply,
  ): Promise<UserRow>;
  change(
    actor: Actor,
    id: string,
    change: { readonly name?: string; readonly role?: Role; readonly suspended?: boolean },
    accept: AcceptUser,
  ): Promise<UserRow>;
  delete(actor: Actor, id: string, accept: AcceptUser): Promise<void>;
  /** The user has to change it at the next login; their sessions end. */
  setPassword(actor: Actor, id: string, password: string, accept: AcceptUser, reply: FastifyReply): Promise<void>;
  /** A password that fits the policy, made by chance. */
  newPassword(): Promise<string>;
}

/** What somebody does to their own account; throws ApiError as the control plane's own routes do. */
export interface OwnAccount {
  changePassword(person: Person, actor: Actor, current: string, wanted: string, reply: FastifyReply): Promise<void>;
  beginTotp(person: Person, actor: Actor, password: string): Promise<{ readonly secret: string; readonly uri: string }>;
  /** Returns recovery codes. */
  confirmTotp(person: Person, actor: Actor, code: string): Promise<readonly string[]>;
  endTotp(person: Person, actor: Actor, password: string, code: string): Promise<void>;
  /** Those that still count, newest first; 500 at most. */
  sessions(person: Person): Promise<readonly SessionRow[]>;
  /** Another session in the place of this one, which ends; it lasts no longer than this one would have. */
  rotateSession(person: Person): Promise<{ readonly token: string; readonly expiresAt: Date }>;
}

/** The provider of single sign-on as it stands in the settings. */
export interface SsoProvider {
  /** Of the settings. */
  readonly version: number;
  readonly enabled: boolean;
  readonly issuer: string;
  readonly client_id: string;
  readonly has_secret: boolean;
  readonly redirect_uri: string;
  readonly default_role: Role;
  readonly allowed_domain: string;
}

export interface SsoChange {
  readonly enabled?: boolean;
  readonly issuer?: string;
  readonly client_id?: string;
  readonly client_secret?: string | null;
  readonly redirect_uri?: string;
  readonly default_role?: 'viewer' | 'operator';
  readonly allowed_domain?: string;
}

/** Single sign-on of the control plane, which has one provider; its settings are changed on their own road. */
export interface SingleSignOn {
  /** null: none was named yet. */
  read(): Promise<SsoProvider | null>;
  /** Throws ApiError where the settings would contradict themselves, or changed since `version` was read. */
  change(person: Person, actor: Actor, change: SsoChange, version: number | null): Promise<SsoProvider | null>;
  /** Asks the provider for its discovery document and its keys. */
  test(): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** How many accounts came through it. */
  people(): Promise<number>;
  /** Where a browser begins, and where the provider sends it back to; paths of this server. */
  readonly paths: { readonly login: string; readonly callback: string };
}

/** One identity with the control plane: its users and its sessions. */
export interface Identity {
  /**
   * The person behind the request's session (bearer or cookie). Throws ApiError: 401 without a valid one, and for a
   * token of the step before the second factor; 403 while a password change or an enrolment is due, but for what
   * fulfils it.
   */
  person(request: FastifyRequest, whileDutyIsDue?: boolean): Promise<Person>;
  /** The person that a token belongs to; null when there is none any more, or it is suspended. */
  owner(userId: string): Promise<Omit<Person, 'sessionId'> | null>;
  /** Throws ApiError as the control plane's own login does. */
  logIn(request: FastifyRequest, email: string, password: string): Promise<LoginAnswer>;
  answerMfa(request: FastifyRequest, challenge: string, code: string): Promise<LoginAnswer & { kind: 'in' }>;
  /** Ends this session, or all of the user (and every token of the same version). */
  logOut(person: Person, actor: Actor, which: 'this' | 'all'): Promise<void>;
  users(filter: { readonly role?: string; readonly q?: string; readonly id?: string }): Promise<readonly UserRow[]>;
  readonly administration: UserAdministration;
  readonly own: OwnAccount;
  readonly sso: SingleSignOn;
  /** How often one address may try to log in; options of the rate limiter. */
  readonly loginConfig: Readonly<Record<string, unknown>>;
}

/** The hash-chained log: an entry is kept or lost with the transaction of what it tells. */
export interface AuditPort {
  record(tx: Tx, entry: AuditInput): Promise<void>;
  list(filter: AuditFilter): Promise<readonly AuditView[]>;
  verify(): Promise<{ readonly ok: boolean; readonly checked: number; readonly first_broken: unknown }>;
  /** Entries beyond `after`, oldest first: the text that was hashed, which ends with the hash before it. */
  excerpt(of: {
    readonly from: Date;
    readonly to: Date;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly AuditText[]>;
  /** The newest entry of the time with exactly these details; null: there is none, or none any more. */
  find(
    action: VmAction,
    details: Readonly<Record<string, string>>,
    within: { readonly from: Date; readonly to: Date },
  ): Promise<{ readonly id: number } | null>;
  hashesOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

export interface AuditText {
  readonly id: number;
  readonly text: string;
  readonly hash: string;
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
  readonly actor_id: string | null;
  readonly role: string;
  readonly source_ip: string;
  readonly action: string;
  readonly summary: string;
  readonly details: unknown;
  readonly prev_hash: string;
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
  | 'vm.download'
  | 'vm.gate';

/** Secrets at rest; `place` names where one lives, and a sealed text opens nowhere else. */
export interface Secrets {
  seal(plain: string, place: string): string;
  /** Throws for a text that was changed, moved, or sealed by another installation. */
  open(sealed: string, place: string): string;
}

/** Where published sets are fetched from; an empty address: that one is not. */
export interface IntelSources {
  readonly urls: { readonly epss: string; readonly kev: string; readonly osv: string };
  readonly everyMs: number;
  /** Throws ApiError for an address that may not be asked, and for one that does not answer 200. */
  download(url: string, bytesMax: number): Promise<Buffer>;
}

export interface OutboundCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS' | 'DELETE' | 'TRACE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bytesMax?: number;
  readonly timeoutMs?: number;
  /** Redirects are answers: none is followed. */
  readonly keepsRedirects?: boolean;
  readonly signal?: AbortSignal;
}

/** The guarded way out: names are judged, redirects stay at their origin, time and size are capped, TLS is verified. */
export interface WayOut {
  /** How it introduces itself; absent: by the name of the product. */
  readonly agent?: string;
  /** Throws ApiError `outbound_refused` for a target that may not be asked, `outbound_failed` for one that is away. */
  send(
    url: string,
    call?: OutboundCall,
  ): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** One for each Set-Cookie. */
    readonly cookies?: readonly string[];
    readonly body: Buffer;
  }>;
  /** Throws as `send` does, and asks nobody but the resolver. */
  check(url: string): Promise<void>;
  /** True when the operator allow-listed the host: only then may plain http carry credentials. */
  isAllowListed(url: string): Promise<boolean>;
  /** An open connection for what is not HTTP; throws as `send` does. Absent: there is none. */
  readonly connect?: (target: {
    readonly transport: 'tcp' | 'tls';
    readonly host: string;
    readonly port: number;
    readonly timeoutMs: number;
  }) => Promise<Socket>;
}

export interface FirewallCheck {
  readonly result: 'satisfied' | 'not_satisfied' | 'no_evidence';
  readonly reason: string;
  /** Names of settings that it rests on. */
  readonly settings: readonly string[];
  readonly evidence: readonly {
    readonly kind: string;
    readonly text: string;
    /** null: now. */
    readonly at: Date | null;
    readonly link: string;
  }[];
}

/** What the firewall answers to controls of frameworks: its checks, and which control each is for. */
export interface FirewallAnswers {
  readonly checks: ReadonlyMap<string, FirewallCheck>;
  readonly frameworks: readonly {
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly controls: readonly { readonly id: string; readonly title: string; readonly checks: readonly string[] }[];
  }[];
}

/** A method and a path with {parameters}, as the inventory of the data plane has them. */
export interface SeenEndpoint {
  readonly method: string;
  readonly template: string;
}

/** One service asking another, as meshes and traces have shown it; sums over all time that is kept. */
export interface ObservedHop {
  readonly caller: string;
  readonly callee: string;
  readonly requests: number;
  /** Without certificate and without token. */
  readonly unidentified: number;
  readonly failed: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
}

export interface Host {
  readonly secrets: Secrets;
  readonly sql: Sql;
  /**
   * A copy of the database that takes long reads; `freshAt`: by the clock of the database, what was committed before is
   * there; null: it must not be asked now. Absent: there is none.
   */
  readonly replica?: { readonly sql: Sql; readonly freshAt: () => Date | null };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly identity: Identity;
  readonly audit: AuditPort;
  readonly brandName: string;
  /** Of the product, such as 0.4.0. */
  readonly release: string;
  /** Who writes narratives of chains, asked for each; null, or absent: no model is configured. */
  readonly narrator?: () => Promise<Narrator | null>;
  /** Where that service is named; absent: this server has no such settings. */
  readonly model?: ModelSettings;
  /** The firewall in front of the applications; absent: this server has none, and virtual patches answer 503. */
  readonly firewall?: Firewall;
  /** Asked with each assessment of compliance; absent: there is no firewall that answers for controls. */
  readonly firewallAnswers?: () => Promise<FirewallAnswers>;
  /** As the settings say now; absent: this server fetches nothing. */
  readonly intelSources?: () => Promise<IntelSources>;
  /** The namespace that its CSAF documents are published under; absent or empty: none is configured. */
  readonly csafNamespace?: () => Promise<string>;
  /** Whether toxic combinations are also made by the further rules; absent: no. */
  readonly withToxicPack?: () => Promise<boolean>;
  /** How long and how many events are kept; absent: 90 days, 500,000 events. */
  readonly eventBounds?: () => Promise<EventBounds>;
  /** An import that closes more of its scope asks first, in per cent; absent: 50. */
  readonly closePercentMax?: () => Promise<number>;
  /** Statements of all requests share one connection (the embedded database): no transaction may last. */
  readonly hasOneConnection?: boolean;
  /** Where issue trackers and scan targets are asked; absent: this server asks neither, and both answer 503. */
  readonly wayOut?: WayOut;
  /** Path of the browser of active scans, or `none`; null or absent: the first one on the path. */
  readonly chromium?: string | null;
  /** Names of hosts that repositories are fetched from; absent, or none: nothing is fetched. */
  readonly gitHosts?: () => Promise<readonly string[]>;
  /** Certificates (PEM) of the operator's own authorities, for such hosts; empty: the public ones alone. */
  readonly gitAuthorities?: () => Promise<string>;
  /** TXT records of a name; absent: targets cannot be verified by DNS. */
  readonly textRecords?: (name: string) => Promise<readonly string[]>;
  /** What the data plane has seen of a host; absent: it has no inventory. */
  readonly seenEndpoints?: (host: string) => Promise<readonly SeenEndpoint[]>;
  /** Who asks whom inside, at most so many, those with most requests first; absent: nobody tells this server. */
  readonly eastWest?: (max: number) => Promise<readonly ObservedHop[]>;
  /** Security events of a time, for reports; absent: there is no firewall that records them. */
  readonly firewallActivity?: (period: { readonly from: Date; readonly to: Date }) => Promise<FirewallActivity>;
  /** Inventory and specifications of APIs; absent: there is no firewall that has them. */
  readonly apis?: ApiPort;
  /** Backups of this server; absent: it has no place for them. */
  readonly backups?: BackupPort;
  /** The settings without secrets, and the versions that were saved in the period; absent: the server has none. */
  readonly settingsRecord?: (period: {
    readonly from: Date;
    readonly to: Date;
  }) => Promise<{ readonly current: unknown; readonly versions: readonly unknown[] }>;
  /** How the parts of this server stand; absent: it answers for none. */
  readonly health?: (now: Date) => Promise<HostHealth>;
  /** Keeps events for other systems, each at least once and in their order; absent: nobody listens. */
  readonly takeEvents?: TakeEvents;
}
