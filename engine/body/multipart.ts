// multipart/form-data, line by line over the bytes. What is unclear is an error or a flag, never a guess: backends
// disagree about such bodies, and the rules 200002–200004 refuse them. Flags and errors follow ModSecurity v3 (checked
// against libmodsecurity 3.0.9 and its regression cases); the deliberate differences are listed at processMultipart.
import { parseBoundary, parseContentDisposition } from './content-disposition.js';
import type { Disposition } from './content-disposition.js';
import { readTypedPart } from './besides/typed-parts.js';
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';

/** Longest part header, folded lines included; longer is an error (4 KiB in ModSecurity v3 too). */
const partHeaderBytesMax = 4096;
/** Headers per part; more is an error. Browsers send two or three. */
const partHeadersMax = 64;

const strictFlagNames = [
  'MULTIPART_BOUNDARY_QUOTED',
  'MULTIPART_BOUNDARY_WHITESPACE',
  'MULTIPART_DATA_BEFORE',
  'MULTIPART_DATA_AFTER',
  'MULTIPART_HEADER_FOLDING',
  'MULTIPART_LF_LINE',
  'MULTIPART_MISSING_SEMICOLON',
  'MULTIPART_INVALID_QUOTING',
  'MULTIPART_INVALID_PART',
  'MULTIPART_INVALID_HEADER_FOLDING',
  'MULTIPART_FILE_LIMIT_EXCEEDED',
] as const;
const flagNames = [...strictFlagNames, 'MULTIPART_CRLF_LF_LINES', 'MULTIPART_UNMATCHED_BOUNDARY'] as const;
/** Keys of `BodySink.multipartFlags`. */
export const multipartFlagNames = ['MULTIPART_STRICT_ERROR', ...flagNames] as const;
type FlagName = (typeof flagNames)[number];

/**
 * MULTIPART_STRICT_ERROR ('0' or '1') from the other flags: a malformed boundary or part (`hasFailed`), or any flag
 * but MULTIPART_CRLF_LF_LINES and MULTIPART_UNMATCHED_BOUNDARY.
 */
export function multipartStrictError(flags: ReadonlyMap<string, string>, hasFailed: boolean): '0' | '1' {
  if (hasFailed) return '1';
  for (const name of strictFlagNames) if ((flags.get(name) ?? '0') !== '0') return '1';
  return '0';
}

/** FILES_COMBINED_SIZE: bytes of all files of the body. */
export function filesCombinedSize(sink: BodySink): number {
  let sum = 0;
  for (const size of sink.filesSizes.values) sum += Number(size);
  return sum;
}

interface Part {
  /** Header lines without line ends, unfolded. */
  readonly headers: string[];
  /** null until the empty line behind the headers. */
  disposition: Disposition | null;
  /** Where the content begins, and where its last complete line ends (the line end before the boundary excluded). */
  contentStart: number;
  contentEnd: number;
  /** A line of content was read: a boundary right behind the empty line is no valid end of a part. */
  hasContent: boolean;
}

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

function hasControlByte(text: string, end: number): boolean {
  for (let at = 0; at < end; at += 1) if (text.charCodeAt(at) < 0x20 || text.charCodeAt(at) === 0x7f) return true;
  return false;
}

class MultipartReader {
  private readonly raised = new Set<FlagName>();
  private error: string | null = null;
  /** The error counts as a strict error too. */
  private hasFailed = false;
  private truncated = false;
  private sawCrlf = false;
  private sawLf = false;
  private unmatched = 0;
  private boundaries = 0;
  private part: Part | null = null;
  private isComplete = false;
  private noFilesBytes = 0;
  private fields = 0;
  private files = 0;
  private marker = Buffer.alloc(0);
  private isQuoted = false;

  constructor(
    private readonly body: Buffer,
    private readonly sink: BodySink,
    private readonly limits: BodyLimits,
  ) {}

