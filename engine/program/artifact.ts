// The artifact: immutable bytes, content-addressed, that the compiler emits and every data plane loads.
//
//   offset 0   8 bytes   magic "GATEHSE" + format version (one byte)
//   offset 8   32 bytes  SHA-256 of the payload
//   offset 40  payload   the sections (artifact-sections.ts)
//
// A loader must expect refusal: another format version, damage, a foreign file. Compiled Hyperscan databases inside may
// be refused too (other library version or CPU); the plan carries their pattern sources, and ruleset.ts rebuilds.
import { createHash } from 'node:crypto';
import { decodeSections, encodeSections, type Artifact } from './artifact-sections.js';
import { finishSteps, type Steps } from './steps.js';

/** Of what is written. The one before is read, too (artifact-sections.ts). */
export const artifactFormatVersion = 4;
const formerFormatVersion = 3;
const magic = Buffer.from('GATEHSE', 'latin1');
const checksumAt = magic.length + 1;
const headerBytes = 40;
/** Larger than any artifact we make (PL4 is about 48 MB); a file beyond it is not ours. */
const artifactBytesMax = 512 * 1024 * 1024;

export class ArtifactRefused extends Error {
  constructor(
    readonly code: 'not-an-artifact' | 'format-version' | 'damaged' | 'content',
    message: string,
  ) {
    super(message);
  }
}

function checksumOf(payload: Uint8Array): Buffer {
  return createHash('sha256').update(payload).digest();
}

/** Half a millisecond of hashing. */
const checksumStepBytes = 1024 * 1024;

function* checksumSteps(payload: Buffer): Steps<Buffer> {
  const hash = createHash('sha256');
  for (let at = 0; at < payload.length; at += checksumStepBytes) {
    hash.update(payload.subarray(at, at + checksumStepBytes));
    yield;
  }
  return hash.digest();
}

/** Deterministic: equal content gives equal bytes, so the hash of the bytes is a name. */
export function encodeArtifact(artifact: Artifact): Buffer {
  const pieces = encodeSections(artifact);
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, headerBytes));
  magic.copy(whole, 0);
  whole[magic.length] = artifactFormatVersion;
  let at = headerBytes;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  checksumOf(whole.subarray(headerBytes)).copy(whole, checksumAt);
  return whole;
}

/** The content hash of encoded bytes: lower-case hex SHA-256 of the whole artifact. */
export function hashArtifact(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Throws ArtifactRefused on anything that is not a whole, undamaged artifact of this format version or the one before.
 * `isVerified`: the caller has held these very bytes against the artifact's name, so damage is out of the question and
 * the checksum of 20 MB, a dozen milliseconds, is left out.
 */
export function decodeArtifact(bytes: Uint8Array, isVerified = false): Artifact {
  return finishSteps(decodingArtifact(bytes, isVerified));
}

/** The same, with places to pause at on the way through the checksum and behind it. */
export function* decodingArtifact(bytes: Uint8Array, isVerified = false): Steps<Artifact> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isFormer = checkHeader(buffer) === formerFormatVersion;
  const payload = buffer.subarray(headerBytes);
  const checksum = isVerified ? null : yield* checksumSteps(payload);
  if (checksum !== null && !checksum.equals(buffer.subarray(checksumAt, headerBytes))) {
    throw new ArtifactRefused(
      'damaged',
      'the artifact does not match its checksum: it was cut or changed on the way; copy or compile it again',
    );
  }
  const artifact = readPayload(payload, isFormer);
  if (artifact === null)
    throw new ArtifactRefused(
      'content',
      'the artifact holds no rule program that this release can run: compile the rules again',
    );
  return artifact;
}

/** Returns the format version. */
function checkHeader(buffer: Buffer): number {
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
  if (version !== artifactFormatVersion && version !== formerFormatVersion)
    throw new ArtifactRefused(
      'format-version',
      `the artifact has format version ${version}, this data plane reads ${formerFormatVersion} and ` +
        `${artifactFormatVersion}: compile the rules again with the same release`,
    );
  return version;
}

function readPayload(payload: Buffer, isFormer: boolean): Artifact | null {
  try {
    return decodeSections(payload, isFormer);
  } catch (error) {
    throw new ArtifactRefused(
      'content',
      `the artifact's payload cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
