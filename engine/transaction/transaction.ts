// One request's inspection state: what was collected, TX, matches, the interruption. It holds state and nothing else,
// and knows neither engine: variables come from variables/, bodies from body/, formatting from the caller.
import type { BodySink } from '../body/body.js';
import { bodyCollections, createBodySink } from '../body/empty-sink.js';
import { Collection } from './collection.js';
import type { ControlIR, EngineMode, EngineSettings, RuleIR } from '../program/ir.js';
import type { Evidence, OpinionMode, SecondOpinion } from '../second-opinion/opinion.js';
import { noOrigins, type Origins } from './origins.js';
import type { CollectionStore, PersistentRecord } from './store.js';
import { TxVariables } from './tx-variables.js';

/** Request head exactly as on the wire; latin1 strings, one code unit per byte. */
export interface RequestHead {
  readonly method: string;
  /** The request-target as sent (REQUEST_URI_RAW). */
  readonly uri: string;
  /** `HTTP/1.1`, as sent. */
  readonly protocol: string;
  /**
   * Flat [name, value, name, value, …] in wire order, names in the client's spelling, values trimmed of optional
   * whitespace.
   */
  readonly headers: readonly string[];
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
}
export interface ResponseHead {
  readonly status: number;
  readonly protocol: string;
  readonly headers: readonly string[]; // flat, latin1
}

/** Ambient things are arguments: the engine has no clock, no randomness, no I/O. */
export interface TransactionEnvironment {
  readonly uniqueId: string;
  /** Wall clock, milliseconds since the epoch (UTC), at the start of the request. */
  readonly nowMs: number;
  readonly store: CollectionStore;
  /** Which of a program's policies the request has; sets TX.gatehouse_policy. Absent or null: none is named. */
  readonly policy?: string | null;
  /** What the request's site wants of the second opinion; absent or null: nothing. */
  readonly secondOpinion?: OpinionMode | null;
  /** Milliseconds since `nowMs`, for DURATION; absent = DURATION is 0. */
  readonly elapsedMs?: () => number;
}

export interface MatchedRule {
  readonly rule: RuleIR;
  readonly phase: number;
  /**
   * Name as ModSecurity prints it, e.g. `ARGS:id`; '' for SecAction. Of the last link's last match, as ModSecurity v3
   * logs it…
   */
  readonly variable: string;
  /** …and its transformed value. */
  readonly value: string;
  readonly msg: string;
  readonly logdata: string;
  readonly tags: readonly string[]; // macros expanded
  /** Request data that `value` was made of, and that msg, logdata and tags quote (origins.ts). */
  readonly valueOrigins: Origins;
  readonly textOrigins: Origins;
}

export interface Interruption {
  readonly ruleId: number;
  readonly action: 'deny' | 'drop' | 'redirect';
  readonly status: number;
  readonly phase: number;
  /** Redirect location, else ''. */
  readonly data: string;
}

/** Run-time removals: what `ctl:ruleRemove…` put in force. */
export type RemovalIR = Extract<ControlIR, { kind: `ruleRemove${string}` }>;

/**
 * Once an affected-rule bitmap is known for a removal it rides along with it, so that the question "is this rule
 * removed?" is an array look-up (see evaluate/removals.ts).
 */
export interface Removal {
  readonly control: RemovalIR;
  /** 1 at the index of every rule of the program that the removal names. */
  readonly affected: Uint8Array;
}

function frozenCollection(): Collection {
  const collection = new Collection();
  Object.freeze(collection.names);
  Object.freeze(collection.values);
  return Object.freeze(collection) as Collection;
}
const noMembers = frozenCollection();
const noVariables: ReadonlyMap<string, string> = new Map();
const noRecords: ReadonlyMap<string, PersistentRecord> = new Map();
const noBody: BodySink = Object.freeze({
  ...createBodySink(),
  ...Object.fromEntries(bodyCollections.map((name) => [name, noMembers])),
  xmlText: Object.freeze([]) as unknown as string[],
  xmlAttributes: Object.freeze([]) as unknown as string[],
  xmlExternal: Object.freeze([]) as unknown as string[],
});

