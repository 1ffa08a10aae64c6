// What the control plane is made of. `AppDeps` is what a caller gives to buildApp; `House` is what the routes get.
import type { FastifyInstance, FastifyBaseLogger, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static, TSchema } from '@sinclair/typebox';
import type { AuditLog } from './audit/chain.js';
import type { BreachCheck } from './auth/breached.js';
import type { PasswordHasher } from './auth/password.js';
import type { Sealing } from './auth/sealing.js';
import type { SessionTokens } from './auth/session-token.js';
import type { ApplySettings } from './change/contract.js';
import type { Expected } from './change/node-target.js';
import type { Database } from './db/client.js';
import type { Env } from './env.js';
import type { Outbound } from './outbound/outbound.js';
import type { RuleLab } from './rules/sandbox.js';
import type { Settings } from './settings/schema.js';

/** Infers request types from TypeBox schemas. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxProvider
>;

export interface AppDeps {
  readonly env: Pick<
    Env,
    | 'authSessionSecret'
    | 'settingsEncryptionSecret'
    | 'dataAdminToken'
    | 'trustedProxies'
    | 'breachedPasswordsUrl'
    | 'brand'
  >;
  /** Migrated and seeded. */
  readonly database: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly outbound: Outbound;
  /** null: no data plane is connected; apply answers 503. */
  readonly applySettings: ApplySettings | null;
  /** Where rules of people are tried; absent: one is made. */
  readonly lab?: RuleLab;
  /** What a node that serves this version is held against; absent: no data plane is connected. */
  readonly expectedOf?: (versionId: number) => Promise<Expected | null>;
  /** Called after the list of bad addresses changed; pushes it to the data plane without a recompile. */
  readonly threatsChanged?: () => Promise<void>;
  /** The unpacked rule set, for counting rules and trying exclusions; null or absent: both say that there is none. */
  readonly crsDirectory?: string | null;
  /** PEM of the vendor's public key; null: a build without one is a trial. */
  readonly licencePublicKey: string | null;
  /** pino options, or false for silence. */
  readonly logger: boolean | { level: string };
  /** Tests lower it; everybody else leaves it out. */
  readonly passwordIterations?: number;
  /** Where several API processes count logins and 404s together; null or absent: each by itself. */
  readonly redisUrl?: string | null;
  /**
   * Of every key there; null or absent: derived from the session secret, which all processes of an installation share.
   */
  readonly redisPrefix?: string | null;
  /**
   * How long a request waits for Redis at most; tests that count what Redis counts wait longer than a busy machine
   * needs.
   */
  readonly redisAnswerMsMax?: number;
  /** Requests per minute and source address: logins, and answers of 404. */
  readonly loginsPerMinute?: number;
  readonly notFoundPerMinute?: number;
}

export interface House extends AppDeps {
  readonly threatsChanged: () => Promise<void>;
  readonly expectedOf: (versionId: number) => Promise<Expected | null>;
  readonly sealing: Sealing;
  readonly audit: AuditLog;
  readonly hasher: PasswordHasher;
  readonly tokens: SessionTokens;
  readonly breachCheck: BreachCheck;
  /** The settings people edit, secrets sealed; at most two seconds old. */
  readonly currentSettings: () => Promise<Settings>;
  /** Tells `currentSettings` that this process has just changed them. */
  readonly settingsChanged: () => void;
}
