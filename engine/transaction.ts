// One request's inspection state: what was collected, TX, matches, the interruption. It holds state and nothing else:
// variables come from targets.ts, bodies from body/, formatting from the caller.
import type { BodySink } from './body/body.js';
import { Collection } from './collection.js';
import type { ControlIR, EngineMode, RuleIR } from './ir.js';
import type { CollectionStore, PersistentRecord } from './store.js';

/** Request head exactly as on the wire; latin1 strings, one code unit per byte. */
export interface RequestHead {
  readonly method: string;
  /** The request-target as sent (REQUEST_URI_RAW). */
  readonly uri: string;
  /** `HTTP/1.1`, as sent. */
  readonly protocol: string;
  /** Flat [name, value, name, value, …] in wire order, names in the client's spelling, values trimmed of optional whitespace. */
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
}

export interface MatchedRule {
  readonly rule: RuleIR;
  readonly phase: number;
  /** Name as ModSecurity prints it, e.g. `ARGS:id`; of the head link's last match… */
  readonly variable: string;
  /** …and its transformed value. */
  readonly value: string;
  readonly msg: string;
  readonly logdata: string;
  readonly tags: readonly string[]; // macros expanded
}

export interface Interruption {
  readonly ruleId: number;
  readonly action: 'deny' | 'drop' | 'redirect';
  readonly status: number;
  readonly phase: number;
  /** Redirect location, else ''. */
  readonly data: string;
}

export class Transaction {
  request!: RequestHead;
  environment!: TransactionEnvironment;
  response: ResponseHead | null = null;
  requestBody: Buffer | null = null;
  responseBody: Buffer | null = null;
  /** Size on the wire before any limit was applied. */
  requestBodyBytes = 0;
  responseBodyBytes = 0;

  readonly requestHeaders = new Collection();
  readonly requestCookies = new Collection();
  readonly argsGet = new Collection();
  readonly responseHeaders = new Collection();
  readonly body: BodySink = {
    argsPost: new Collection(),
    files: new Collection(),
    filesNames: new Collection(),
    filesSizes: new Collection(),
    filesTmpNames: new Collection(),
    filesTmpContent: new Collection(),
    multipartFilename: new Collection(),
    multipartName: new Collection(),
    multipartPartHeaders: new Collection(),
    xmlText: [],
    xmlAttributes: [],
    multipartFlags: new Map(),
  };
  /** Scalars that are fixed once known (REQUEST_URI, REQBODY_PROCESSOR, REQBODY_ERROR…), by canonical name. */
  readonly scalars = new Map<string, string>();
  readonly tx = new Map<string, string>();
  readonly env = new Map<string, string>();
  /** Open persistent collections by upper-case name (IP, GLOBAL, RESOURCE, USER, SESSION). */
  readonly persistent = new Map<string, PersistentRecord>();

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
  readonly removals: Extract<ControlIR, { kind: `ruleRemove${string}` }>[] = [];

  phase = 0;
  readonly matched: MatchedRule[] = [];
  /** Set once, by the first disruptive rule with the engine On. */
  interruption: Interruption | null = null;
  /** The first interruption that DetectionOnly withheld. */
  withheldInterruption: Interruption | null = null;
  /** `allow` scopes in force. */
  allowed: 'none' | 'phase' | 'request' | 'all' = 'none';
  inspectionTruncated = false;

  // MATCHED_VAR and friends: of the rule (link) evaluated last.
  matchedVar = '';
  matchedVarName = '';
  readonly matchedVars = new Collection(); // names = full variable names
  /** Highest (numerically lowest) severity matched so far; 255 = none, as in ModSecurity. */
  highestSeverity = 255;
}
