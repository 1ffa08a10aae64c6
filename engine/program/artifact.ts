// The artifact: immutable bytes, content-addressed, that the compiler emits and every data plane loads.
//
//   offset 0   8 bytes   magic "GATEHSE" + format version (one byte)
//   offset 8   32 bytes  SHA-256 of the payload
//   offset 40  payload   msgpackr: { meta, program, plan, blobs }
//
// A loader must expect refusal: another format version, damage, a foreign file. Compiled Hyperscan databases inside may
// be refused too (other library version or CPU); the plan carries their pattern sources, and ruleset.ts rebuilds.
import { createHash } from 'node:crypto';
// The plain JavaScript half: the package's native accelerator crashes in worker threads, and an artifact is read once.
import { Packr } from 'msgpackr/pack';
import type { Program } from './ir.js';
import type { PlanIR } from './plan.js';

export const artifactFormatVersion = 3;
const magic = Buffer.from('GATEHSE', 'latin1');
const headerBytes = 40;
/** Larger than any artifact we make (PL4 is about 48 MB); a file beyond it is not ours. */
const artifactBytesMax = 512 * 1024 * 1024;

export interface ArtifactMeta {
  /** Version of Gatehouse's compiler. */
  readonly compiler: string;
  /** What the rules call themselves (SecComponentSignature), e.g. the CRS version. */
  readonly components: readonly string[];
  /** Library, version and platform of the compiled databases. */
  readonly matcher: string;
  /** Requests that a data plane sends through the new rule set before it goes live. */
  readonly probes: readonly ProbeIR[];
}

/** A self-test: a wire-form request with what must come of it. */
export interface ProbeIR {
  readonly name: string;
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly string[];
  readonly body: string | null; // latin1
  /** Ids of which at least one must match; empty = none of the scoring rules may interrupt. */
  readonly expectAnyOf: readonly number[];
}

export interface Artifact {
  readonly meta: ArtifactMeta;
  readonly program: Program;
  readonly plan: PlanIR;
  /** Serialised databases by DatabaseIR.key. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export class ArtifactRefused extends Error {
  constructor(
    readonly code: 'not-an-artifact' | 'format-version' | 'damaged' | 'content',
    message: string,
  ) {
    super(message);
  }
}

const packr = new Packr({ useRecords: true, structuredClone: false, moreTypes: false, mapsAsObjects: true });

/**
 * Deterministic: equal content gives equal bytes, so the hash of the bytes is a name. The databases are nine tenths of
 * an artifact; they are copied once, into a buffer of the final size, where the packer would copy them at every growth.
 */
export function encodeArtifact(artifact: Artifact): Buffer {
  const blobs = [...artifact.blobs].sort(([a], [b]) => (a < b ? -1 : 1));
  const front = packr.pack({ meta: artifact.meta, program: artifact.program, plan: artifact.plan, blobs: [] });
  // `blobs` is the last field, so an empty list (0x90) is the last byte: the real list takes its place
  if (front.at(-1) !== 0x90) throw new Error('the packer does not end with the list of databases');
  const list = blobs.map(([key, bytes]) => ({
    head: Buffer.concat([Buffer.from([0x92]), packr.pack(key), binHead(bytes.length)]),
    bytes,
  }));
  const listHead = arrayHead(list.length);
  const size = list.reduce(
    (sum, { head, bytes }) => sum + head.length + bytes.length,
    headerBytes + front.length - 1 + listHead.length,
  );
  const whole = Buffer.allocUnsafeSlow(size);
  let at = headerBytes;
  const put = (bytes: Uint8Array): void => {
    whole.set(bytes, at);
    at += bytes.length;
  };
  put(front.subarray(0, -1));
  put(listHead);
  for (const { head, bytes } of list) {
    put(head);
    put(bytes);
  }
  magic.copy(whole, 0);
  whole[magic.length] = artifactFormatVersion;
  createHash('sha256')
    .update(whole.subarray(headerBytes))
    .digest()
    .copy(whole, magic.length + 1);
  return whole;
}

/** MessagePack's heads of arrays and byte strings, the shortest form of each, as msgpackr writes them. */
function arrayHead(count: number): Buffer {
  if (count < 16) return Buffer.from([0x90 | count]);
  return count < 0x1_0000 ? Buffer.from([0xdc, count >> 8, count & 0xff]) : withCount(0xdd, count);
}
function binHead(bytes: number): Buffer {
  if (bytes < 0x100) return Buffer.from([0xc4, bytes]);
  return bytes < 0x1_0000 ? Buffer.from([0xc5, bytes >> 8, bytes & 0xff]) : withCount(0xc6, bytes);
}
function withCount(tag: number, count: number): Buffer {
  const head = Buffer.from([tag, 0, 0, 0, 0]);
  head.writeUInt32BE(count, 1);
  return head;
}

/** The content hash of encoded bytes: lower-case hex SHA-256 of the whole artifact. */
export function hashArtifact(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Throws ArtifactRefused on anything that is not a whole, undamaged artifact of this format version. `isVerified`: the
 * caller has held these very bytes against the artifact's name, so damage is out of the question and the checksum of 20
 * MB, a dozen milliseconds, is left out.
 */
export function decodeArtifact(bytes: Uint8Array, isVerified = false): Artifact {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (
    buffer.length < headerBytes ||
    buffer.length > artifactBytesMax ||
    !buffer.subarray(0, magic.length).equals(magic)
  ) {
    throw new ArtifactRefused(
      'not-an-artifact',
      'these bytes do not begin like a Gatehouse artifact; give the file that `gatehouse compile -o` wrote',
    );
  }
  const version = buffer[magic.length] as number;
  if (version !== artifactFormatVersion) {
    throw new ArtifactRefused(
      'format-version',
      `the artifact has format version ${version}, this data plane reads ${artifactFormatVersion}: compile the rules again with the same release`,
    );
  }
  const payload = buffer.subarray(headerBytes);
  if (!isVerified && !createHash('sha256').update(payload).digest().equals(buffer.subarray(8, headerBytes))) {
    throw new ArtifactRefused(
      'damaged',
      'the artifact does not match its checksum: it was cut or changed on the way; copy or compile it again',
    );
  }
  const content = unpack(payload);
  if (content?.program?.version !== 1 || !Array.isArray(content.plan?.classes) || !Array.isArray(content.blobs)) {
    throw new ArtifactRefused(
      'content',
      'the artifact holds no rule program that this release can run: compile the rules again',
    );
  }
  return { meta: content.meta, program: content.program, plan: content.plan, blobs: new Map(content.blobs) };
}

function unpack(
  payload: Buffer,
): { meta: ArtifactMeta; program: Program; plan: PlanIR; blobs: [string, Uint8Array][] } | null {
  try {
    return packr.unpack(payload) as ReturnType<typeof unpack>;
  } catch (error) {
    throw new ArtifactRefused(
      'content',
      `the artifact's payload cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    packr.unpack(nil); // the package holds on to the bytes it read last, 27 MB in every thread
  }
}
const nil = Buffer.from([0xc0]);