  read(contentType: string): BodyOutcome {
    const { boundary, error, quoted, whitespace, missingSemicolon } = parseBoundary(contentType);
    if (quoted) this.raised.add('MULTIPART_BOUNDARY_QUOTED');
    if (whitespace) this.raised.add('MULTIPART_BOUNDARY_WHITESPACE');
    if (missingSemicolon) this.raised.add('MULTIPART_MISSING_SEMICOLON');
    if (error !== null) this.fail(error);
    else {
      this.isQuoted = quoted;
      this.marker = Buffer.from(`--${boundary}`, 'latin1');
      this.readLines();
      if (this.error === null && this.body.length > 0 && !this.isComplete) {
        // A truncated upload is not an attempt at confusion: an error, but no strict error, as in ModSecurity v3.
        this.error = this.message(this.boundaries > 0 ? 'Final boundary missing.' : 'No boundaries found in payload.');
      }
      // What stood before an error is shown to the rules as well.
      if (!this.isComplete) this.finishPart(this.body.length);
    }
    if (this.error === null && this.noFilesBytes > this.limits.noFilesBytesMax) {
      this.error = 'Request body excluding files is bigger than the maximum expected.';
    }
    this.writeFlags();
    return { error: this.error, truncated: this.truncated };
  }

  private message(what: string): string {
    return `Multipart parsing error: Multipart: ${what}`;
  }

  /** Always false, so that a step can end with `return this.fail(…)`. */
  private fail(what: string): false {
    this.error ??= this.message(what);
    this.hasFailed = true;
    return false;
  }

  private writeFlags(): void {
    const { multipartFlags } = this.sink;
    if (this.sawLf) this.raised.add('MULTIPART_LF_LINE');
    if (this.sawLf && this.sawCrlf) this.raised.add('MULTIPART_CRLF_LF_LINES');
    for (const name of flagNames) multipartFlags.set(name, this.raised.has(name) ? '1' : '0');
    multipartFlags.set('MULTIPART_UNMATCHED_BOUNDARY', String(this.unmatched));
    multipartFlags.set('MULTIPART_STRICT_ERROR', multipartStrictError(multipartFlags, this.hasFailed));
  }

  private readLines(): void {
    const { body, marker } = this;
    let start = 0;
    // Next occurrence of the marker anywhere; looked for anew only when passed, so that the search stays linear.
    let nextMarker = body.indexOf(marker);
    while (start < body.length) {
      const newline = body.indexOf(0x0a, start);
      const end = newline < 0 ? body.length : newline + 1;
      if (body[start] === 0x2d && body[start + 1] === 0x2d && end - start > 3) {
        if (nextMarker >= 0 && nextMarker < start) nextMarker = body.indexOf(marker, start);
        if (nextMarker === start) {
          if (!this.readBoundary(start, end, newline >= 0)) return;
          if (this.isComplete) {
            if (end < body.length) this.raised.add('MULTIPART_DATA_AFTER');
            return;
          }
          start = end;
          continue;
        }
        if (!this.checkForeignBoundary(start, end)) return;
      } else if (nextMarker >= 0 && nextMarker < start) nextMarker = body.indexOf(marker, start);
      // RFC 2046 §5.1.1: a delimiter must not appear within what it encloses. Some parsers look for it anywhere
      // (Django) or behind a bare CR (Werkzeug) and would begin a part where others go on with the contents of a file.
      if (nextMarker > start && nextMarker < end) return void this.fail('Invalid boundary (inside a line).');
      if (this.part === null) this.raised.add('MULTIPART_DATA_BEFORE');
      else if (this.part.disposition === null) {
        if (newline < 0) return; // an unfinished header line: the missing final boundary is the error
        if (!this.readHeaderLine(this.part, start, end)) return;
      } else {
        this.part.hasContent = true;
        this.part.contentEnd =
          newline < 0 ? end : body[newline - 1] === 0x0d && newline > start ? newline - 1 : newline;
      }
      start = end;
    }
  }

  /** A line that begins with `--` but is not ours: some ways of almost matching are errors, the rest is a flag. */
  private checkForeignBoundary(start: number, end: number): boolean {
    const { body, marker } = this;
    const matchesAt = (at: number): boolean =>
      body.compare(marker, 2, marker.length, at, Math.min(at + marker.length - 2, body.length)) === 0;
    if (this.isQuoted && body[start + 2] === 0x22 && matchesAt(start + 3))
      return this.fail('Invalid boundary (quotes).');
    let at = start + 2;
    while (at < end && isSpace(body[at] as number)) at += 1;
    if (at > start + 2 && at < end && matchesAt(at)) return this.fail('Invalid boundary (whitespace).');
    this.unmatched = 1;
    return true;
  }

