// How a data plane is started, and what whoever started it holds in hand.
import type { RedisAddress } from '#settings/environment';
import type { UpstreamDefaults } from '../contract/proxy-config.js';
import type { IdentityStore } from '../fleet/identity.js';
import type { GenerationReply, ProxyConfig } from '../contract/index.js';
import type { ListenerKind } from '../listeners/listener.js';
import type { ControlPlaneAddress } from '../records/control-plane-client.js';
import type { SocketStore } from './start/kept-sockets.js';

/** What to serve before the control plane has spoken. */
export interface InitialGeneration {
  readonly config: ProxyConfig;
  /** Compiled rules; null = none (protected sites then answer by their failMode). */
  readonly artifact: Uint8Array | null;
  readonly selfTest?: 'inspect' | 'skip';
}

export interface DataPlaneOptions {
  readonly host: string;
  readonly port: number; // 0 = any free one
  /** The TLS edge; null or left out: there is none. */
  readonly tls?: {
    readonly port: number; // 0 = any free one
    /** Left out: as `host`. */
    readonly host?: string;
    /** Folder of certificates and keys; null or left out: `dataDir/tls`. */
    readonly certificates?: string | null;
  } | null;
  readonly adminHost: string;
  readonly adminPort: number; // 0 = any free one
  /** null: made and kept in `dataDir/admin-token`. */
  readonly adminToken: string | null;
  readonly workers: number | 'auto';
  readonly listener: ListenerKind | 'auto';
  /** Holds current.json, artifacts/, log/audit.jsonl, admin-token. */
  readonly dataDir: string;
  readonly initial: InitialGeneration;
  /**
   * Start from dataDir/current.json when there is one, not from `initial`. Where it or its rules cannot be used and
   * there is a control plane (`shipping`), protected sites answer 503 until that has spoken; without one, the rules of
   * `initial` serve (first-generation.ts).
   */
  readonly resume: boolean;
  /** With `resume`: a control plane gave this node its settings before, so that no current.json means a lost one. */
  readonly wasManaged?: boolean;
  /**
   * Given: a resumed generation whose sites came from the environment gets these instead of those it was stored with.
   * For a node that shares its environment with its control plane; elsewhere the control plane knows the upstreams and
   * the node does not.
   */
  readonly upstreams?: UpstreamDefaults | null;
  /** SIGHUP: what to serve now. Null result = keep what serves. */
  readonly reread: (() => Promise<InitialGeneration | null>) | null;
  readonly handlesSignals: boolean;
  /** Test doubles; default the engine. */
  readonly inspectionModule?: string;
  readonly logLevel?: string;
  /** Threads for large bodies, per worker; 0 = inspect inline. */
  readonly inspectionThreads?: number;
  readonly auditRotateBytes?: number;
  /** Where nodes share rate limits (rl_distributed); `prefix` null: made of the admin token. Default none. */
  readonly redis?: { readonly address: RedisAddress; readonly prefix: string | null } | null;
  /** The control plane that gets a line per request and the security events; default none. */
  readonly shipping?: (ControlPlaneAddress & { readonly node?: string }) | null;
  /** Of this program, for `GET /status`; by default none is given. */
  readonly release?: string;
  /**
   * Of a node that enrolled: tunnels are kept, and keys come from it. Default none: the admin token stands for both.
   */
  readonly identity?: IdentityStore | null;
  /** At the end of an orderly stop, when everything was sent; what it rejects with is logged. */
  readonly afterStop?: () => Promise<unknown>;
  /** Keeps the listening sockets over a restart (start/kept-sockets.ts); default none: they end with the process. */
  readonly socketStore?: SocketStore | null;
}

export interface DataPlane {
  readonly ports: { readonly http: number; readonly admin: number; readonly tls: number | null };
  readonly adminToken: string;
  readonly listener: ListenerKind;
  readonly workers: number;
  activate(request: unknown): Promise<GenerationReply>;
  status(): Promise<Record<string, unknown>>;
  /** Whether a worker takes connections. */
  isServing(): boolean;
  stop(): Promise<void>;
}
