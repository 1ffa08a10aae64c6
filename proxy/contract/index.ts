// What others may know of the data plane: the configuration it runs, the messages of its admin interface, the records
// that leave it. The consumer owns its contract: the control plane must produce exactly this.
import type { SecondOpinion } from '#engine';
import type { ProxyConfig } from './proxy-config.js';

export type Mode = 'On' | 'DetectionOnly';
/** What happens when inspection itself fails: closed = 503, open = forward uninspected. Either way it is recorded. */
export type FailMode = 'closed' | 'open';

export type { ProxyConfig, SiteConfig } from './proxy-config.js';
export type Limits = ProxyConfig['limits'];
export type Timeouts = ProxyConfig['timeouts'];
/** Which ordinary requests are kept whole for replays: one in `every`, at most `perSecondMax` a second, per worker. */
export type ReplaySampling = ProxyConfig['replaySampling'];

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
  /** The same, compressed before; for nodes whose status says `takesGzip`. */
  readonly artifactGzipBase64?: string;
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

/** Something wrong with input: where, what, how to fix it. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly fix: string;
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

/** What the TLS handshake of a client's connection said. */
export interface EventTls {
  readonly version: string;
  /** null: the client asked for no name. */
  readonly server_name: string | null;
  /** null: it offered no protocol. */
  readonly alpn: string | null;
  readonly ja3: string;
  readonly ja4: string;
}

export type EventVerdict = 'pass' | 'flag' | 'block' | 'engine-error';

/** The record of one transaction that matched a logging rule, was blocked, or could not be inspected. */
/** What one gate made of a request, with its numbers; in the order in which they were asked. */
export interface EventGate {
  readonly gate: string;
  /** `pass`: it had nothing against the request. */
  readonly decision: 'pass' | 'deny' | 'throttle' | 'challenge' | 'flag';
  /** It ended the request; false where the site only detects, and for dry runs. */
  readonly enforced: boolean;
  readonly rule_id?: number;
  readonly status?: number;
  /** Of a limit: which, requests in a window, and how long until there is a place. */
  readonly zone?: string;
  readonly limit?: number;
  readonly window_seconds?: number;
  readonly remaining?: number;
  readonly retry_after_seconds?: number;
  readonly dry_run?: boolean;
}

export interface SecurityEvent {
  readonly requestId: string;
  readonly atMs: number;
  readonly site: string;
  readonly generation: number;
  readonly verdict: EventVerdict;
  /** What became of the request; left out: a message of a WebSocket. */
  readonly outcome?: 'served' | 'blocked' | 'flagged' | 'refused' | 'aborted' | 'failed';
  /** The gate that ended it, `rules` or `inspection failed`; null: none of them. */
  readonly endedBy?: string | null;
  /** Of the site. */
  readonly mode: Mode;
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  /** null, or left out: the connection came without TLS. */
  readonly tls?: EventTls | null;
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
  /** Left out: no gate was asked. */
  readonly gates?: readonly EventGate[];
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** null, or left out: the site wanted none, or there was nothing to have one about. */
  readonly secondOpinion?: SecondOpinion | null;
  readonly phases: readonly number[];
  readonly truncated: boolean;
  readonly inspectionUs: number;
  readonly error: string | null;
}

// What both planes keep of requests goes through the same masks.
export {
  isNamedSecret,
  maskBody,
  maskDetails,
  maskHeaders,
  maskLevelOf,
  maskText,
  maskUri,
  type MaskLevel,
} from '../masking/mask.js';

// What a producer of generations needs besides the types: settings → ProxyConfig.
export {
  chooseSelfTest,
  resolveProxyConfig,
  toProxyConfig,
  upstreamDefaults,
  type UpstreamDefaults,
} from './proxy-config.js';
export { pathAtUpstream } from './site-names.js';
export { isSameAddress, networkWith, systemNames } from '../admit/bots/crawler-check.js';
export { claimedCrawler, crawlers, proveCrawler, type CrawlerProof } from '../admit/bots/crawlers.js';
export { pipeline, type PipelineStage } from './pipeline.js';
export { readListed, writeListed, type ListedNetwork } from '../shared-state/expiring-networks.js';
export { changeMeasureText } from '../shared-state/measure-delta.js';
export { measureActions, writeMeasureKey, type MeasureAction } from '../shared-state/measure-line.js';
export type { MeasureDelta } from '../shared-state/measure-delta.js';
// What a node enforces of specifications: the control plane makes it.
export {
  schemaActions,
  type JsonSchema,
  type PlannedContent,
  type PlannedEncoding,
  type PlannedMedia,
  type PlannedOperation,
  type PlannedParameter,
  type SchemaAction,
  type SchemaPlan,
} from '../schema/plan.js';

// Specifications over recorded requests: the same closures as on a node.
export { SiteSchemas, siteSchemasOf, type KnownParts } from '../schema/site-schemas.js';
export { schemaRuleIdOf, schemaRuleIds } from '../schema/rule-ids.js';
export type { SchemaViolation } from '../schema/violation.js';
// What rules see of GraphQL: replays see the same.
export type { DeclaredGraphql, GraphqlConfig } from '../graphql/endpoints.js';
export { graphqlView, type GraphqlView } from '../graphql/view.js';

// What discovery is told, by nodes and by whoever else saw requests: one form for all of them.
export {
  certificateSubject,
  credentialKinds,
  keyedHash,
  Principals,
  type CredentialKind,
  type Principal,
} from '../observation/credential.js';
// How the control plane sends requests as clients of its own.
export {
  isSimulatedAddress,
  markMs,
  markOf,
  simulatedAddress,
  simulationField,
  simulationKeyOf,
} from '../simulation/mark.js';
export { observationKeyOf } from '../observation/key.js';
export { keyTableOf, type KeyTable } from '../fleet/installation-keys.js';
export { controlPlaneName, tunnelProtocol } from '../fleet/identity.js';
export { authorityProof, nonceBytes, sharedTokenId, sharedTokenSecret } from '../fleet/join-secret.js';
// Whom verdicts are about besides addresses.
export {
  keyOf as principalKeyOf,
  principalKinds,
  readKey as readPrincipalKey,
  type PrincipalKind,
  type PrincipalName,
} from '../features/principals.js';
export { isInternalAddress, TrafficObserver } from '../observation/observer.js';
export { isLoginPath, isPrivilegedPath } from '../observation/cell.js';
export { anyNoun, objectsOfPath, type ObjectId } from '../observation/objects.js';
export { objectHash } from '../observation/relations.js';
export {
  droppedSitesMax,
  sources as observationSources,
  type Counts,
  type CredentialCounts,
  type NestedCounts,
  type Observation,
  type ObservationBatch,
  type ObservationSource,
  type Relation,
  viaMax,
  type Sighting,
  type ViaObject,
} from '../observation/observation.js';
export {
  clientCountNames,
  noCounts,
  type ClientBatch,
  type ClientCount,
  type ClientWindow,
} from '../features/client-window.js';
export { isData, isStaticAsset, normalPath, pathOf, segmentsOf, shapeOf } from '../observation/path.js';
export { segmentKind, segmentKinds, type SegmentKind } from '../observation/segment-kind.js';
