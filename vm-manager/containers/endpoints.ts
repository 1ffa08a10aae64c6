// /containers: images that were sent as archives, what they are made of, and Dockerfiles beside the rules.
import { ApiError, escapeLike, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import { allOf } from '../database.js';
import { severityNames } from '../findings/words.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { receive } from '../kit/upload/receive.js';
import { lintDockerfile } from './dockerfile.js';
import { register, type ImageFields } from './register.js';
import { besideOf, ImageView, viewImage, type Image } from './store.js';
import { vulnerabilitiesOf } from './vulnerabilities.js';

const closed = { additionalProperties: false } as const;
const Short = Type.String({ maxLength: 200 });
const visible = visibleByApplication('vm_images');

const upload = {
  bytesMax: 2 * 1024 ** 3,
  fields: Type.Object(
    {
      application_id: Type.String({ maxLength: 20 }),
      name: Type.Optional(
        Type.String({
          maxLength: 150,
          description: 'without the tag; by default that of the first tag in the archive',
        }),
      ),
      branch: Type.Optional(Short),
      commit: Type.Optional(Short),
      confirm_close: Type.Optional(
        Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
      ),
    },
    closed,
  ),
};

const list = endpoint({
  method: 'GET',
  path: '/containers/images',
  permission: 'view_code',
  kind: 'C',
  summary: 'Images that were looked at, newest first',
  query: Type.Object(
    {
      ...ListQuery,
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      name: Type.Optional(Short),
      digest: Type.Optional(Short),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name' })),
    },
    closed,
  ),
  answer: List(ImageView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, name, digest, q } = query;
    const where = allOf(sql, [
      visible(sql, reach),
      application === undefined
        ? sql`true`
        : /^\d{1,18}$/.test(application)
          ? sql`application_id = ${application}`
          : sql`false`,
      name === undefined ? sql`true` : sql`name = ${name}`,
      digest === undefined ? sql`true` : sql`digest = ${digest}`,
      q === undefined ? sql`true` : sql`name ilike ${`%${escapeLike(q)}%`}`,
    ]);
    const sorts = { updated_at: { column: 'updated_at', type: 'time' } } as const;
    const page = await readPage<Image>(sql, { table: 'vm_images', where, sorts, sort: '-updated_at' }, query);
    const beside = await besideOf(sql, page.items);
    return { ...page, items: page.items.map((row) => viewImage(row, beside(row))) };
  },
});

async function requireImage({ sql, reach, params }: Call): Promise<Image> {
  const id = toId(params['id'] ?? '', 'image');
  const [row] = await sql<Image[]>`select * from vm_images where id = ${id} and ${visible(sql, reach)}`;
  if (row === undefined) throw notFound('image', id);
  return row;
}

const one = endpoint({
  method: 'GET',
  path: '/containers/images/:id',
  permission: 'view_code',
  kind: 'C',
  summary: 'One image: its configuration, its layers and whose they are',
  answer: ImageView,
  handle: async (call) => {
    const row = await requireImage(call);
    return viewImage(row, (await besideOf(call.sql, [row]))(row));
  },
});

const add = endpoint({
  method: 'POST',
  path: '/containers/images',
  permission: 'import_findings',
  kind: 'I',
  summary:
    'Register an image and scan it: an archive of `docker save` or of the OCI layout (tar, tar.gz) as multipart with ' +
    'the part "file"; the run is followed at /runs/{id}',
  upload,
  status: 202,
  answer: ImageView,
  handle: async (call) => {
    const row = await register(call, await receive<ImageFields>(call.request, upload));
    return viewImage(row, (await besideOf(call.sql, [row]))(row));
  },
});

const Counts = Type.Object(Object.fromEntries(severityNames.map((name) => [name, Type.Integer()])));

const vulnerabilities = endpoint({
  method: 'GET',
  path: '/containers/images/:id/vulnerabilities',
  permission: 'view_findings',
  kind: 'A',
  summary: 'What the advisories of now say of the packages of an image, by the layer that brought each',
  answer: Type.Object({
    image_id: Type.String(),
    packages: Type.Integer({ description: 'that were compared; 0: nothing was' }),
    run_status: Nullable(Type.String({ description: 'of the scan; of one that failed no package is known' })),
    complete: Nullable(Type.Boolean({ description: 'false: something of it was not read; null: not scanned yet' })),
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        aliases: Type.Array(Type.String()),
        severity: OneOf(severityNames),
        summary: Type.String(),
        name: Type.String(),
        version: Type.String(),
        purl: Type.String(),
        path: Type.String(),
        fixed: Nullable(Type.String()),
        can_be_fixed: Nullable(Type.Boolean()),
        layer: Type.Integer(),
        of: OneOf(['base', 'own', 'unknown']),
        vuln_id: Nullable(Type.String({ description: 'the finding of the application, where there is one' })),
        status: Nullable(Type.String()),
      }),
    ),
    total: Type.Integer(),
    by_owner: Type.Object({ base: Counts, own: Counts, unknown: Counts }),
    not_comparable: Type.Integer({ description: 'pairs of a package and an advisory that cannot be compared' }),
    without_advisories: Type.Array(Type.String(), {
      description: 'ecosystems without an imported advisory: their packages were compared with nothing',
    }),
  }),
  handle: async (call) => vulnerabilitiesOf(call.sql, await requireImage(call)),
});

const dockerfile = endpoint({
  method: 'POST',
  path: '/containers/dockerfile',
  permission: 'run_code_scans',
  kind: 'R',
  reads: true,
  summary: 'A Dockerfile beside the rules of infrastructure and of secrets, at once; nothing is stored',
  body: Type.Object(
    {
      dockerfile: Type.String({ minLength: 1, maxLength: 1_000_000 }),
    },
    { ...closed, examples: [{ dockerfile: 'FROM debian:latest\nUSER root\n' }] },
  ),
  answer: Type.Object({
    complete: Type.Boolean({ description: 'false: it was not read to its end, see problems' }),
    items: Type.Array(
      Type.Object({
        rule: Type.String(),
        title: Type.String(),
        severity: OneOf(severityNames),
        line: Type.Integer(),
        end_line: Type.Integer(),
        message: Type.String(),
        remediation: Type.String(),
        cwes: Type.Array(Type.Integer()),
        suppressed: Nullable(Type.String()),
      }),
    ),
    problems: Type.Array(Type.String()),
    at: Time,
  }),
  handle: async ({ body, now }) => {
    const found = await lintDockerfile(body.dockerfile);
    if (found === null) throw new ApiError('busy', 'Other Dockerfiles are being looked at; try again in a moment.');
    return { ...found, at: now.toISOString() };
  },
});

export const containerEndpoints: readonly Endpoint[] = [list, add, one, vulnerabilities, dockerfile];
