import type { Collection } from '../transaction/collection.js';

/** Where a body processor writes what it found. Collections are the transaction's own. All text is latin1. */
export interface BodySink {
  readonly argsPost: Collection; // urlencoded fields, multipart fields, flattened JSON, (XML with parseXmlIntoArgs)
  readonly files: Collection; // FILES: name = form field, value = file name as the client sent it
  readonly filesNames: Collection; // FILES_NAMES: name = value = form field name, as ModSecurity v3
  readonly filesSizes: Collection; // FILES_SIZES: name = form field, value = decimal byte count
  readonly filesTmpNames: Collection;
  readonly filesTmpContent: Collection;
  readonly multipartFilename: Collection;
  readonly multipartName: Collection;
  /** name = field name, value = "Header: value" without its line end (folded lines joined by a blank), as in v3. */
  readonly multipartPartHeaders: Collection;
  readonly xmlText: string[]; // XML:/* — all text as ModSecurity v3 gives it, then piece by piece (xml.ts)
  readonly xmlAttributes: string[]; // XML://@*
  /** XML_EXTERNAL — what the document would have its reader fetch, in document order: `DOCTYPE http://…` */
  readonly xmlExternal: string[];
  /**
   * MULTIPART_* flags by variable name, '0' or '1' (MULTIPART_UNMATCHED_BOUNDARY also '2'); filled by the MULTIPART
   * processor only, MULTIPART_STRICT_ERROR included (multipartStrictError in multipart.ts derives it).
   */
  readonly multipartFlags: Map<string, string>;
}

export interface BodyLimits {
  // how many this body may still add (SecArgumentsLimit less those of the query string): what exceeds it is not added,
  // and the processor reports an error where ModSecurity does
  readonly argumentsMax: number;
  readonly jsonDepthMax: number;
  readonly noFilesBytesMax: number; // SecRequestBodyNoFilesLimit
  readonly uploadFilesMax: number;
  readonly argumentSeparator: string;
  /**
   * What stands before an array index in flattened JSON names. Absent or '' gives `json.a.0` (ModSecurity 2, Coraza);
   * 'array_' gives `json.a.array_0` (libmodsecurity 3).
   */
  readonly jsonArrayPrefix?: string;
  /** JSON: bytes of names that this document may make. Absent = `repeatedBytesMax` of the document. */
  readonly nameBytesMax?: number;
  /**
   * XML: also add the text of every element without child elements to argsPost, as `xml.root.child`. Absent = false.
   */
  readonly parseXmlIntoArgs?: boolean;
}

export interface BodyOutcome {
  /** null = parsed; else REQBODY_ERROR=1 with this REQBODY_ERROR_MSG / REQBODY_PROCESSOR_ERROR_MSG. */
  readonly error: string | null;
  /** What was not inspected because a limit was reached; recorded in the event. */
  readonly truncated: boolean;
  /** URLENCODED only: a `%` without two hexadecimal digits was met (URLENCODED_ERROR). Absent = false. */
  readonly invalidEncoding?: boolean;
}

/** Parses a whole body. Never throws; work is bounded by the limits and linear in the body's length. */
export type BodyProcessor = (body: Buffer, contentType: string, sink: BodySink, limits: BodyLimits) => BodyOutcome;
