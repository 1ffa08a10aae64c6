// The rule program: what the compiler hands to the engine, as plain data (msgpackr-able, printable, frozen after load).
// The consumer owns the contract: the engine says here what it can run, the compiler must produce exactly this.
//
// All rule text is "latin1": one UTF-16 code unit per byte of the source file. Names are canonical (upper-case
// variables, camel-case transformations and operators as in `engine/transformations/index.ts` and
// `engine/operators/index.ts`); spelling variants (`t:base64decode`, `t:normalisePath`, `@PM`) are resolved by the
// compiler.

/**
 * The five phases of the ModSecurity reference: request headers, request body, response headers, response body,
 * logging.
 */
export type Phase = 1 | 2 | 3 | 4 | 5;

/** Text with macros, split at compile time: literal strings and `%{COLLECTION.key}` references, in order. */
export type Template = readonly (string | MacroRef)[];
export interface MacroRef {
  /** Upper-case variable name: TX, MATCHED_VAR, RULE, REQUEST_HEADERS, … */
  readonly variable: string;
  /** Lower-cased member for collections (`tx.foo` → foo); null for a scalar. */
  readonly key: string | null;
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string } // compared case-insensitively; stored lower-cased
  | { readonly kind: 'regex'; readonly source: string } // ARGS:/^id_/ ; PCRE, matched caselessly against the name
  | { readonly kind: 'xpath'; readonly expression: string }; // XML:/* and XML://@*

export interface TargetIR {
  readonly variable: string; // canonical, e.g. ARGS, REQUEST_HEADERS, TX
  readonly selector: Selector | null;
  readonly count: boolean; // &ARGS
}

export interface OperatorIR {
  readonly name: string; // canonical without "@": rx, pmFromFile, …
  readonly negated: boolean;
  /** The argument as written (files resolved into `phrases`). */
  readonly argument: string;
  /** Non-null when the argument contains macros; the engine expands it per transaction. */
  readonly template: Template | null;
  /** pm, pmFromFile, ipMatchFromFile: the phrases or networks, one each; null otherwise. */
  readonly phrases: readonly string[] | null;
}

export type SetvarOperation = 'set' | 'add' | 'subtract' | 'unset';

/**
 * Non-disruptive actions, as ModSecurity v3 runs them: setvar for every value that matches its link, even where the
 * chain later fails; the others once, when the whole chain matched, the last link's first.
 */
export type ActionIR =
  | {
      readonly kind: 'setvar';
      readonly collection: string;
      readonly key: Template;
      readonly operation: SetvarOperation;
      readonly value: Template;
    }
  | { readonly kind: 'expirevar'; readonly collection: string; readonly key: Template; readonly seconds: Template }
  | {
      readonly kind: 'deprecatevar';
      readonly collection: string;
      readonly key: Template;
      readonly amount: number;
      readonly everySeconds: number;
    }
  // collection: IP, GLOBAL, RESOURCE, USER, SESSION
  | { readonly kind: 'initcol'; readonly collection: string; readonly key: Template }
  | { readonly kind: 'setsid' | 'setuid' | 'setrsc'; readonly value: Template }
  | { readonly kind: 'setenv'; readonly name: string; readonly value: Template }
  | { readonly kind: 'ctl'; readonly control: ControlIR };

export type ControlIR =
  | { readonly kind: 'ruleEngine'; readonly value: EngineMode }
  | { readonly kind: 'auditEngine'; readonly value: 'On' | 'Off' | 'RelevantOnly' }
  | { readonly kind: 'auditLogParts'; readonly operation: 'add' | 'remove' | 'set'; readonly parts: string }
  | {
      readonly kind: 'requestBodyAccess' | 'responseBodyAccess' | 'forceRequestBodyVariable' | 'parseXmlIntoArgs';
      readonly value: boolean;
    }
  // URLENCODED, MULTIPART, JSON, XML, RAW (upper-case)
  | { readonly kind: 'requestBodyProcessor'; readonly value: string }
  | { readonly kind: 'requestBodyLimit' | 'responseBodyLimit' | 'debugLogLevel'; readonly value: number }
  | { readonly kind: 'ruleRemoveById'; readonly ranges: readonly (readonly [number, number])[] }
  // tag: exact or regex match as ModSecurity v3 does; msg: exact
  | { readonly kind: 'ruleRemoveByTag' | 'ruleRemoveByMsg'; readonly pattern: string }
  | {
      readonly kind: 'ruleRemoveTargetById';
      readonly ranges: readonly (readonly [number, number])[];
      readonly target: TargetIR;
    }
  | {
      readonly kind: 'ruleRemoveTargetByTag' | 'ruleRemoveTargetByMsg';
      readonly pattern: string;
      readonly target: TargetIR;
    };

export type EngineMode = 'On' | 'Off' | 'DetectionOnly';

/** What happens when the whole chain matched; `block` has already been replaced by the phase's SecDefaultAction. */
export type DisruptiveIR =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny' | 'drop'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly url: Template }
  | { readonly kind: 'allow'; readonly scope: 'all' | 'phase' | 'request' };

