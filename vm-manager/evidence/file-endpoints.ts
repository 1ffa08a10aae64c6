// /evidence/files: what people add to packs (policies, minutes, screenshots), each for the controls that it names.
import { ApiError, Nullable, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { readFile } from 'node:fs/promises';
import { catalogueOf } from '../compliance/lookup.js';
import { findControl } from '../compliance/catalogue.js';
import { allOf, json } from '../database.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkVersion } from '../kit/resource.js';
import { receive } from '../kit/upload/receive.js';
import { storeBytes } from '../kit/upload/stored-bytes.js';
import { contentOf } from './build.js';
import { fileBytesMax, fileEndings, mediaTypeOf } from './file-types.js';
import { sha256 } from './pack/pack.js';
import { KeepDays, KeepLonger, laterEnd, refuseKept } from './pack-endpoints.js';
import { findRecord } from './record.js';
import { FileView, keepUntil, requireFile, viewFile, type FileRow } from './store.js';

const closed = { additionalProperties: false } as const;
const view = { permission: 'view_evidence', ofOrganisation: 'Files of evidence' } as const;
const build = { permission: 'build_evidence', ofOrganisation: 'Files of evidence' } as const;
const filesMax = 1000;
const allBytesMax = 2 * 1024 * 1024 * 1024;
const controlsMax = 50;

const Description = Type.String({ maxLength: 1000 });
const Fields = Type.Object(
  {
    name: Type.Optional(
      Type.String({ maxLength: 200, description: `of the file; ends with .${fileEndings.join(', .')}` }),
    ),
    description: Type.Optional(Description),
    controls: Type.Optional(Type.String({ maxLength: 4000, description: 'framework:number, separated by commas' })),
    keep_days: Type.Optional(KeepDays),
  },
  closed,
);
const upload = { bytesMax: fileBytesMax, fields: Fields };

/** Throws 422 for a control that no framework has. */
async function checkControls(call: Call, controls: readonly string[]): Promise<readonly string[]> {
  if (controls.length > controlsMax) throw unfit('controls', `are more than ${controlsMax}`);
  const catalogue = await catalogueOf(call);
  for (const control of controls)
    if (findControl(catalogue, control) === null)
      throw unfit(
        'controls',
        `has ${control.slice(0, 60)}, which no framework has`,
        'write framework:number, such as pci-dss:6.2.4; GET /api/v1/compliance/frameworks/pci-dss lists them',
      );
  return [...new Set(controls)];
}

const list = endpoint({
  method: 'GET',
  path: '/evidence/files',
  ...view,
  kind: 'C',
  summary: 'Files that users added, the newest first',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery({ created_at: { column: 'created_at', type: 'time' } }),
      control: Type.Optional(Type.String({ maxLength: 100, description: 'framework:number' })),
    },
    closed,
  ),
  answer: List(FileView),
  handle: async ({ sql, query }) => {
    const { control, ...wanted } = query;
    const where = allOf(sql, control === undefined ? [] : [sql`controls @> ${json(sql, [control])}`]);
    const sorts = { created_at: { column: 'created_at', type: 'time' } } as const;
    const page = await readPage<FileRow>(
      sql,
      { table: 'vm_evidence_files', where, sorts, sort: '-created_at' },
      wanted,
    );
    return { ...page, items: page.items.map(viewFile) };
  },
});

const one = endpoint({
  method: 'GET',
  path: '/evidence/files/:id',
  ...view,
  kind: 'C',
  summary: 'One file: what is known of it',
  answer: FileView,
  handle: async ({ sql, params, reply }) => {
    const row = await requireFile(sql, params['id'] ?? '');
    reply.header('etag', `"${row.version}"`);
    return viewFile(row);
  },
});

/** How the audit log says that a file was added. */
const fileDetails = (id: number, sum: string) => ({ file: String(id), sha256: sum });

async function refuseMore({ sql }: Call, bytes: number): Promise<void> {
  const [all] = await sql<{ n: number; bytes: number }[]>`
    select count(*)::integer as n, coalesce(sum(bytes), 0)::bigint as bytes from vm_evidence_files`;
  if ((all?.n ?? 0) >= filesMax || (all?.bytes ?? 0) + bytes > allBytesMax)
    throw new ApiError(
      'conflict',
      `There is room for ${filesMax} files of ${allBytesMax} bytes together: remove some whose time is over.`,
    );
}

