// What the control plane is made of. `AppDeps` is what a caller gives; `Parts` are made from it once, and every feature
// picks those that it needs (its type names them).
import type { FastifyRequest } from 'fastify';
import { localTokenOf } from './backup/local-token.js';
import { createAuditLog, type AuditLog } from './audit/chain.js';
import { createBreachCheck, type BreachCheck } from './auth/breached.js';
import type { RunBackup } from './backup/schedule/runs.js';
import { createBackupStarter, type BackupStarter } from './backup/schedule/start.js';
import type { BackupTools } from './backup/tools.js';
import { createPasswordHasher, type PasswordHasher } from './auth/password.js';
import type { RouteMatrix } from './auth/route-matrix.js';
import { createSealing, type Sealing } from './auth/sealing.js';
import { createSessionTokens, type SessionTokens } from './auth/session-token.js';
import type { ApplySettings, Expected } from './change/contract.js';
import type { TryRequests } from './change/try-requests.js';
import type { Database } from './db/client.js';
import type { ReadReplica } from './db/replica.js';
import type { NodeGates, OfNode } from './edge/node-gates.js';
import type { NodePort } from './enrolment/contract.js';
import type { AcmeEnv, Env } from './env.js';
import { createLocations, type LocationFiles, type Locations } from './events/places/locations.js';
import type { Principal, SharedLimitsState } from './http-kit/index.js';
import type { Outbound } from './outbound/outbound.js';
import type { Rollouts } from './rollout/contract.js';
import { fixedRuleSet, type RuleSets } from './rules/rule-set-directory.js';
import { createRuleSandbox, type RuleSandbox } from './rules/sandbox/sandbox.js';
import { createSettingsReader } from './settings/reader.js';
import { upstreamDefaults, type UpstreamDefaults } from '#proxy/contract';
import type { Settings } from '#settings';
import { valueOf, type RedisAddress } from '#settings/environment';

