// The payload of an artifact, section by section: what is in it, how its bytes are made and how they are read.
//
// The payload is one record of MessagePack (msgpackr's extension: the names once, then the values) whose fields are the
// sections in the order of the table. A new section goes to the end and needs another format version, for a reader
// takes the payload whole.

// The plain JavaScript half: the package's native accelerator crashes in worker threads, and an artifact is read once.
import { Packr } from 'msgpackr/pack';
import type { Program } from './ir.js';
import type { PlanIR } from './plan.js';

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

interface Section<Content> {
  /** The section's bytes, in pieces that stand one behind the other. */
  readonly encode: (content: Content, packr: Packr) => readonly Uint8Array[];
  /** From the unpacked field; null = not what this release can run. */
  readonly decode: (field: unknown) => Content | null;
}

const sections: { readonly [Name in keyof Artifact]: Section<Artifact[Name]> } = {
  meta: {
    encode: (meta, packr) => [packr.pack(meta)],
    decode: (field) => field as ArtifactMeta,
  },
  program: {
    encode: (program, packr) => [packr.pack(program)],
    decode: (field) => ((field as Program | undefined)?.version === 1 ? (field as Program) : null),
  },
  plan: {
    encode: (plan, packr) => [packr.pack(plan)],
    decode: (field) => (Array.isArray((field as PlanIR | undefined)?.classes) ? (field as PlanIR) : null),
  },
  blobs: {
    encode: encodeBlobs,
    decode: (field) => (Array.isArray(field) ? new Map(field as [string, Uint8Array][]) : null),
  },
};
const names = Object.keys(sections) as (keyof Artifact)[];

/** Kinds of records that have a number at a time: the package's own choice, which it halves for sequential packers. */
const recordNumbers = 64;
const packing = { useRecords: true, structuredClone: false, moreTypes: false, mapsAsObjects: true } as const;

/** In pieces, because the databases are nine tenths of it: whoever joins them copies each byte once. */
export function encodeSections(artifact: Artifact): readonly Uint8Array[] {
  // One packer for all sections, since it numbers the records that it meets; a fresh one, so that nothing that was
  // packed before shows in the bytes.
  const packr = new Packr({ ...packing, sequential: true, maxOwnStructures: recordNumbers });
  // A record of nothing (one byte each) begins with its definition.
  const definition = packr.pack(Object.fromEntries(names.map((name) => [name, null]))).subarray(0, -names.length);
  const encode = <Name extends keyof Artifact>(name: Name): readonly Uint8Array[] =>
    sections[name].encode(artifact[name], packr);
  return [definition, ...names.flatMap(encode)];
}

/** Null = some section is missing or not of this release. Throws what the unpacker throws. */
export function decodeSections(payload: Buffer): Artifact | null {
  const record = unpack(payload);
  const decoded = names.map((name) => [name, sections[name].decode(record?.[name])] as const);
  return decoded.some(([, content]) => content === null) ? null : (Object.fromEntries(decoded) as unknown as Artifact);
}

const reader = new Packr(packing);
const nil = Buffer.from([0xc0]);

function unpack(payload: Buffer): Partial<Record<keyof Artifact, unknown>> | null {
  try {
    return reader.unpack(payload) as Partial<Record<keyof Artifact, unknown>> | null;
  } finally {
    reader.unpack(nil); // the package holds on to the bytes it read last, 27 MB in every thread
  }
}

/** A list of [key, bytes], by key, as the packer would write it; but that would copy the bytes whenever it grows. */
function encodeBlobs(blobs: Artifact['blobs'], packr: Packr): readonly Uint8Array[] {
  const list = [...blobs].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    arrayHead(list.length),
    ...list.flatMap(([key, bytes]) => [arrayHead(2), packr.pack(key), binHead(bytes.length), bytes]),
  ];
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