/** One link of a chain; an ordinary rule is a chain of one. */
export interface LinkIR {
  /** Empty for SecAction, which always matches. */
  readonly targets: readonly TargetIR[];
  /** `!ARGS:foo` and what SecRuleUpdateTarget… removed. */
  readonly exclusions: readonly TargetIR[];
  readonly operator: OperatorIR | null; // null = SecAction
  /** Canonical names in order; `none` already applied and dropped. */
  readonly transformations: readonly string[];
  readonly multiMatch: boolean;
  readonly capture: boolean;
  readonly actions: readonly ActionIR[];
  readonly msg: Template | null;
  readonly logdata: Template | null;
  readonly file: number; // index into Program.files
  readonly line: number; // 1-based
}

export interface RuleIR {
  readonly kind: 'rule';
  readonly index: number; // position in Program.items
  readonly id: number; // 0 when a rule has none
  readonly phase: Phase;
  readonly links: readonly LinkIR[]; // [head, …]
  readonly disruptive: DisruptiveIR;
  readonly log: boolean;
  readonly auditlog: boolean;
  readonly severity: number | null; // 0 EMERGENCY … 7 DEBUG; the head's, else that of the first link that has one
  /** The highest (numerically lowest) severity of all links, for HIGHEST_SEVERITY; absent where it is `severity`. */
  readonly chainSeverity?: number;
  readonly tags: readonly string[]; // may hold macros as text; expanded when logged
  readonly ver: string | null;
  readonly rev: string | null;
  readonly maturity: number | null;
  readonly accuracy: number | null;
  readonly skip: number; // rules to skip after a match, 0 = none
  readonly skipAfter: string | null; // marker name or rule id as text
  readonly xmlns: readonly (readonly [string, string])[];
}
export interface MarkerIR {
  readonly kind: 'marker';
  readonly index: number;
  readonly name: string;
}

/**
 * Directives that are settings rather than rules; every one has a default so that an empty configuration is runnable.
 */
export interface EngineSettings {
  readonly ruleEngine: EngineMode;
  readonly requestBodyAccess: boolean;
  readonly requestBodyLimitBytes: number;
  readonly requestBodyNoFilesLimitBytes: number;
  readonly requestBodyLimitAction: 'Reject' | 'ProcessPartial';
  readonly requestBodyJsonDepthMax: number;
  readonly argumentsMax: number;
  readonly argumentSeparator: string; // one character
  readonly responseBodyAccess: boolean;
  readonly responseBodyLimitBytes: number;
  readonly responseBodyLimitAction: 'Reject' | 'ProcessPartial';
  readonly responseBodyMimeTypes: readonly string[];
  readonly uploadFilesMax: number;
  readonly collectionTimeoutSeconds: number;
  readonly componentSignatures: readonly string[];
  readonly serverSignature: string | null;
  readonly webAppId: string;
  readonly auditEngine: 'On' | 'Off' | 'RelevantOnly';
  readonly auditLogParts: string;
  readonly auditLogRelevantStatus: string | null;
  /**
   * Code points ≥ 0x100 → byte, for `%uXXXX` (SecUnicodeMapFile); pairs flattened [codePoint, byte, …]; null = none
   * loaded.
   */
  readonly unicodeMap: readonly number[] | null;
}

export interface Program {
  /** Bumped whenever the meaning of any field changes; a loader refuses other numbers. */
  readonly version: 1;
  readonly settings: EngineSettings;
  /** Load order across all phases, markers included. `items[i].index === i`. */
  readonly items: readonly (RuleIR | MarkerIR)[];
  /** Rules of each phase in order, as indexes into `items`; markers are in every phase's list. phases[0] is unused. */
  readonly phases: readonly (readonly number[])[];
  readonly files: readonly string[];
}

export const defaultEngineSettings: EngineSettings = {
  ruleEngine: 'Off',
  requestBodyAccess: true, // as ModSecurity v3 without the directive: only an explicit Off leaves bodies unread
  requestBodyLimitBytes: 134_217_728,
  requestBodyNoFilesLimitBytes: 1_048_576,
  requestBodyLimitAction: 'Reject',
  requestBodyJsonDepthMax: 10_000,
  argumentsMax: 1000,
  argumentSeparator: '&',
  responseBodyAccess: false,
  responseBodyLimitBytes: 524_288,
  // as ModSecurity v3 without the directive: a long page is no reason to refuse it
  responseBodyLimitAction: 'ProcessPartial',
  responseBodyMimeTypes: ['text/plain', 'text/html'],
  uploadFilesMax: 100,
  collectionTimeoutSeconds: 3600,
  componentSignatures: [],
  serverSignature: null,
  webAppId: 'default',
  auditEngine: 'Off',
  auditLogParts: 'ABIJDEFHZ',
  auditLogRelevantStatus: null,
  unicodeMap: null,
};
