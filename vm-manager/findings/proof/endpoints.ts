// /vulnerabilities/{id}/evidence: what shows that a finding is real. Reports hold some of it; people add requests,
// answers, stacks, notes and pictures, and may say that it proves an exploit. Texts are masked before they are stored.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { json, type Tx } from '../../database.js';
import { mediaTypeOf } from '../../evidence/file-types.js';
import { endpoint, unfit, type Call, type Endpoint } from '../../kit/endpoint.js';
import { checkFields, receive } from '../../kit/upload/receive.js';
import { afterProof } from '../../runtime/confirm.js';
import { maskSecrets, maskValues } from '../../secrets/mask.js';
import { refreshFindings } from '../refresh.js';
import { readDetails, requireFinding } from '../store.js';
import { transition } from '../transition.js';

const closed = { additionalProperties: false } as const;
const fileBytesMax = 2 * 1024 * 1024;
/** Of one finding. */
const evidenceMax = 100;
const bytesOfFindingMax = 20 * 1024 * 1024;
/** So many bytes of a text file are shown as text. */
const textMax = 65_536;

const kinds = ['request', 'response', 'exchange', 'stack', 'poc', 'screenshot', 'log', 'note'] as const;
/** What a piece of evidence proves. */
const proofs = ['exploit', 'runtime', 'retest'] as const;

/** Of fields of an upload, which are checked by themselves. */
const Word = <const T extends readonly string[]>(words: T) =>
  Type.Union(words.map((one) => Type.Literal(one as T[number])));

const Title = Type.String({ minLength: 1, maxLength: 300, pattern: '\\S', description: 'text that is not blank' });
const Long = Type.String({ maxLength: 30_000 });
const Fields = Type.Object(
  {
    kind: Word(kinds),
    title: Title,
    request: Type.Optional(Long),
    response: Type.Optional(Long),
    text: Type.Optional(Long),
    proof: Type.Optional(Word(proofs)),
  },
  {
    ...closed,
    examples: [
      {
        kind: 'exchange',
        title: 'Another order is answered',
        request: 'GET /orders/43 HTTP/1.1',
        response: 'HTTP/1.1 200 OK',
        proof: 'exploit',
      },
    ],
  },
);
type Given = Static<typeof Fields>;
const upload = {
  bytesMax: fileBytesMax,
  fields: Type.Object({ ...Fields.properties, name: Type.Optional(Type.String({ maxLength: 200 })) }, closed),
};

const Item = Type.Object({
  id: Nullable(Type.String({ description: 'null: reported by a tool' })),
  kind: Type.String(),
  title: Type.String(),
  request: Nullable(Type.String()),
  response: Nullable(Type.String()),
  text: Nullable(Type.String()),
  told: Type.Unknown({ description: 'what the tool reported, word for word, without secrets' }),
  file: Nullable(
    Type.Object({
      name: Type.String(),
      media_type: Type.String(),
      bytes: Type.Integer(),
      sha256: Type.String(),
      content_base64: Nullable(Type.String({ description: 'with `evidence_id` of the query' })),
    }),
  ),
  proof: Nullable(OneOf(proofs)),
  created_by: Nullable(Type.String()),
  created_at: Nullable(Time),
});

interface EvidenceRow {
  readonly id: number;
  readonly kind: string;
  readonly title: string;
  readonly body: { readonly request?: string; readonly response?: string; readonly text?: string };
  readonly file_name: string | null;
  readonly media_type: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly content?: Buffer | null;
  readonly proof: (typeof proofs)[number] | null;
  readonly created_by: string;
  readonly created_at: Date;
}

const viewRow = (row: EvidenceRow) => ({
  id: String(row.id),
  kind: row.kind,
  title: row.title,
  request: row.body.request ?? null,
  response: row.body.response ?? null,
  text: row.body.text ?? null,
  told: null,
  file:
    row.file_name === null
      ? null
      : {
          name: row.file_name,
          media_type: row.media_type ?? '',
          bytes: row.bytes ?? 0,
          sha256: row.sha256 ?? '',
          content_base64: row.content?.toString('base64') ?? null,
        },
  proof: row.proof,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
});

/** Of a report; each tool writes it in its own way. */
const viewTold = (told: unknown) => {
  const kind = (told as { readonly kind?: unknown } | null)?.kind;
  return {
    ...{ id: null, request: null, response: null, text: null, file: null, proof: null },
    ...{ created_by: null, created_at: null },
    kind: typeof kind === 'string' ? kind : 'told',
    title: '',
    told: maskValues(told),
  };
};

const columns = 'id, kind, title, body, file_name, media_type, bytes, sha256, proof, created_by, created_at';

const list = endpoint({
  method: 'GET',
  path: '/vulnerabilities/:id/evidence',
  permission: 'view_findings',
  kind: 'A',
  summary: 'What shows that it is real: what users added, the newest first, then what tools reported; without secrets',
  query: Type.Object(
    {
      evidence_id: Type.Optional(
        Type.String({ maxLength: 20, pattern: '^\\d{1,18}$', description: 'this one, with the bytes of its file' }),
      ),
    },
    closed,
  ),
  answer: Type.Object({ exploit_confirmed: Type.Boolean(), items: Type.Array(Item) }),
  handle: async ({ sql, reach, params, query }) => {
    const row = await requireFinding(sql, reach, params['id'] ?? '');
    const one = query.evidence_id;
    const rows = await sql<EvidenceRow[]>`
      select ${sql.unsafe(one === undefined ? columns : `${columns}, content`)} from vm_finding_evidence
      where finding_id = ${row.id} and ${one === undefined ? sql`true` : sql`id = ${one}`} order by id desc`;
    const told = one === undefined ? ((await readDetails(sql, row.id))?.evidence ?? []) : [];
    return { exploit_confirmed: row.exploit_confirmed, items: [...rows.map(viewRow), ...told.map(viewTold)] };
  },
});