export class Transaction {
  /** `baseTx`: TX variables that every transaction of the rule set begins with. */
  constructor(baseTx?: ReadonlyMap<string, string>) {
    this.tx = new TxVariables(baseTx);
  }

  request!: RequestHead;
  environment!: TransactionEnvironment;
  settings!: EngineSettings;
  response: ResponseHead | null = null;
  requestBody: Buffer | null = null;
  responseBody: Buffer | null = null;
  /** Size on the wire before any limit was applied. */
  requestBodyBytes = 0;
  responseBodyBytes = 0;

  readonly requestHeaders = new Collection();
  // What most requests do not have (cookies, a body, a response, ENV, persistent records) is one frozen empty object
  // for all of them until somebody fills it: the fill functions of session.ts and actions/ put a fresh one in its
  // place.
  requestCookies: Collection = noMembers;
  readonly argsGet = new Collection();
  responseHeaders: Collection = noMembers;
  body: BodySink = noBody;
  // Parts of the request-target, split once at `begin`; see parse/request-target.ts for their meaning.
  requestUri = '';
  requestFilename = '';
  requestBasename = '';
  queryString = '';
  /**
   * Costly scalars (REQUEST_BODY, FULL_REQUEST, ARGS_COMBINED_SIZE…) by canonical name, computed when first asked for.
   */
  readonly scalars = new Map<string, string>();
  reqbodyError = false;
  reqbodyErrorMsg = '';
  inboundDataError = false;
  outboundDataError = false;
  urlencodedError = false;
  responseContentType = '';
  sessionId = '';
  userId = '';
  readonly tx: TxVariables;
  env: ReadonlyMap<string, string> = noVariables;
  /** Open persistent collections by upper-case name (IP, GLOBAL, RESOURCE, USER, SESSION). */
  persistent: ReadonlyMap<string, PersistentRecord> = noRecords;

  engineMode: EngineMode = 'Off';
  auditEngine: 'On' | 'Off' | 'RelevantOnly' = 'Off';
  auditLogParts = '';
  requestBodyAccess = false;
  responseBodyAccess = false;
  forceRequestBodyVariable = false;
  parseXmlIntoArgs = false;
  requestBodyProcessor = '';
  requestBodyLimitBytes = 0;
  responseBodyLimitBytes = 0;
  /** Run-time removals (`ctl:ruleRemove…`), consulted before a rule or target is evaluated. */
  readonly ruleRemovals: Removal[] = [];
  readonly targetRemovals: Removal[] = [];

  phase = 0;
  readonly phasesRun: number[] = [];
  /** The rule being evaluated or whose actions run, for RULE and the logging macros. */
  rule: RuleIR | null = null;
  /** Set by `skip` and `skipAfter` of the rule that just matched; the phase loop consumes and clears them. */
  skipRules = 0;
  skipAfter: string | null = null;
  readonly matched: MatchedRule[] = [];
  /** Set once, by the first disruptive rule with the engine On. */
  interruption: Interruption | null = null;
  /** The first interruption that DetectionOnly withheld. */
  withheldInterruption: Interruption | null = null;
  /** `allow` scopes in force. */
  allowed: 'none' | 'phase' | 'request' | 'all' = 'none';
  inspectionTruncated = false;

  /** What the site wants of the second opinion (second-opinion/); null: nothing. */
  opinionMode: OpinionMode | null = null;
  /** Values that rules matched, while the second opinion is wanted; null: it is not. */
  evidence: Evidence[] | null = null;
  /** There was more than is noted. */
  evidenceIsCut = false;
  opinion: SecondOpinion | null = null;

  /** Of TX variables that were made of request data, by key; null = none. */
  txOrigins: Map<string, Origins> | null = null;
  /** Of `matchedVar`. */
  matchedOrigins: Origins = noOrigins;
  /** Of `matchedVars`. */
  ruleOrigins: Origins = noOrigins;
  // MATCHED_VAR and friends: of the rule (link) evaluated last.
  matchedVar = '';
  matchedVarName = '';
  readonly matchedVars = new Collection(); // names = full variable names
  /** One of them is a member of TX. */
  matchedVarsHoldTx = false;
  /** Highest (numerically lowest) severity matched so far; 255 = none, as in ModSecurity. */
  highestSeverity = 255;
}