  private readBoundary(start: number, end: number, hasNewline: boolean): boolean {
    const { body } = this;
    let at = start + this.marker.length;
    const isFinal = body[at] === 0x2d && body[at + 1] === 0x2d;
    if (isFinal) at += 2;
    const isCrlf = end - at === 2 && body[at] === 0x0d && hasNewline;
    const isLf = end - at === 1 && hasNewline;
    // The very last line may lack its line end, if it is the final boundary.
    const isBare = end === at && !hasNewline && isFinal;
    if (!isCrlf && !isLf && !isBare) {
      // Cut off inside the boundary: read() reports the missing end.
      if (!hasNewline && end <= at + 1) return false;
      return this.fail('Invalid boundary.');
    }
    if (isCrlf) this.sawCrlf = true;
    if (isLf) this.sawLf = true;
    // A delimiter begins with the CRLF before it: to a strict parser (Go, busboy) this line would be contents.
    if (start > 0 && body[start - 2] !== 0x0d) this.sawLf = true;
    const { part } = this;
    if (part !== null && (part.disposition === null || !part.hasContent)) {
      this.raised.add('MULTIPART_INVALID_PART');
      return this.fail(
        part.disposition === null
          ? 'Invalid part (boundary inside the part headers).'
          : 'Invalid part (no line between headers and boundary).',
      );
    }
    // ModSecurity v3: 2 says that a line of our own followed, so that "@eq 1" means what nobody closed. A body whose
    // end lacks the newline keeps what it had.
    if (this.boundaries > 0 && !isBare) this.unmatched = 2;
    this.finishPart(start);
    this.boundaries += 1;
    if (isFinal) this.isComplete = true;
    else this.part = { headers: [], disposition: null, contentStart: end, contentEnd: end, hasContent: false };
    return true;
  }

  private readHeaderLine(part: Part, start: number, end: number): boolean {
    const { body } = this;
    const isCrlf = end - start > 1 && body[end - 2] === 0x0d;
    if (isCrlf) this.sawCrlf = true;
    else this.sawLf = true;
    const textEnd = end - (isCrlf ? 2 : 1);
    this.noFilesBytes += end - start;
    if (textEnd === start) return this.readDisposition(part, end);
    if (end - start > partHeaderBytesMax) return this.fail(`Part header line over ${partHeaderBytesMax} bytes long.`);
    if (body.subarray(start, end).includes(0)) return this.fail('Nul byte in part headers.');
    if (isSpace(body[start] as number)) return this.foldHeader(part, start, textEnd);
    const line = body.toString('latin1', start, textEnd);
    const colon = line.indexOf(':');
    // An error, but what follows is clear enough to be shown to the rules: the line is left out.
    if (colon < 0) return !this.fail('Invalid part header (colon missing).');
    if (colon === 0) return this.fail('Invalid part header (header name missing).');
    if (part.headers.length >= partHeadersMax) return this.fail(`More than ${partHeadersMax} headers in a part.`);
    // As ModSecurity since 3.0.14. The line is kept: the rules say more about it than the error does.
    if (hasControlByte(line, colon)) this.fail('Invalid part header (control byte in its name).');
    const prefix = line.slice(0, colon + 1).toLowerCase();
    if (part.headers.some((header) => header.slice(0, colon + 1).toLowerCase() === prefix))
      return !this.fail('Duplicate part header.');
    part.headers.push(line);
    return true;
  }

  private foldHeader(part: Part, start: number, textEnd: number): boolean {
    const { body } = this;
    this.raised.add('MULTIPART_HEADER_FOLDING');
    let at = start;
    for (; at < textEnd && isSpace(body[at] as number); at += 1) {
      // RFC 5322 folds with blank and tab; PHP and others take any white space, hence the flag of its own.
      if (body[at] !== 0x20 && body[at] !== 0x09) this.raised.add('MULTIPART_INVALID_HEADER_FOLDING');
    }
    const last = part.headers.length - 1;
    if (last < 0) return this.fail('Invalid part header (folding error).');
    const folded = `${part.headers[last] as string} ${body.toString('latin1', at, textEnd)}`;
    if (folded.length > partHeaderBytesMax) return this.fail('Part header too long.');
    part.headers[last] = folded;
    return true;
  }