export interface AppDeps {
  readonly env: Pick<
    Env,
    | 'authSessionSecret'
    | 'settingsEncryptionSecret'
    | 'dataAdminToken'
    | 'trustedProxies'
    | 'consoleToken'
    | 'breachedPasswordsUrl'
    | 'torExitsUrl'
    | 'brand'
  > &
    Partial<Pick<Env, 'chromium'>>;
  /** Migrated and seeded. */
  readonly database: Database;
  /** A copy of it that takes long reads; null or absent: there is none. */
  readonly replica?: ReadReplica | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long settings that were read may be used again, in milliseconds; 0: they are read each time. */
  readonly settingsFreshMs?: number;
  readonly outbound: Outbound;
  /** null: no data plane is connected; apply answers 503. */
  readonly applySettings: ApplySettings | null;
  /** What a node that serves this version is held against; absent: no data plane is connected. */
  readonly expectedOf?: (versionId: number) => Promise<Expected | null>;
  /** Called after client measures changed; pushes the change to the data plane without a recompile. */
  readonly measuresChanged?: () => Promise<void>;
  /** Looks at every node and brings it up to date; absent: no data plane is connected. */
  readonly reconcileNodes?: (audit: AuditLog) => Promise<string>;
  /** Takes a node out of its load balancer, or back in; whether it answered. Absent: no data plane is connected. */
  readonly drainNode?: (url: string, isDraining: boolean) => Promise<boolean>;
  /** Rollouts ring by ring; absent: no data plane is connected. */
  readonly rollouts?: Rollouts;
  /** Where nodes of other machines enrol; null or absent: NODES_PORT is not set. */
  readonly nodePort?: NodePort | null;
  /** Bans and limits of the nodes; absent: no data plane is connected. */
  readonly nodeGates?: NodeGates;
  /** What each node tells scrapers; absent: no data plane is connected. */
  readonly nodeMetrics?: () => Promise<readonly OfNode<string>[]>;
  /** Single requests through the rules that serve; absent: no data plane is connected. */
  readonly tryRequests?: TryRequests;
  /** Where rules of people are tried; absent: one is made. */
  readonly sandbox?: RuleSandbox;
  /** The unpacked rule set, for counting rules and trying exclusions; null or absent: both say that there is none. */
  readonly crsDirectory?: string | null;
  /** The same where it may change while the server runs; absent: `crsDirectory` for good. */
  readonly ruleSets?: RuleSets;
  /** PEM of the vendor's public key; null: a build without one is a trial. */
  readonly licencePublicKey: string | null;
  /** pino options, or false for silence. */
  readonly logger: boolean | { readonly level: string };
  /** Tests lower it; everybody else leaves it out. */
  readonly passwordIterations?: number;
  /** Where several API processes count logins and 404s together; null or absent: each by itself. */
  readonly redis?: RedisAddress | null;
  /**
   * Of every key there; null or absent: derived from the session secret, which all processes of an installation share.
   */
  readonly redisPrefix?: string | null;
  /**
   * How long a request waits for Redis at most; tests that count what Redis counts wait as long as a busy machine
   * needs.
   */
  readonly redisAnswerMsMax?: number;
  /** Whether anybody may try attacks in the sandbox (PUBLIC_DEMO); absent: yes. */
  readonly publicDemo?: boolean;
  /** Makes a backup in a process of its own; null or absent: this process cannot. */
  readonly runBackup?: RunBackup | null;
  /** The place of backups, and what is done there; null or absent: this process has none. */
  readonly backupTools?: BackupTools | null;
  /** DATA_DIR, for how much room is left there; absent: nothing is kept in files. */
  readonly dataDirectory?: string;
  /** WAF_PORT, the port that protects; absent: what it is where nobody sets it. */
  readonly wafPort?: number;
  /** Where the sites lead that are protected before one is saved; absent: to the bundled demo applications. */
  readonly upstreams?: UpstreamDefaults;
  /** Where certificates are ordered; absent: nowhere. */
  readonly acme?: AcmeEnv;
  /** Files that say where clients are; absent: none. */
  readonly locationFiles?: LocationFiles;
  /** Requests per minute and source address: logins, and answers of 404. */
  readonly loginsPerMinute?: number;
  readonly notFoundPerMinute?: number;
}

/** Made once for a process. */
export interface Parts {
  readonly database: Database;
  /** null: there is none (DATABASE_READ_URL). */
  readonly replica: ReadReplica | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly outbound: Outbound;
  readonly sealing: Sealing;
  readonly audit: AuditLog;
  readonly hasher: PasswordHasher;
  readonly tokens: SessionTokens;
  readonly breachCheck: BreachCheck;
  /** The settings people edit, secrets sealed; at most two seconds old. */
  readonly currentSettings: () => Promise<Settings>;
  /** Tells `currentSettings` that this process has just changed them. */
  readonly settingsChanged: () => void;
  readonly applySettings: ApplySettings | null;
  readonly expectedOf: (versionId: number) => Promise<Expected | null>;
  readonly measuresChanged: () => Promise<void>;
  /** null: no data plane is connected. */
  readonly reconcileNodes: ((audit: AuditLog) => Promise<string>) | null;
  /** null: no data plane is connected. */
  readonly drainNode: ((url: string, isDraining: boolean) => Promise<boolean>) | null;
  /** null: no data plane is connected. */
  readonly rollouts: Rollouts | null;
  /** null: NODES_PORT is not set. */
  readonly nodePort: NodePort | null;
  /** null: no data plane is connected. */
  readonly nodeGates: NodeGates | null;
  /** null: no data plane is connected. */
  readonly nodeMetrics: (() => Promise<readonly OfNode<string>[]>) | null;
  /** null: no data plane is connected. */
  readonly tryRequests: TryRequests | null;
  readonly sandbox: RuleSandbox;
  readonly ruleSets: RuleSets;
  readonly licencePublicKey: string | null;
  /** Token between the two planes. */
  readonly nodeToken: string;
  /** Token of commands on this host, which have the environment file (backup/local-token.ts). */
  readonly localToken: string;
  /** null: this process was not started by the command that makes backups. */
  readonly runBackup: RunBackup | null;
  readonly backups: BackupStarter;
  /** null: this process was not started by the command that has them. */
  readonly backupTools: BackupTools | null;
  /** null: nothing is kept in files. */
  readonly dataDirectory: string | null;
  readonly torExitsUrl: string;
  readonly chromium: string | null;
  readonly brandName: string;
  readonly publicDemo: boolean;
  /** WAF_PORT: where clients reach protected sites. */
  readonly wafPort: number;
  readonly upstreams: UpstreamDefaults;
  readonly acme: AcmeEnv;
  /** Where clients are. */
  readonly locations: Locations;
  readonly loginsPerMinute: number;
}

