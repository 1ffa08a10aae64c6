// A bounded sample of recent requests for replays. Nodes send some (proxy/records/request-records.ts decides which);
// what is sensitive is masked before it is stored; the newest `samplesKept` stay, half of them ordinary requests and
// half of them requests that a rule saw, so that neither a quiet month nor an attack pushes the others out.
import { Type, type Static } from '@sinclair/typebox';
import type { MaskLevel } from '#proxy/contract';
import type { Queryable, Tx } from '../db/client.js';
import type { ReplaySample } from '../change/replay.js';
import { nothingMasked } from '../masking/mask-records.js';
import type { Masker } from '../masking/masker.js';

export const samplesKept = 5000;
const samplesPerBatchMax = 500;
/** A larger sample would be a copy of the traffic, not a sample of it. */
const bodyCharsMax = 64 * 1024;

const sampleKinds = ['ordinary', 'event'] as const;
export type SampleKind = (typeof sampleKinds)[number];
const keptOfKind = samplesKept / sampleKinds.length;

export const SampleRecord = Type.Object(
  {
    /** Absent from nodes of older releases, which sent events only. */
    kind: Type.Optional(Type.Unsafe<SampleKind>({ type: 'string', enum: [...sampleKinds] })),
    request_id: Type.String({ maxLength: 128 }),
    at_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    site: Type.String({ maxLength: 200 }),
    method: Type.String({ maxLength: 64 }),
    uri: Type.String({ maxLength: 65_536 }),
    protocol: Type.String({ maxLength: 32 }),
    headers: Type.Array(Type.String({ maxLength: 65_536 }), { maxItems: 2000 }),
    body: Type.Union([Type.String({ maxLength: bodyCharsMax }), Type.Null()]),
    client_ip: Type.String({ maxLength: 64 }),
  },
  { additionalProperties: false },
);
export type SampleRecord = Static<typeof SampleRecord>;

export const SampleBatch = Type.Object(
  {
    node: Type.String({ minLength: 1, maxLength: 100 }),
    samples: Type.Array(SampleRecord, { maxItems: samplesPerBatchMax }),
  },
  { additionalProperties: false },
);

/** A sample in which nothing is left that must not be kept. */
export interface MaskedSampleRow {
  readonly at: Date;
  readonly kind: SampleKind;
  readonly sample: ReplaySample;
}

export async function maskSamples(
  samples: readonly SampleRecord[],
  level: MaskLevel,
  masker: Pick<Masker, 'mask'>,
): Promise<MaskedSampleRow[]> {
  const bare = samples.map(({ uri, headers, body }) => ({ uri, headers, body }));
  const masked = await masker.mask({ ...nothingMasked, samples: bare }, level);
  return samples.map((sample, index) => {
    const { uri, headers, body } = masked.samples[index] ?? { uri: '', headers: [], body: null };
    const { request_id: requestId, at_ms: atMs, site, method, protocol, client_ip: clientIp } = sample;
    const whole: ReplaySample = { requestId, atMs, site, method, uri, protocol, headers, body, clientIp };
    return { at: new Date(atMs), kind: sample.kind ?? 'event', sample: whole };
  });
}

/** Bytes as latin1 text are kept as base64: PostgreSQL's text takes no NUL, and attackers send them. */
export async function insertSamples(sql: Tx, samples: readonly MaskedSampleRow[]): Promise<void> {
  if (samples.length === 0) return;
  const rows = samples.map(({ at, kind, sample }) => ({
    at,
    kind,
    body: Buffer.from(JSON.stringify(sample), 'utf8').toString('base64'),
  }));
  await sql`
    insert into request_samples (at, kind, body)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (at timestamptz, kind text, body text)`;
  for (const kind of new Set(rows.map((row) => row.kind)))
    await sql`
      delete from request_samples where kind = ${kind} and id <= (
        select id from request_samples where kind = ${kind} order by id desc offset ${keptOfKind} limit 1)`;
}

/** The newest of each kind by turns, newest first; where one kind has few, the other fills up. */
export async function findSamples(sql: Queryable, limit: number): Promise<ReplaySample[]> {
  const most = Math.min(limit, samplesKept);
  // by the index, newest first, and no further than one kind alone could be asked for
  const newest = (kind: SampleKind) => sql`(
    select id, body, row_number() over (order by id desc) as place from request_samples
    where kind = ${kind} order by id desc limit ${most})`;
  const rows = await sql<{ body: string }[]>`
    select body from (${newest(sampleKinds[0])} union all ${newest(sampleKinds[1])}) as places
    order by place, id desc limit ${most}`;
  return rows.map((row) => JSON.parse(Buffer.from(row.body, 'base64').toString('utf8')) as ReplaySample);
}

export async function pruneSamples(sql: Queryable, before: Date): Promise<void> {
  await sql`delete from request_samples where at < ${before}`;
}