interface File {
  readonly name: string;
  readonly mediaType: string;
  /** Of a text: without secrets. */
  readonly bytes: Buffer;
  readonly text: string | null;
}

/** Throws 422 for a kind of file that is not kept. */
function toFile(name: string, bytes: Buffer): File {
  const mediaType = mediaTypeOf(name, bytes);
  const isText = /^(?:text\/|application\/(?:json|jsonl|xml|yaml)|message\/)/.test(mediaType);
  if (!isText) return { name: maskSecrets(name), mediaType, bytes, text: null };
  const masked = Buffer.from(maskSecrets(bytes.toString('utf8')));
  return { name: maskSecrets(name), mediaType, bytes: masked, text: masked.toString('utf8').slice(0, textMax) };
}

async function received(call: Call): Promise<{ given: Given; file: File | null }> {
  if (/\bjson\b/i.test(call.request.headers['content-type'] ?? ''))
    return { given: checkFields<Given>((call.body ?? {}) as Record<string, unknown>, Fields), file: null };
  const sent = await receive<Given & { readonly name?: string }>(call.request, upload);
  try {
    const { name = sent.fileName, ...given } = sent.fields;
    if (name === '') throw unfit('name', 'is missing', 'name the file, such as proof.png');
    return { given, file: toFile(name, await readFile(sent.file)) };
  } finally {
    await sent.discard();
  }
}

/** Marks the finding as exploited: a proof beats an opinion, and a closed finding comes back. */
async function prove(tx: Tx, call: Call, id: string, evidence: number, proof: string): Promise<void> {
  const row = await requireFinding(tx, call.reach, id, true);
  const to = afterProof(row.status);
  const reason = `proven (${proof}) by evidence ${evidence}`;
  if (to !== null) await transition(tx, row, { to, by: 'proof', reason }, call.caller.actor, call.now);
  await tx`
    update vm_findings set exploit_confirmed = true, updated_at = ${call.now}, version = version + 1,
      runtime_confirmed = runtime_confirmed or ${proof === 'runtime'}
    where id = ${row.id}`;
  await refreshFindings(tx, [row.id], call.now);
}

async function store(tx: Tx, call: Call, given: Given, file: File | null): Promise<EvidenceRow> {
  const id = call.params['id'] ?? '';
  const finding = await requireFinding(tx, call.reach, id, true);
  const [kept] = await tx<{ n: number; bytes: number }[]>`
    select count(*)::int as n, coalesce(sum(bytes), 0)::int as bytes from vm_finding_evidence
    where finding_id = ${finding.id}`;
  if ((kept?.n ?? 0) >= evidenceMax)
    throw new ApiError('conflict', `The finding has ${evidenceMax} pieces of evidence, which is the most.`);
  if ((kept?.bytes ?? 0) + (file?.bytes.length ?? 0) > bytesOfFindingMax)
    throw new ApiError('conflict', `The files of a finding have ${bytesOfFindingMax} bytes at most.`);
  const { kind, title, proof = null, ...texts } = given;
  const body = maskValues({ ...texts, ...(file?.text == null ? {} : { text: texts.text ?? file.text }) });
  const [row] = await tx<EvidenceRow[]>`
    insert into vm_finding_evidence ${tx({
      finding_id: finding.id,
      kind,
      title: maskSecrets(title),
      body: json(tx, body),
      file_name: file?.name ?? null,
      media_type: file?.mediaType ?? null,
      bytes: file?.bytes.length ?? null,
      sha256: file === null ? null : createHash('sha256').update(file.bytes).digest('hex'),
      content: file?.bytes ?? null,
      proof,
      created_by: call.caller.actor.name,
      created_at: call.now,
    } as never)} returning ${tx.unsafe(columns)}`;
  if (row === undefined) throw new Error('the evidence was not stored');
  if (proof !== null) await prove(tx, call, id, row.id, proof);
  return row;
}

const add = endpoint({
  method: 'POST',
  path: '/vulnerabilities/:id/evidence',
  permission: 'edit_findings',
  kind: 'B',
  summary: 'Add evidence as JSON, or a file as multipart; with `proof` the finding is confirmed as exploitable',
  upload,
  body: Fields,
  status: 201,
  answer: Item,
  handle: async (call) => {
    await requireFinding(call.sql, call.reach, call.params['id'] ?? '');
    const { given, file } = await received(call);
    const needed = given.request ?? given.response ?? given.text;
    if (file === null && (needed === undefined || needed.trim() === ''))
      throw unfit('/text', 'is missing', 'give text, request or response, or send a file as multipart');
    const row = await call.audited(
      'vm.update',
      (made: EvidenceRow) => `added the evidence ${made.id} to the finding ${call.params['id']}`,
      (tx) => store(tx, call, given, file),
      (made: EvidenceRow) => ({ kind: made.kind, proof: made.proof, sha256: made.sha256 }),
    );
    return viewRow(row);
  },
});

export const evidenceOfFindingEndpoints: readonly Endpoint[] = [list, add];
