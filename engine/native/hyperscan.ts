// MatcherLibrary over Hyperscan (block mode, native addon).
//
// Serialised form: a 48-byte header of ours before Hyperscan's bytes, because hs_deserialize_database trusts most of
// what it is given. Layout, little-endian: 8 bytes magic "GHHSDB\r\n", u32 format version, u32 payload bytes, u64
// checksum of the payload, 24 bytes Hyperscan version (NUL-padded). The checksum finds damage, not forgery: artifacts
// are as trusted as the program that reads them. A database for another CPU passes the header and is refused by
// Hyperscan itself.
import {
  type Database,
  DatabaseRefused,
  type MatcherLibrary,
  PatternRefused,
  type PatternSpec,
  type Scanner,
} from './matcher.js';
import { type NativeAddon, type NativeDatabase, nativeAddon } from './addon.js';

const magic = Buffer.from('GHHSDB\r\n', 'latin1');
const formatVersion = 1;
const headerBytes = 48;
const versionBytes = 24;
const patternIdLimit = 65_536;

// hs_compile.h
const HS_FLAG_CASELESS = 1;
const HS_FLAG_DOTALL = 2;
const HS_FLAG_MULTILINE = 4;
const HS_FLAG_SINGLEMATCH = 8;
const HS_FLAG_ALLOWEMPTY = 16;
const HS_FLAG_PREFILTER = 128;

class HyperscanDatabase implements Database {
  readonly bytes: number;
  constructor(
    private readonly addon: NativeAddon,
    readonly handle: NativeDatabase,
  ) {
    this.bytes = addon.databaseBytes(handle);
  }
  release(): void {
    this.addon.releaseDatabase(this.handle);
  }
}

/**
 * Hyperscan's own version text, e.g. "5.4.0 2022-…"; only the number is kept: a rebuild of the same source loads the
 * same bytes.
 */
function versionOf(addon: NativeAddon): string {
  return addon.version().split(' ')[0] ?? addon.version();
}

function flagsOf(pattern: PatternSpec): number {
  let flags = HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY;
  if (pattern.caseless) flags |= HS_FLAG_CASELESS;
  if (pattern.dotAll) flags |= HS_FLAG_DOTALL;
  if (pattern.multiline) flags |= HS_FLAG_MULTILINE;
  if (pattern.prefilter) flags |= HS_FLAG_PREFILTER;
  return flags;
}

/**
 * Raw NUL ends a C string: written as an escape (an escaped NUL loses its backslash first). Anything above a byte is
 * refused.
 */
function nativeSource(pattern: PatternSpec): string {
  for (let at = 0; at < pattern.source.length; at++) {
    if (pattern.source.charCodeAt(at) > 0xff)
      throw new PatternRefused(
        pattern.id,
        `The pattern holds U+${pattern.source.charCodeAt(at).toString(16)} at ${at}: patterns are bytes, encode the ` +
          'text first.',
      );
  }
  return pattern.source.includes('\0')
    ? pattern.source.replaceAll('\\\0', '\0').replaceAll('\0', '\\x00')
    : pattern.source;
}

function checkIds(patterns: readonly PatternSpec[]): void {
  const seen = new Set<number>();
  for (const { id } of patterns) {
    if (!Number.isInteger(id) || id < 0 || id >= patternIdLimit)
      throw new RangeError(`Pattern id ${id} is not a whole number from 0 to ${patternIdLimit - 1}.`);
    if (seen.has(id)) throw new RangeError(`Pattern id ${id} occurs twice in one database.`);
    seen.add(id);
  }
}