/** What only a server with routes has. */
export interface HttpParts {
  /** Who may call what: the access rows of all features. */
  readonly matrix: RouteMatrix;
  /**
   * For answers that last: throws once the caller may not ask any more. Looking on is no activity, so the session does
   * not live longer by it.
   */
  readonly requireStillAdmitted: (request: FastifyRequest) => Promise<void>;
  readonly limitsState: () => SharedLimitsState;
  /** Whether a user may read what the audit log says of the vulnerability manager. */
  readonly seesVmAudit: (principal: Pick<Principal, 'userId' | 'role'>) => Promise<boolean>;
}

/** What features pick from. */
export type FeatureParts = Parts & HttpParts;

const loginsPerMinuteDefault = 20;
const wafPortDefault = Number(valueOf('WAF_PORT', {}));

export function createParts(deps: AppDeps): Parts {
  const { env, database, now, outbound, licencePublicKey, applySettings } = deps;
  const sealing = createSealing(env.settingsEncryptionSecret);
  const reader = createSettingsReader(database, now, deps.settingsFreshMs);
  const audit = createAuditLog(sealing, now);
  const runBackup = deps.runBackup ?? null;
  return {
    database,
    replica: deps.replica ?? null,
    now,
    outbound,
    sealing,
    licencePublicKey,
    applySettings,
    audit,
    hasher: createPasswordHasher(deps.passwordIterations),
    tokens: createSessionTokens(env.authSessionSecret, now),
    breachCheck: createBreachCheck(outbound, env.breachedPasswordsUrl, now),
    currentSettings: reader.current,
    settingsChanged: reader.forget,
    expectedOf: deps.expectedOf ?? (async () => null),
    measuresChanged: deps.measuresChanged ?? (async () => undefined),
    reconcileNodes: deps.reconcileNodes ?? null,
    drainNode: deps.drainNode ?? null,
    rollouts: deps.rollouts ?? null,
    nodePort: deps.nodePort ?? null,
    nodeGates: deps.nodeGates ?? null,
    nodeMetrics: deps.nodeMetrics ?? null,
    tryRequests: deps.tryRequests ?? null,
    sandbox: deps.sandbox ?? createRuleSandbox(),
    ruleSets: deps.ruleSets ?? fixedRuleSet(deps.crsDirectory ?? null),
    nodeToken: env.dataAdminToken,
    localToken: localTokenOf(env.authSessionSecret),
    runBackup,
    backups: createBackupStarter({ database, audit, now, runBackup, currentSettings: reader.current }),
    backupTools: deps.backupTools ?? null,
    dataDirectory: deps.dataDirectory ?? null,
    torExitsUrl: env.torExitsUrl,
    chromium: env.chromium ?? null,
    brandName: env.brand.name,
    publicDemo: deps.publicDemo ?? true,
    wafPort: deps.wafPort ?? wafPortDefault,
    upstreams: deps.upstreams ?? upstreamDefaults({}),
    acme: deps.acme ?? { email: '', directories: [], staging: null, caFile: null, dnsHook: null },
    locations: createLocations(deps.locationFiles ?? { country: null, network: null }, now),
    loginsPerMinute: deps.loginsPerMinute ?? loginsPerMinuteDefault,
  };
}
