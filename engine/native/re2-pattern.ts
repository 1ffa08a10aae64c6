// One PCRE pattern on RE2, over latin1 strings: what the operators, selectors and confirmations use.
//
// RE2 reads UTF-8: U+0080–U+00FF stand for the bytes ≥ 0x80. The package converts a string on every call, which costs
// more than the match; writing the string as UTF-8 into a reusable scratch buffer and matching the Buffer is cheaper,
// and views of the scratch are kept by length because making one costs 100 ns. Measured on Node 20, nanoseconds per
// call of a pattern that does not match, string / scratch: 5 bytes 610 / 168, 20 bytes 607 / 184, 100 bytes 795 / 214,
// 1,000 bytes 3,350 / 496.
import RE2 from 're2';
import { parseRegex } from '../regex/parser.js';
import { type Re2Form, type Re2Forms, re2Forms } from '../regex/re2-source.js';
import { type RegexFlags, RegexUnsupportedError } from '../regex/node.js';
import { type RunPattern, runPatternOf } from '../regex/runs.js';

export interface Re2Pattern {
  /** It costs less to ask than to remember what it said. */
  readonly isCheap: boolean;
  /** Whether `value` (latin1) contains a match. */
  test(value: string): boolean;
  /** At most `groupsMax` texts: the leftmost match and its groups, '' for unset ones; null when nothing matches. */
  exec(value: string): string[] | null;
}

/** TX:0 … TX:9. */
export const groupsMax = 10;
const cacheMax = 4096; // patterns; a rule set has some hundred, macros make the rest

function compileForm(form: Re2Form): RE2 {
  try {
    return new RE2(form.source);
  } catch (cause) {
    throw new RegexUnsupportedError(
      0,
      `RE2 refuses this pattern: ${cause instanceof Error ? cause.message : String(cause)}; use smaller counts or ` +
        'split it into several rules',
    );
  }
}

/** Node's Buffer has this method; its types leave it out. */
interface Utf8Scratch extends Buffer {
  utf8Write(text: string, offset: number): number;
}
const scratchBytes = 64 * 1024;
const scratch = Buffer.alloc(scratchBytes) as Utf8Scratch;
const views: (Buffer | undefined)[] = [];
const viewsMax = 2048;

/** The value as UTF-8, valid until the next call. A latin1 string takes at most two bytes per code unit. */
function utf8Of(value: string): Buffer {
  if (value.length * 2 > scratchBytes) return Buffer.from(value, 'utf8');
  const bytes = scratch.utf8Write(value, 0);
  if (bytes >= viewsMax) return scratch.subarray(0, bytes);
  return (views[bytes] ??= scratch.subarray(0, bytes));
}

class CompiledPattern implements Re2Pattern {
  private compiled: RE2 | null = null;
  private marked: RE2 | null = null;
  private textStart: RE2 | null = null;

  /** `runs`: answers for texts that do not end in a newline; null = it has another form. */
  constructor(
    private readonly forms: Re2Forms,
    private readonly runs: RunPattern | null,
  ) {}

  get isCheap(): boolean {
    return this.runs !== null;
  }

  /** Throws RegexUnsupportedError the first time when RE2 refuses it. */
  get plain(): RE2 {
    return (this.compiled ??= compileForm(this.forms.plain));
  }

  test(value: string): boolean {
    if (this.runs !== null && !endsInNewline(value)) return this.runs.test(value);
    if (this.forms.textStart !== null && endsInNewline(value)) return this.execForms(value) !== null;
    return this.plain.test(utf8Of(value));
  }

  exec(value: string): string[] | null {
    if (this.runs !== null && !endsInNewline(value)) return this.runs.exec(value);
    if (this.forms.textStart === null && !this.plain.test(utf8Of(value))) return null;
    return this.execForms(value);
  }

  private execForms(value: string): string[] | null {
    const { plain, marked, textStart } = this.forms;
    if (!endsInNewline(value)) return textsOf(this.plain.exec(value), plain);
    let found: RegExpExecArray | null;
    let form = plain;
    if (marked !== null) {
      this.marked ??= compileForm(marked);
      found = this.marked.exec(value);
      form = marked;
    } else found = this.plain.exec(value);
    // RE2's multiline ^ holds behind the final newline, PCRE's does not: such a match stands only if it needs no such
    // ^.
    if (textStart !== null && found !== null && found.index === value.length) {
      this.textStart ??= compileForm(textStart);
      return textsOf(this.textStart.exec(value), textStart);
    }
    return textsOf(found, form);
  }
}

const endsInNewline = (value: string): boolean => value.length > 0 && value.charCodeAt(value.length - 1) === 0x0a;

function textsOf(found: RegExpExecArray | null, form: Re2Form): string[] | null {
  if (found === null) return null;
  const result: string[] = [];
  for (let index = 0; index < Math.min(form.groups.length, groupsMax); index++) {
    const copies = form.groups[index]; // a hole where the group can never take part
    const taken = copies?.findLast((group) => found[group] !== undefined);
    result.push(taken === undefined ? '' : found[taken]!);
  }
  for (const mark of form.marks) {
    const tail = found[mark.group];
    if (tail === undefined || tail === '') continue;
    for (const index of mark.enclosing) {
      if (index < result.length && result[index]!.endsWith(tail)) result[index] = result[index]!.slice(0, -tail.length);
    }
  }
  return result;
}

const cache = new Map<string, Re2Pattern>();

/** Forms by key that RE2 has accepted, from an earlier process of the same release; where new ones go. */
export interface AcceptedForms {
  find(key: string): Re2Forms | null;
  keep(key: string, forms: Re2Forms): void;
}
let accepted: AcceptedForms | null = null;

/**
 * For this thread, from now on; null = none. Translating the patterns of a rule set takes 300 ms of a fresh process and
 * RE2 itself 70. A pattern that is found here is compiled when it is first asked, and a new one at once, as ever.
 */
export function useAcceptedForms(forms: AcceptedForms | null): void {
  accepted = forms;
}

/** Longer patterns are not looked at for runs: reading the giants again would cost every start. */
const runSourceMax = 64;

function runsOf(source: string, flags: RegexFlags): RunPattern | null {
  return source.length > runSourceMax ? null : runPatternOf(parseRegex(source, flags));
}

function readPattern(key: string, source: string, flags: RegexFlags): Re2Pattern {
  const known = accepted?.find(key) ?? null;
  if (known !== null) return new CompiledPattern(known, runsOf(source, flags));
  const forms = re2Forms(parseRegex(source, flags));
  const pattern = new CompiledPattern(forms, runsOf(source, flags));
  void pattern.plain; // RE2's word on it
  accepted?.keep(key, forms);
  return pattern;
}

/**
 * Compiles a PCRE pattern (latin1 text) for texts of bytes; equal (source, flags) share one object per thread. Throws
 * RegexSyntaxError or RegexUnsupportedError, both with the offset and how to fix it.
 */
export function compileRe2(source: string, flags: RegexFlags): Re2Pattern {
  const key = `${flags.caseless ? 'i' : ''}${flags.dotAll ? 's' : ''}${flags.multiline ? 'm' : ''}/${source}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const pattern = readPattern(key, source, flags);
  if (cache.size >= cacheMax) cache.clear();
  cache.set(key, pattern);
  return pattern;
}