function compile(addon: NativeAddon, patterns: readonly PatternSpec[]): Uint8Array {
  checkIds(patterns);
  const sources = patterns.map(nativeSource);
  let payload: Uint8Array;
  try {
    payload = addon.compile(
      sources,
      Uint32Array.from(patterns, flagsOf),
      Uint32Array.from(patterns, (pattern) => pattern.id),
    );
  } catch (cause) {
    const index = (cause as { patternIndex?: number }).patternIndex;
    const refused = index === undefined ? undefined : patterns[index];
    if (refused === undefined) throw cause;
    throw new PatternRefused(refused.id, (cause as Error).message);
  }
  const header = Buffer.alloc(headerBytes);
  magic.copy(header, 0);
  header.writeUInt32LE(formatVersion, 8);
  header.writeUInt32LE(payload.byteLength, 12);
  header.writeBigUInt64LE(addon.checksum(payload), 16);
  header.write(versionOf(addon).slice(0, versionBytes), 24, 'latin1');
  return Buffer.concat([header, payload]);
}

/** Checks our header; returns Hyperscan's part and its checksum as text. Throws DatabaseRefused. */
function open(
  addon: NativeAddon,
  bytes: Uint8Array,
  isVerified: boolean,
): { readonly payload: Uint8Array; readonly sum: string } {
  const rebuild = 'rebuild it from the pattern sources';
  if (bytes.byteLength < headerBytes)
    throw new DatabaseRefused(
      `Not a Hyperscan database: ${bytes.byteLength} bytes are less than a header; ${rebuild}.`,
    );
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, headerBytes);
  if (!header.subarray(0, magic.length).equals(magic))
    throw new DatabaseRefused(`Not a Hyperscan database: the magic bytes are missing; ${rebuild}.`);
  const format = header.readUInt32LE(8);
  if (format !== formatVersion)
    throw new DatabaseRefused(
      `Hyperscan database of format ${format}, this program reads ${formatVersion}; ${rebuild}.`,
    );
  const version = header.toString('latin1', 24, headerBytes).replaceAll('\0', '');
  if (version !== versionOf(addon))
    throw new DatabaseRefused(
      `Hyperscan database made by version ${version}, this machine has ${versionOf(addon)}; ${rebuild}.`,
    );
  const payload = bytes.subarray(headerBytes);
  if (payload.byteLength !== header.readUInt32LE(12))
    throw new DatabaseRefused(
      `Hyperscan database cut short: ${payload.byteLength} bytes of ${header.readUInt32LE(12)}; ${rebuild}.`,
    );
  const sum = header.readBigUInt64LE(16);
  if (!isVerified && addon.checksum(payload) !== sum)
    throw new DatabaseRefused(`Hyperscan database damaged: the checksum differs; ${rebuild}.`);
  return { payload, sum: sum.toString(16) };
}

function load(addon: NativeAddon, bytes: Uint8Array, key: string, isVerified = false): Database {
  const { payload, sum } = open(addon, bytes, isVerified);
  let handle: NativeDatabase;
  try {
    // The checksum is part of the shared name: a caller that reuses a key for other bytes must not get the old
    // database.
    handle = addon.load(payload, `${key}:${sum}`);
  } catch (cause) {
    throw new DatabaseRefused(
      `${cause instanceof Error ? cause.message : String(cause)}; rebuild it from the pattern sources.`,
      { cause },
    );
  }
  return new HyperscanDatabase(addon, handle);
}

function createScanner(addon: NativeAddon, databases: readonly Database[]): Scanner {
  const handles = databases.map((database, index) => {
    if (!(database instanceof HyperscanDatabase))
      throw new TypeError(`Database ${index} was not loaded by this library.`);
    return database.handle;
  });
  const scanner = addon.createScanner(handles);
  return {
    scan: (data, jobs, jobCount, hits) => addon.scan(scanner, data, jobs, jobCount, hits),
    release: () => addon.releaseScanner(scanner),
  };
}

/**
 * Hyperscan through the native addon; see `MatcherLibrary`. Throws NativeAddonMissing when the addon is not built.
 * `version` names library and CPU features: databases made under another one may be refused by `load`.
 */
export function hyperscanLibrary(): MatcherLibrary {
  const addon = nativeAddon();
  return {
    name: 'hyperscan',
    version: `${versionOf(addon)}-${addon.platform()}`,
    compile: (patterns) => compile(addon, patterns),
    load: (bytes, key, isVerified) => load(addon, bytes, key, isVerified),
    createScanner: (databases) => createScanner(addon, databases),
  };
}