const add = endpoint({
  method: 'POST',
  path: '/evidence/files',
  ...build,
  kind: 'I',
  summary: `Add a file of at most ${fileBytesMax} bytes: multipart with the part "file", or the file alone`,
  upload,
  status: 201,
  answer: FileView,
  handle: async (call) => {
    const sent = await receive<Static<typeof Fields>>(call.request, upload);
    try {
      const { name: given = sent.fileName, description = '', controls = '', keep_days: days } = sent.fields;
      const name = given.replaceAll(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069/\\]+/g, '_').trim();
      if (name.length > 200) throw unfit('name', 'is longer than 200 characters', 'give a shorter one');
      if (name === '') throw unfit('name', 'is missing', 'give the name of the file');
      const content = await readFile(sent.file);
      const type = mediaTypeOf(name, content);
      const named = await checkControls(
        call,
        controls
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
      );
      await refuseMore(call, content.length);
      const row = await call.audited(
        'vm.create',
        (made: FileRow) => `added the file of evidence ${made.id}`,
        async (tx) => {
          const [made] = await tx<FileRow[]>`
            insert into vm_evidence_files ${tx({
              ...{ name, media_type: type, description, controls: json(tx, named), bytes: content.length },
              ...{ sha256: sha256(content), keep_until: keepUntil(call.now, days) },
              ...{ created_by: call.caller.actor.name, created_at: call.now, updated_at: call.now },
            } as never)} returning *`;
          if (made === undefined) throw new Error('the file was not stored');
          await storeBytes(
            tx,
            content,
            (whole) => tx`insert into vm_evidence_file_contents (file_id, content) values (${made.id}, ${whole})`,
          );
          return made;
        },
        (made) => fileDetails(made.id, made.sha256),
      );
      return viewFile(row);
    } finally {
      await sent.discard();
    }
  },
});

const patch = endpoint({
  method: 'PATCH',
  path: '/evidence/files/:id',
  ...build,
  kind: 'C',
  summary: 'Change what a file is for, or how long it is kept; its content never changes',
  body: Type.Object(
    {
      description: Type.Optional(Description),
      controls: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: controlsMax })),
      keep_days: Type.Optional(KeepLonger),
      hold: Type.Optional(Type.Boolean()),
    },
    { ...closed, minProperties: 1, examples: [{ controls: ['pci-dss:6.2.4'], hold: true }] },
  ),
  answer: FileView,
  handle: async (call) => {
    const before = await requireFile(call.sql, call.params['id'] ?? '');
    checkVersion(call.request.headers['if-match'], before.version);
    const until = laterEnd(before, call.body.keep_days);
    const { description = before.description, hold = before.hold } = call.body;
    const controls = await checkControls(call, call.body.controls ?? before.controls);
    await call.audited(
      'vm.update',
      `changed the file of evidence ${before.id}`,
      (tx) => tx`
        update vm_evidence_files set description = ${description}, controls = ${json(tx, controls)}, hold = ${hold},
          keep_until = ${until}, version = version + 1, updated_at = ${call.now} where id = ${before.id}`,
      () => call.body,
    );
    return viewFile(await requireFile(call.sql, String(before.id)));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/evidence/files/:id',
  ...build,
  kind: 'C',
  summary: 'Remove a file whose time is over; packs that have it keep their copy',
  status: 204,
  handle: async (call) => {
    const row = await requireFile(call.sql, call.params['id'] ?? '');
    refuseKept(row, call.now);
    await call.audited(
      'vm.delete',
      `removed the file of evidence ${row.id}`,
      (tx) => tx`delete from vm_evidence_files where id = ${row.id}`,
      () => fileDetails(row.id, row.sha256),
    );
  },
});

const download = endpoint({
  method: 'GET',
  path: '/evidence/files/:id/download',
  ...view,
  kind: 'X',
  summary: 'A file as it was added; browsers never show it',
  mediaType: 'application/octet-stream',
  handle: async ({ sql, params, reply }) => {
    const row = await requireFile(sql, params['id'] ?? '');
    const ending = /\.[A-Za-z0-9]+$/.exec(row.name)?.[0] ?? '';
    reply
      .header('content-disposition', `attachment; filename="evidence-file-${row.id}${ending}"`)
      .header('content-security-policy', "default-src 'none'; sandbox");
    return contentOf(sql, row.id);
  },
});

const verify = endpoint({
  method: 'POST',
  path: '/evidence/files/:id/verify',
  ...view,
  kind: 'B',
  reads: true,
  summary: 'Compute the SHA-256 of a file anew, and compare it with what the audit log says of the upload',
  answer: Type.Object({
    ok: Type.Boolean(),
    sha256: Type.String({ description: 'of the stored bytes, now' }),
    recorded: Nullable(Type.Boolean({ description: 'null: entries of that time were removed by retention' })),
    added_at: Time,
  }),
  handle: async ({ host, sql, params }) => {
    const row = await requireFile(sql, params['id'] ?? '');
    const now = sha256(await contentOf(sql, row.id));
    const { ok: recorded } = await findRecord(host, fileDetails(row.id, now), row.created_at);
    const ok = now === row.sha256 && recorded !== false;
    return { ok, sha256: now, recorded, added_at: row.created_at.toISOString() };
  },
});

/** What has names of its own stands before what has an id. */
export const fileEndpoints: readonly Endpoint[] = [list, add, one, patch, remove, download, verify];
