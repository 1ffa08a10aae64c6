// The payload of an artifact, section by section: what is in it, how its bytes are made and how they are read.
//
// The payload is one record of MessagePack (msgpackr's extension: the names once, then the values) whose fields are the
// sections in the order of the table. A new section goes to the end and needs another format version, for a reader
// takes the payload whole.
//
// Program and plan are JSON inside, a character a byte: every worker reads them, and the JSON reader of V8 takes a
// third of the time that a packer written in JavaScript does. The patterns behind the databases are two thirds of the
// plan and read only where a database has to be rebuilt: a section of their own, read when somebody asks.

// The plain JavaScript half: the package's native accelerator crashes in worker threads, and an artifact is read once.
import { Packr } from 'msgpackr/pack';
import type { Program } from './ir.js';
import type { DatabaseIR, PlanIR } from './plan.js';

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

/** What a section holds. */
interface Contents {
  readonly meta: ArtifactMeta;
  readonly program: Program;
  /** Without the patterns of its databases. */
  readonly plan: PlanIR;
  /** Parallel to the plan's databases, as JSON. */
  readonly patterns: Buffer;
  readonly blobs: Artifact['blobs'];
}

interface Section<Content> {
  /** The section's bytes, in pieces that stand one behind the other. */
  readonly encode: (artifact: Artifact, packr: Packr) => readonly Uint8Array[];
  /** From the unpacked field; null = not what this release can run. */
  readonly decode: (field: unknown) => Content | null;
}

const sections: { readonly [Name in keyof Contents]: Section<Contents[Name]> } = {
  meta: {
    encode: ({ meta }, packr) => [packr.pack(meta)],
    decode: (field) => field as ArtifactMeta,
  },
  program: {
    encode: ({ program }) => binary(toJson(program)),
    decode: (field) => readJson<Program>(field, ({ version }) => version === 1),
  },
  plan: {
    encode: ({ plan }) => binary(toJson({ ...plan, databases: plan.databases.map(withoutPatterns) })),
    decode: (field) => readJson<PlanIR>(field, ({ classes }) => Array.isArray(classes)),
  },
  patterns: {
    encode: ({ plan }) => binary(toJson(plan.databases.map(({ patterns }) => patterns))),
    decode: (field) => (Buffer.isBuffer(field) ? field : null),
  },
  blobs: {
    encode: ({ blobs }, packr) => encodeBlobs(blobs, packr),
    decode: (field) => (Array.isArray(field) ? new Map(field as [string, Uint8Array][]) : null),
  },
};
const names = Object.keys(sections) as (keyof Contents)[];

function withoutPatterns({ key, atomOf }: DatabaseIR): Omit<DatabaseIR, 'patterns'> {
  return { key, atomOf };
}

/** A character a byte; those beyond are escaped. */
function toJson(content: unknown): Buffer {
  const text = JSON.stringify(content).replace(
    /[\u0100-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(text, 'latin1');
}

/** Null = it is none, or not right. Throws what the reader of JSON throws. */
function readJson<Content>(field: unknown, isRight: (content: Partial<Content>) => boolean): Content | null {
  if (!Buffer.isBuffer(field)) return null;
  const content = JSON.parse(field.toString('latin1')) as Content | null;
  return content !== null && isRight(content) ? content : null;
}

/** A plan that was read: the patterns of all databases are read when those of one are first asked for. */
function withPatterns(plan: PlanIR, bytes: Buffer): PlanIR {
  let kept: WeakRef<readonly DatabaseIR['patterns'][]> | null = null;
  const all = (): readonly DatabaseIR['patterns'][] => {
    const known = kept?.deref(); // who rebuilds asks for all of them in turn, and nobody keeps them
    if (known !== undefined) return known;
    const read = JSON.parse(bytes.toString('latin1')) as DatabaseIR['patterns'][];
    kept = new WeakRef(read);
    return read;
  };
  const databases = plan.databases.map(
    ({ key, atomOf }, place): DatabaseIR => ({
      key,
      get patterns() {
        return all()[place] ?? [];
      },
      atomOf,
    }),
  );
  return { ...plan, databases };
}

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
  return [definition, ...names.flatMap((name) => sections[name].encode(artifact, packr))];
}

/**
 * Null = some section is missing or not of this release. `isFormer`: of format 3. Throws what the unpacker throws.
 */
export function decodeSections(payload: Buffer, isFormer: boolean): Artifact | null {
  const record = unpack(payload);
  if (isFormer) return decodeFormer(record);
  const decoded: Partial<Record<keyof Contents, unknown>> = {};
  for (const name of names) if ((decoded[name] = sections[name].decode(record?.[name])) === null) return null;
  const { meta, program, plan, patterns, blobs } = decoded as Contents;
  return { meta, program, plan: withPatterns(plan, patterns), blobs };
}

/**
 * Format 3 had the same content, with program and plan packed and the patterns in the plan. Read, and not written any
 * more: what served before an update serves from its first moment on, and not when it has been compiled anew.
 */
function decodeFormer(record: Partial<Record<keyof Artifact, unknown>> | null): Artifact | null {
  const { meta, program, plan, blobs } = record ?? {};
  if ((program as Program | undefined)?.version !== 1 || !Array.isArray((plan as PlanIR | undefined)?.classes))
    return null;
  const read = sections.blobs.decode(blobs);
  return read === null
    ? null
    : { meta: meta as ArtifactMeta, program: program as Program, plan: plan as PlanIR, blobs: read };
}

const reader = new Packr(packing);
const nil = Buffer.from([0xc0]);

function unpack(payload: Buffer): Partial<Record<keyof Contents, unknown>> | null {
  try {
    return reader.unpack(payload) as Partial<Record<keyof Contents, unknown>> | null;
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
/** A byte string. */
function binary(bytes: Buffer): readonly Uint8Array[] {
  return [binHead(bytes.length), bytes];
}
function withCount(tag: number, count: number): Buffer {
  const head = Buffer.from([tag, 0, 0, 0, 0]);
  head.writeUInt32BE(count, 1);
  return head;
}
