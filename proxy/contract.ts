// What others may know of the data plane: the configuration it runs, the messages of its admin interface, the records
// that leave it. The consumer owns its contract: the control plane must produce exactly this.

export type Mode = 'On' | 'DetectionOnly';
/** What happens when inspection itself fails: closed = 503, open = forward uninspected. Either way it is recorded. */
export type FailMode = 'closed' | 'open';

export interface SiteConfig {
  readonly name: string;
  /** Path prefix, segment-aware: `/api` covers `/api` and `/api/…`, not `/apiary`. */
  readonly prefix: string;
  /** Host this site answers for, without port; null = any. */
  readonly host: string | null;
  /**
   * `http://host:port[/base]`. Without a path the request path goes on unchanged; with one (even `/`) it replaces the
   * prefix.
   */
  readonly upstream: string;
  readonly protected: boolean;
  readonly failMode: FailMode;
  /** Overrides the global mode when set, and that of the rules with it. */
  readonly mode: Mode | null;
  /** preserve: the upstream sees the client's Host; upstream: the upstream's own. */
  readonly hostPolicy: 'preserve' | 'upstream';
  readonly verifyUpstreamCertificate: boolean;
}

export interface Limits {
  readonly uriBytesMax: number; // beyond → 414
  readonly headerBytesMax: number; // all fields together; beyond → 431
  readonly headerFieldsMax: number; // beyond → 431
  readonly requestBodyBytesMax: number; // buffered for inspection; beyond → `requestBodyOverLimit`
  readonly requestBodyOverLimit: 'reject' | 'partial'; // 413, or inspect the part and stream the rest
  // all request bodies that are buffered at a time, per worker; beyond → 503 for the one that exceeds it
  readonly heldBodyBytesMax: number;
  readonly responseBodyBytesMax: number; // buffered for inspection; beyond: the part is inspected, the rest relayed
  readonly decodedBodyBytesMax: number; // of compressed responses; beyond: inspection works on the part
  readonly inlineInspectionBytesMax: number; // larger request bodies are inspected off the I/O thread
  readonly upstreamConnectionsMax: number; // per worker and upstream
  readonly upstreamWaitersMax: number; // requests waiting for a connection; beyond → 503
}

export interface Timeouts {
  readonly clientHeadMs: number; // whole request head; node listener only (see listeners/differences.ts)
  readonly clientBodyIdleMs: number; // between two pieces of a request body → 408
  // between two requests, and for a client that takes nothing of its response; node listener only
  readonly clientIdleMs: number;
  readonly upstreamConnectMs: number; // → 504
  readonly upstreamHeadMs: number; // → 504
  readonly upstreamBodyIdleMs: number; // → 504, or the connection is cut when the head was relayed
  readonly upstreamKeepAliveMs: number;
  readonly drainMs: number; // how long an old generation or a stopping worker may finish what it has
}

/** Which ordinary requests are kept whole for replays: one in `every`, at most `perSecondMax` a second, per worker. */
export interface ReplaySampling {
  readonly every: number; // 0 = none
  readonly perSecondMax: number;
}

export interface ProxyConfig {
  readonly mode: Mode;
  readonly sites: readonly SiteConfig[];
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  /** CIDRs of proxies in front whose X-Forwarded-For is believed; from others it is replaced. */
  readonly trustedProxies: readonly string[];
  /** Accept an X-Request-Id from trusted proxies instead of making one. */
  readonly acceptRequestId: boolean;
  readonly auditRequestBodyBytesMax: number; // of the request body in the audit log; 0 = none
  /** Absent in generations of older releases: the defaults. */
  readonly replaySampling?: ReplaySampling;
  /** The audit log is masked (mask.ts). Absent: it is not. */
  readonly privacyMode?: boolean;
  /**
   * The settings name no sites, so these are the two of the process environment (UPSTREAM_*). Absent: the settings name
   * them.
   */
  readonly sitesFromEnvironment?: boolean;
}

