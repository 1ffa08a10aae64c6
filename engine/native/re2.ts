// The slow twin of hyperscan.ts: the same contract over the package `re2`, and the home of patterns that Hyperscan
// cannot hold.
//
// Serialised form: "GHRE2DB1" and the patterns as JSON; loading compiles them. A scan asks one RE2.Set (exact: which of
// its members match) and, apart, the few patterns for which the plain RE2 form errs on texts that end in a newline. A
// set that runs out of its memory budget throws; then its members are asked one by one.
import RE2 from 're2';
import { parseRegex } from '../regex/parser.js';
import { RegexSyntaxError, RegexUnsupportedError } from '../regex/node.js';
import { re2Forms } from '../regex/re2-source.js';
import {
  type Database,
  DatabaseRefused,
  type MatcherLibrary,
  PatternRefused,
  type PatternSpec,
  type Scanner,
} from './matcher.js';
import { compileRe2, type Re2Pattern } from './re2-pattern.js';

const magic = 'GHRE2DB1';
const idLimit = 65_536;

type Re2Set = InstanceType<typeof RE2.Set>;

interface Member {
  readonly id: number;
  readonly pattern: Re2Pattern;
}

class Re2Database implements Database {
  released = false;
  constructor(
    readonly bytes: number,
    readonly setIds: readonly number[],
    readonly set: Re2Set | null,
    readonly setMembers: readonly Member[],
    readonly single: readonly Member[],
  ) {}
  release(): void {
    this.released = true;
  }
}

/** Throws PatternRefused for what RE2 cannot run. */
function open(spec: PatternSpec): { readonly member: Member; readonly source: string | null } {
  try {
    const forms = re2Forms(parseRegex(spec.source, spec));
    return {
      member: { id: spec.id, pattern: compileRe2(spec.source, spec) },
      source: forms.textStart === null ? forms.plain.source : null,
    };
  } catch (cause) {
    if (cause instanceof RegexSyntaxError || cause instanceof RegexUnsupportedError)
      throw new PatternRefused(spec.id, cause.message);
    throw cause;
  }
}

function compile(patterns: readonly PatternSpec[]): Uint8Array {
  if (patterns.length === 0) throw new RangeError('A database needs at least one pattern.');
  const seen = new Set<number>();
  for (const spec of patterns) {
    if (!Number.isInteger(spec.id) || spec.id < 0 || spec.id >= idLimit)
      throw new RangeError(`Pattern id ${spec.id} is not a whole number from 0 to ${idLimit - 1}.`);
    if (seen.has(spec.id)) throw new RangeError(`Pattern id ${spec.id} occurs twice in one database.`);
    seen.add(spec.id);
    open(spec);
  }
  return Buffer.from(magic + JSON.stringify(patterns), 'utf8');
}

function isSpec(value: unknown): value is PatternSpec {
  const spec = value as PatternSpec | null;
  return (
    typeof spec === 'object' &&
    spec !== null &&
    Number.isInteger(spec.id) &&
    spec.id >= 0 &&
    spec.id < idLimit &&
    typeof spec.source === 'string' &&
    [spec.caseless, spec.dotAll, spec.multiline, spec.prefilter].every((flag) => typeof flag === 'boolean')
  );
}

function readSpecs(bytes: Uint8Array): readonly PatternSpec[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!text.startsWith(magic))
    throw new DatabaseRefused('Not an RE2 database: the magic bytes are missing; rebuild it from the pattern sources.');
  let specs: unknown;
  try {
    specs = JSON.parse(text.slice(magic.length));
  } catch (cause) {
    throw new DatabaseRefused('RE2 database damaged: not JSON; rebuild it from the pattern sources.', { cause });
  }
  if (!Array.isArray(specs) || specs.length === 0 || !specs.every(isSpec))
    throw new DatabaseRefused('RE2 database damaged: not a list of patterns; rebuild it from the pattern sources.');
  return specs;
}

