// The plan: how the compiled engine finds the few rules worth running. Written by the compiler (compiler/passes,
// compiler/plan), read by engine/compiled. Everything in it is a NECESSARY condition or a proven constant: a plan may
// only say "cannot match" or "maybe"; the shared evaluator says "matches". The program itself stays whole beside it,
// so that the oracle interpreter can run the very same artifact without the plan.
import type { PatternSpec } from '../native/matcher.js';

/**
 * An atom is one distinct question about a value: does operator O with argument A hold on pipeline P of the value?
 * Its operator is that of `items[item].links[link]`; all links that ask the same share the atom.
 */
export interface AtomIR {
  /** Index into PlanIR.pipelines: what the scan applies; `lowercase` may be folded into the pattern. */
  readonly pipeline: number;
  readonly item: number;
  readonly link: number;
}

/** Scans of values after one pipeline. `pipeline` 0 is the identity. */
export interface GroupIR {
  readonly pipeline: number;
  /** Index into PlanIR.databases, or -1. */
  readonly database: number;
  /**
   * Same questions for values whose bytes all lie in alphabets[i]; parallel to PlanIR.alphabets; -1 = nothing can
   * match: no scan at all.
   */
  readonly byAlphabet: readonly number[];
}

/**
 * All pipelines that have one transformation, for texts that only those make: they look like nothing the others ask
 * about.
 */
export interface FamilyIR {
  readonly transformation: string;
  /** As a union: hits count for the pipelines that made the text. */
  readonly group: GroupIR;
}
/** Families of a scan class; their bits fit an integer. */
export const familiesMax = 24;

/**
 * Where values come from, each with the seclang variables it feeds. A source is collected once per transaction, in the
 * phase that knows it first. The Cookie header is a source of its own because most rules exclude it from
 * REQUEST_HEADERS and its value is new in nearly every request.
 */
export const scanSources = {
  argGetValue: { variables: ['ARGS', 'ARGS_GET'], phase: 1 },
  argGetName: { variables: ['ARGS_NAMES', 'ARGS_GET_NAMES'], phase: 1 },
  cookieValue: { variables: ['REQUEST_COOKIES'], phase: 1 },
  cookieName: { variables: ['REQUEST_COOKIES_NAMES'], phase: 1 },
  headerValue: { variables: ['REQUEST_HEADERS'], phase: 1 },
  cookieHeader: { variables: ['REQUEST_HEADERS'], phase: 1 },
  headerName: { variables: ['REQUEST_HEADERS_NAMES'], phase: 1 },
  requestFilename: { variables: ['REQUEST_FILENAME'], phase: 1 },
  requestBasename: { variables: ['REQUEST_BASENAME'], phase: 1 },
  requestUri: { variables: ['REQUEST_URI'], phase: 1 },
  requestUriRaw: { variables: ['REQUEST_URI_RAW'], phase: 1 },
  requestLine: { variables: ['REQUEST_LINE'], phase: 1 },
  queryString: { variables: ['QUERY_STRING'], phase: 1 },
  argPostValue: { variables: ['ARGS', 'ARGS_POST'], phase: 2 },
  argPostName: { variables: ['ARGS_NAMES', 'ARGS_POST_NAMES'], phase: 2 },
  requestBody: { variables: ['REQUEST_BODY'], phase: 2 },
  fileName: { variables: ['FILES'], phase: 2 },
  fileField: { variables: ['FILES_NAMES'], phase: 2 },
  multipartFilename: { variables: ['MULTIPART_FILENAME'], phase: 2 },
  multipartName: { variables: ['MULTIPART_NAME'], phase: 2 },
  multipartPartHeader: { variables: ['MULTIPART_PART_HEADERS'], phase: 2 },
  xml: { variables: ['XML'], phase: 2 },
  responseHeader: { variables: ['RESPONSE_HEADERS'], phase: 3 },
  responseHeaderName: { variables: ['RESPONSE_HEADERS_NAMES'], phase: 3 },
  responseBody: { variables: ['RESPONSE_BODY'], phase: 4 },
} as const satisfies Record<string, { readonly variables: readonly string[]; readonly phase: number }>;
export type ScanSource = keyof typeof scanSources;

/** Values of these sources are scanned for the same atoms. */
export interface ScanClassIR {
  readonly sources: readonly ScanSource[];
  /**
   * `union`: every pattern of the class whatever its pipeline, for values that no pipeline changes (P(v) = v makes a
   * hit of P's pattern on v valid) and for results that several pipelines share.
   */
  readonly union: GroupIR;
  /** One group for each pipeline but the identity that has automaton atoms. */
  readonly groups: readonly GroupIR[];
  /** Smallest first; at most `familiesMax`. */
  readonly families: readonly FamilyIR[];
  /** Atoms answered by RE2 sets: Hyperscan refuses or only approximates their patterns. */
  readonly sets: readonly RegexSetIR[];
  /** Atoms answered by calling the operator (libinjection, validateByteRange, …). */
  readonly called: readonly CalledAtomIR[];
}

export interface RegexSetIR {
  readonly pipeline: number;
  /** RE2 syntax over code points 0–255, parallel to `atoms`. */
  readonly sources: readonly string[];
  readonly atoms: readonly number[];
  /**
   * Parallel to PlanIR.alphabets: true = for a value made of these bytes only, none of them can match or the class's
   * union answers.
   */
  readonly settledByAlphabet: readonly boolean[];
}

export interface CalledAtomIR {
  readonly atom: number;
  readonly pipeline: number;
  /** Bytes of which one must occur for the operator to hold; null = call always. */
  readonly neededBytes: readonly number[] | null;
}

export interface DatabaseIR {
  /** Hash of the pattern list, library and version: equal keys hold equal bytes. */
  readonly key: string;
  readonly patterns: readonly PatternSpec[];
  /** Pattern id → atom. */
  readonly atomOf: readonly number[];
}

/** What folding finds out of a program, under one assumption about TX at the beginning. */
export interface FoldedIR {
  /** Items still to run in each phase (index 0 unused), in order; what was folded away is absent. */
  readonly active: readonly (readonly number[])[];
  /**
   * Items of `active` whose every link is proven to match whenever the rule is reached (it may still be removed at run
   * time).
   */
  readonly certain: readonly number[];
  /** TX as it is after the folded items. */
  readonly initialTx: readonly (readonly [string, string])[];
  /** Operator arguments whose macros are constants: [item, link, argument]. */
  readonly constantArguments: readonly (readonly [number, number, string])[];
}

/** The program folded for requests of one policy: `key` is TX.gatehouse_policy, null where the request names none. */
export interface PolicyPlanIR extends FoldedIR {
  readonly key: string | null;
}

/** Its own `FoldedIR` members hold whatever policy a request has; automata are planned from them, for all policies. */
export interface PlanIR extends FoldedIR {
  readonly pipelines: readonly (readonly string[])[]; // [0] = []
  readonly atoms: readonly AtomIR[];
  readonly classes: readonly ScanClassIR[];
  readonly databases: readonly DatabaseIR[];
  /** Nested alphabets, smallest first, each as a string of its bytes. */
  readonly alphabets: readonly string[];
  /**
   * For item, link: the atoms of which one must hold on one of the link's values (several with multiMatch), or null
   * when the link is not scanned. At most one link of a rule is: the first that can be, when no link before it acts on
   * a match (isActingLink). `linkAtoms[item]` is null for markers and for folded items.
   */
  readonly linkAtoms: readonly (readonly (readonly number[] | null)[] | null)[];
  /** One for each policy that the program asks for; absent or empty: it asks for none. */
  readonly policies?: readonly PolicyPlanIR[];
}