/** `PUT /generation`: JSON with the artifact's path, or its bytes in base64 (`artifactBase64`). */
export interface GenerationRequest {
  /** Chosen by the sender; strictly larger than the active one, or 0 to have it chosen. */
  readonly id: number;
  /** SHA-256 of the artifact's bytes, hex. */
  readonly sha256: string;
  /**
   * Where the bytes lie on this machine (`data/artifacts/<sha256>`); empty string when `artifactBase64` carries them.
   */
  readonly artifactPath: string;
  readonly artifactBase64?: string;
  readonly config: ProxyConfig;
  /**
   * `inspect` (default): a ruleset that misses the built-in probes is refused. `skip`: for rule sets without such
   * rules.
   */
  readonly selfTest?: 'inspect' | 'skip';
}

export type GenerationReply =
  | {
      readonly outcome: 'active';
      readonly id: number;
      readonly sha256: string;
      readonly workers: number;
      readonly isPersisted: boolean;
      readonly tookMs: number;
    }
  | {
      readonly outcome: 'refused';
      readonly id: number;
      readonly reason: string;
      readonly problems: readonly Problem[];
    };

/** Something wrong with input: where, what, how to mend it. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly mend: string;
}

export interface EventMessage {
  readonly ruleId: number;
  readonly message: string;
  readonly data: string;
  readonly match: string;
  readonly severity: string;
  readonly file: string;
  readonly lineNumber: number;
  readonly ver: string;
  readonly rev: string;
  readonly tags: readonly string[];
  readonly maturity: string;
  readonly accuracy: string;
}

export type EventVerdict = 'pass' | 'flag' | 'block' | 'engine-error';

/** The record of one transaction that matched a logging rule, was blocked, or could not be inspected. */
export interface SecurityEvent {
  readonly requestId: string;
  readonly atMs: number;
  readonly site: string;
  readonly generation: number;
  readonly verdict: EventVerdict;
  /** Of the site. */
  readonly mode: Mode;
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  readonly requestHeaders: readonly string[];
  /** latin1 text of the body's first bytes, or null. */
  readonly requestBody: string | null;
  readonly status: number;
  readonly responseHeaders: readonly string[];
  readonly interruption: {
    readonly ruleId: number;
    readonly action: string;
    readonly phase: number;
    readonly status: number;
  } | null;
  readonly messages: readonly EventMessage[];
  readonly inboundScore: number;
  readonly outboundScore: number;
  readonly phases: readonly number[];
  readonly truncated: boolean;
  readonly inspectionUs: number;
  readonly error: string | null;
}

export const defaultLimits: Limits = {
  uriBytesMax: 8192,
  headerBytesMax: 32_768,
  headerFieldsMax: 128,
  requestBodyBytesMax: 13_107_200,
  requestBodyOverLimit: 'reject',
  heldBodyBytesMax: 268_435_456,
  responseBodyBytesMax: 524_288,
  decodedBodyBytesMax: 2_097_152,
  inlineInspectionBytesMax: 32_768,
  upstreamConnectionsMax: 256,
  upstreamWaitersMax: 1024,
};

export const defaultTimeouts: Timeouts = {
  clientHeadMs: 15_000,
  clientBodyIdleMs: 30_000,
  clientIdleMs: 65_000,
  upstreamConnectMs: 5_000,
  upstreamHeadMs: 60_000,
  upstreamBodyIdleMs: 60_000,
  upstreamKeepAliveMs: 4_000,
  drainMs: 8_000,
};

export const defaultReplaySampling: ReplaySampling = { every: 100, perSecondMax: 5 };

// What both planes keep of requests goes through the same masks.
export { maskBody, maskDetails, maskHeaders, maskLevelOf, maskText, maskUri, type MaskLevel } from './masking/mask.js';

// What a producer of generations needs besides the types: settings → ProxyConfig, and the check made at the door.
export {
  auditRequestBodyBytesMaxMax,
  chooseSelfTest,
  formatProblems,
  limitFields,
  replaySamplingFields,
  requestBodyOverLimits,
  resolveProxyConfig,
  timeoutFields,
  upstreamDefaults,
  type NumberField,
} from './config.js';
export { changeThreatText } from './shared-state/threat-delta.js';
export type { ThreatDelta } from './shared-state/threat-delta.js';