function load(bytes: Uint8Array): Database {
  const setMembers: Member[] = [];
  const sources: string[] = [];
  const single: Member[] = [];
  for (const spec of readSpecs(bytes)) {
    let opened: ReturnType<typeof open>;
    try {
      opened = open(spec);
    } catch (cause) {
      throw new DatabaseRefused(
        `RE2 database damaged: pattern ${spec.id}: ${(cause as Error).message}; rebuild it from the pattern sources.`,
        { cause },
      );
    }
    if (opened.source === null) single.push(opened.member);
    else {
      setMembers.push(opened.member);
      sources.push(opened.source);
    }
  }
  return new Re2Database(
    bytes.byteLength,
    setMembers.map((member) => member.id),
    buildSet(sources),
    setMembers,
    single,
  );
}

/** Null when there is nothing to gain or RE2 cannot build the set within its memory. */
function buildSet(sources: readonly string[]): Re2Set | null {
  if (sources.length < 2) return null;
  try {
    return new RE2.Set(sources);
  } catch (cause) {
    if (cause instanceof Error) return null;
    throw cause;
  }
}

function idsOf(database: Re2Database, value: Buffer, text: string): readonly number[] {
  const ids: number[] = [];
  let members = database.setMembers;
  if (database.set !== null) {
    try {
      for (const index of database.set.match(value)) ids.push(database.setIds[index]!);
      members = [];
    } catch (cause) {
      if (!(cause instanceof Error && cause.message.includes('RE2.Set'))) throw cause;
      ids.length = 0;
    }
  }
  for (const member of members) if (member.pattern.test(text)) ids.push(member.id);
  for (const member of database.single) if (member.pattern.test(text)) ids.push(member.id);
  return ids;
}

function checkScan(
  databases: readonly Re2Database[],
  data: Uint8Array,
  jobs: Int32Array,
  jobCount: number,
  hits: Int32Array,
): void {
  if (
    !(data instanceof Uint8Array) ||
    !(jobs instanceof Int32Array) ||
    !(hits instanceof Int32Array) ||
    typeof jobCount !== 'number'
  )
    throw new TypeError('scan(data: Uint8Array, jobs: Int32Array, jobCount: number, hits: Int32Array)');
  if (!(jobCount >= 0) || jobCount * 3 > jobs.length)
    throw new TypeError('scan: jobCount is negative or larger than jobs');
  for (let job = 0; job < Math.trunc(jobCount); job++) {
    const [database, offset, length] = [jobs[job * 3]!, jobs[job * 3 + 1]!, jobs[job * 3 + 2]!];
    if (databases[database] === undefined)
      throw new TypeError('scan: a job names a database that the scanner does not have');
    if (offset < 0 || length < 0) throw new TypeError('scan: a job has a negative offset or length');
    if (offset + length > data.byteLength) throw new TypeError('scan: a job reaches past the end of data');
  }
}

function createScanner(given: readonly Database[]): Scanner {
  const databases = given.map((database, index) => {
    if (!(database instanceof Re2Database)) throw new TypeError(`Database ${index} was not loaded by this library.`);
    if (database.released) throw new Error(`createScanner: database ${index} was released`);
    return database;
  });
  let released = false;
  const scan = (data: Uint8Array, jobs: Int32Array, jobCount: number, hits: Int32Array): number => {
    if (released) throw new TypeError('scan: the scanner was released');
    checkScan(databases, data, jobs, jobCount, hits);
    let pairs = 0;
    for (let job = 0; job < Math.trunc(jobCount); job++) {
      const start = data.byteOffset + jobs[job * 3 + 1]!;
      const text = Buffer.from(data.buffer, start, jobs[job * 3 + 2]).toString('latin1');
      for (const id of idsOf(databases[jobs[job * 3]!]!, Buffer.from(text, 'utf8'), text)) {
        if (pairs * 2 + 1 < hits.length) {
          hits[pairs * 2] = job;
          hits[pairs * 2 + 1] = id;
        }
        pairs++;
      }
    }
    return pairs * 2 > hits.length ? -1 - pairs : pairs;
  };
  return {
    scan,
    release: () => {
      released = true;
    },
  };
}

/**
 * RE2 behind the same contract as Hyperscan; `prefilter` is ignored (every answer is exact), `key` too (nothing is
 * shared).
 */
export function re2Library(): MatcherLibrary {
  return { name: 're2', version: 'package re2, format 1', compile, load: (bytes) => load(bytes), createScanner };
}