  /** The empty line: what the part is must be clear now. */
  private readDisposition(part: Part, contentStart: number): boolean {
    const header = part.headers.find((line) => line.slice(0, 20).toLowerCase() === 'content-disposition:');
    if (header === undefined) return this.failPart('Part missing Content-Disposition header.');
    let at = 20;
    while (header[at] === ' ' || header[at] === '\t') at += 1;
    const disposition = parseContentDisposition(header.slice(at));
    for (const name of disposition.names) this.sink.multipartName.add(name, name);
    for (const name of disposition.filenames) this.sink.multipartFilename.add(name, name);
    if (disposition.invalidQuoting) this.raised.add('MULTIPART_INVALID_QUOTING');
    if (disposition.error !== null) return this.failPart(`Invalid Content-Disposition header (${disposition.error}).`);
    if (disposition.name === '') return this.failPart('Content-Disposition header missing name field.');
    // RFC 7578 §4.3 withdrew multipart/mixed: some parsers still unpack it, and nobody here would see the inner parts.
    if (part.headers.some((line) => /^content-type:[ \t]*multipart\//i.test(line)))
      return this.failPart('Multipart within a part.');
    part.disposition = disposition;
    part.contentStart = contentStart;
    part.contentEnd = contentStart;
    return true;
  }

  private failPart(what: string): false {
    this.raised.add('MULTIPART_INVALID_PART');
    return this.fail(what);
  }

  /** Hands the open part over, if its headers were complete. `end` is where its data ends at the latest. */
  private finishPart(end: number): void {
    const { part, sink, limits } = this;
    this.part = null;
    if (part === null || part.disposition === null) return;
    const { name, filename, extendedFilename, otherNames, otherFilenames } = part.disposition;
    const contentEnd = Math.min(part.contentEnd, end);
    // An empty file name is a file control left empty; ModSecurity v3 takes the part for a field, and so do we.
    if (filename === '') {
      this.noFilesBytes += contentEnd - part.contentStart;
      this.fields += 1;
      if (this.fields > limits.argumentsMax) {
        this.truncated = true;
        return;
      }
      sink.argsPost.add(name, this.body.toString('latin1', part.contentStart, contentEnd));
      for (const other of otherNames) sink.argsPost.add(other, '');
    } else {
      this.files += 1;
      if (this.files > limits.uploadFilesMax) {
        this.raised.add('MULTIPART_FILE_LIMIT_EXCEEDED');
        this.error ??= this.message(`Upload file limit exceeded ${limits.uploadFilesMax}.`);
        if (this.files > limits.argumentsMax) {
          this.truncated = true;
          return;
        }
      }
      sink.files.add(name, filename);
      // A backend that prefers filename* would store another name than the one inspected.
      if (extendedFilename !== '' && extendedFilename !== filename) sink.files.add(name, extendedFilename);
      for (const other of otherFilenames) sink.files.add(name, other);
      for (const reading of [name, ...otherNames]) sink.filesNames.add(name, reading);
      sink.filesSizes.add(name, String(contentEnd - part.contentStart));
    }
    for (const header of part.headers) sink.multipartPartHeaders.add(name, header);
    const content = this.body.subarray(part.contentStart, contentEnd);
    const { headers } = part;
    this.error ??= readTypedPart({ headers, name, isFile: filename !== '' }, content, sink, limits);
  }
}

/**
 * multipart/form-data (RFC 7578): fields → argsPost, files → files, filesNames, filesSizes (contents stay where they
 * are: filesTmpNames and filesTmpContent are not filled; JSON and XML that says so is read, besides/typed-parts.ts),
 * headers → multipartPartHeaders (keyed by field name), names and file names as met → multipartName,
 * multipartFilename; all flags → multipartFlags. One pass, linear.
 *
 * An error ends the parse; parts before it, and one without its end, are handed over all the same. An empty body is no
 * error. Limits: fields over `argumentsMax` are dropped (`truncated`, no error, as in ModSecurity v3), more files than
 * `uploadFilesMax` raise MULTIPART_FILE_LIMIT_EXCEEDED and the error, field contents and headers together over
 * `noFilesBytesMax` the error.
 *
 * Other than in libmodsecurity 3.0.9: line ends inside a field's value are kept (it loses them); most part errors end
 * the parse (there some are followed by more parsing); a duplicate part header is an error, and so are a part that is
 * multipart itself, our boundary inside a line and one that needs quotes but has none; `filename*` counts as a file
 * name of its own, and so does what some backends make of a name (other-readings.ts).
 */
export function processMultipart(body: Buffer, contentType: string, sink: BodySink, limits: BodyLimits): BodyOutcome {
  return new MultipartReader(body, sink, limits).read(contentType);
}
