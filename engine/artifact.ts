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

export const artifactFormatVersion = 1;
const magic = Buffer.from('GATEHSE', 'latin1');
const headerBytes = 40;
/** Larger than any artifact we make (PL4 is about 30 MB); a file beyond it is not ours. */
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

/** Deterministic: equal content gives equal bytes, so the hash of the bytes is a name. */
export function encodeArtifact(artifact: Artifact): Buffer {
  const blobs = [...artifact.blobs].sort(([a], [b]) => (a < b ? -1 : 1));
  const payload = packr.pack({ meta: artifact.meta, program: artifact.program, plan: artifact.plan, blobs });
  const hash = createHash('sha256').update(payload).digest();
  return Buffer.concat([magic, Buffer.from([artifactFormatVersion]), hash, payload]);
}

/** The content hash of encoded bytes: lower-case hex SHA-256 of the whole artifact. */
export function hashArtifact(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Throws ArtifactRefused on anything that is not a whole, undamaged artifact of this format version. */
export function decodeArtifact(bytes: Uint8Array): Artifact {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < headerBytes || buffer.length > artifactBytesMax || !buffer.subarray(0, magic.length).equals(magic)) {
    throw new ArtifactRefused('not-an-artifact', 'these bytes do not begin like a Gatehouse artifact; give the file that `gatehouse compile -o` wrote');
  }
  const version = buffer[magic.length] as number;
  if (version !== artifactFormatVersion) {
    throw new ArtifactRefused('format-version', `the artifact has format version ${version}, this data plane reads ${artifactFormatVersion}: compile the rules again with the same release`);
  }
  const payload = buffer.subarray(headerBytes);
  if (!createHash('sha256').update(payload).digest().equals(buffer.subarray(8, headerBytes))) {
    throw new ArtifactRefused('damaged', 'the artifact does not match its checksum: it was cut or changed on the way; copy or compile it again');
  }
  const content = unpack(payload);
  if (content?.program?.version !== 1 || !Array.isArray(content.plan?.classes) || !Array.isArray(content.blobs)) {
    throw new ArtifactRefused('content', 'the artifact holds no rule program that this release can run: compile the rules again');
  }
  return { meta: content.meta, program: content.program, plan: content.plan, blobs: new Map(content.blobs) };
}

function unpack(payload: Buffer): { meta: ArtifactMeta; program: Program; plan: PlanIR; blobs: [string, Uint8Array][] } | null {
  try {
    return packr.unpack(payload) as ReturnType<typeof unpack>;
  } catch (error) {
    throw new ArtifactRefused('content', `the artifact's payload cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
