// /branding: name, logo and colour of the installation. Reading is for everybody: the login page shows them.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Tx } from '../database.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { checkVersion } from '../kit/resource.js';
import { receive } from '../kit/upload/receive.js';
import { contrastOf } from './contrast.js';
import { readBrand, type BrandRow } from './current.js';
import { drawableLogo, drawnPixelsMax } from './drawable.js';
import { checkLogo, logoBytesMax } from './logo.js';

const closed = { additionalProperties: false } as const;
const write = { permission: 'manage_branding', ofOrganisation: 'Names and colours' } as const;
const members = ['name', 'sub', 'tagline', 'accent', 'logo'] as const;

const Word = (maxLength: number, description: string) =>
  Nullable(Type.String({ maxLength, description: `${description}; null: as the environment says` }));

const BrandView = Type.Object({
  name: Type.String(),
  sub: Nullable(Type.String()),
  tagline: Nullable(Type.String()),
  accent: Nullable(Type.String()),
  contrast: Nullable(
    Type.Object({
      light: Type.Number({ description: 'ratio against the ground of the light theme' }),
      dark: Type.Number(),
      adjusted: Type.Boolean({ description: 'one is below 3: the console takes a shade of it that is not' }),
    }),
  ),
  logo_url: Nullable(Type.String()),
  logo_in_reports: Type.Boolean({
    description: 'false beside a logo: reports show the name alone, until PUT /branding/report-logo gives a PNG',
  }),
  set: Type.Array(OneOf(members), { description: 'what was saved here; the rest is as the environment says' }),
  version: Type.Integer(),
});

const isSet = (row: BrandRow, member: (typeof members)[number]): boolean =>
  (member === 'logo' ? row.logo_sha256 : row[member]) !== null;

const view = (row: BrandRow, usual: string) => ({
  name: row.name ?? usual,
  sub: row.sub,
  tagline: row.tagline,
  accent: row.accent,
  contrast: row.accent === null ? null : contrastOf(row.accent),
  logo_url: row.logo_sha256 === null ? null : `/api/v1/branding/logo?v=${row.logo_sha256.slice(0, 16)}`,
  logo_in_reports: row.in_reports,
  set: members.filter((member) => isSet(row, member)),
  version: row.version,
});

const read = endpoint({
  method: 'GET',
  path: '/branding',
  permission: 'public',
  kind: 'C',
  summary: 'Name, colour and logo of the installation',
  answer: BrandView,
  handle: async ({ host, sql, reply }) => {
    const row = await readBrand(sql);
    reply.header('etag', `"${row.version}"`);
    return view(row, host.brandName);
  },
});

/** Throws 409 where If-Match names another version than the row's. */
async function lockBrand({ request, caller, now }: Call, tx: Tx): Promise<BrandRow> {
  await tx`
    insert into vm_branding (version, updated_by, updated_at) values (0, ${caller.actor.name}, ${now})
    on conflict do nothing`;
  await tx`select 1 from vm_branding for update`;
  const row = await readBrand(tx);
  checkVersion(request.headers['if-match'], row.version);
  return row;
}

/** No control characters, and nothing that turns the direction of what follows. */
function checkWord(text: string | null | undefined, path: string): void {
  if (typeof text !== 'string') return;
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text))
    throw unfit(path, 'is empty', 'give a text, or null for that of the environment');
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.test(text))
    throw unfit(path, 'has a control character', 'leave it out');
}

const change = endpoint({
  method: 'PUT',
  path: '/branding',
  ...write,
  kind: 'C',
  summary: 'Change name, words and colour; what is left out stays, null is what the environment says',
  body: Type.Object(
    {
      name: Type.Optional(Word(60, 'in the console, mails, reports and documents')),
      sub: Type.Optional(Word(40, 'second word of the brand')),
      tagline: Type.Optional(Word(120, 'below the name on the login page')),
      accent: Type.Optional(Word(7, 'colour of buttons and links, such as #3f51b5')),
    },
    { ...closed, minProperties: 1, examples: [{ name: 'Acme Shield', accent: '#3f51b5' }] },
  ),
  answer: BrandView,
  handle: async (call) => {
    const { body, host, now, caller } = call;
    for (const member of ['name', 'sub', 'tagline'] as const) checkWord(body[member], `/${member}`);
    if (typeof body.accent === 'string' && !/^#[0-9a-f]{6}$/i.test(body.accent))
      throw unfit('/accent', 'is no colour', 'write it as #3f51b5');
    const row = await call.audited(
      'vm.update',
      'changed the branding',
      async (tx) => {
        const before = await lockBrand(call, tx);
        const { name = before.name, sub = before.sub, tagline = before.tagline, accent = before.accent } = body;
        await tx`
          update vm_branding set name = ${name}, sub = ${sub}, tagline = ${tagline}, accent = ${accent},
            version = version + 1, updated_by = ${caller.actor.name}, updated_at = ${now}`;
        return readBrand(tx);
      },
      () => body,
    );
    return view(row, host.brandName);
  },
});

async function storeLogo(call: Call, logo: { readonly bytes: Buffer; readonly type: string } | null) {
  const sum = logo === null ? null : createHash('sha256').update(logo.bytes).digest('hex');
  // documents draw PNG alone
  const drawn = logo?.type === 'image/png' ? await drawableLogo(logo.bytes) : null;
  const row = await call.audited(
    logo === null ? 'vm.delete' : 'vm.update',
    logo === null ? 'removed the logo' : 'changed the logo',
    async (tx) => {
      await lockBrand(call, tx);
      await tx`
        update vm_branding set logo = ${logo?.bytes ?? null}, logo_type = ${logo?.type ?? null}, logo_sha256 = ${sum},
          report_logo = ${drawn},
          version = version + 1, updated_by = ${call.caller.actor.name}, updated_at = ${call.now}`;
      return readBrand(tx);
    },
    () => ({ sha256: sum }),
  );
  return view(row, call.host.brandName);
}

const upload = { bytesMax: logoBytesMax, fields: Type.Object({}, closed) };
const putLogo = endpoint({
  method: 'PUT',
  path: '/branding/logo',
  ...write,
  kind: 'B',
  summary: `PNG, or SVG that only draws, of at most ${logoBytesMax} bytes; one that does more is refused with the line`,
  upload,
  answer: BrandView,
  handle: async (call) => {
    const sent = await receive(call.request, upload);
    try {
      const bytes = await readFile(sent.file);
      return await storeLogo(call, { bytes, type: checkLogo(bytes) });
    } finally {
      await sent.discard();
    }
  },
});

const putReportLogo = endpoint({
  method: 'PUT',
  path: '/branding/report-logo',
  ...write,
  kind: 'B',
  summary: `The logo as reports draw it, for a logo of SVG or a large one: PNG of at most ${drawnPixelsMax} pixels`,
  upload,
  answer: BrandView,
  handle: async (call) => {
    const sent = await receive(call.request, upload);
    try {
      const drawn = await drawableLogo(await readFile(sent.file));
      if (drawn === null)
        throw unfit(
          'file',
          'is no PNG that a document can draw',
          'save it as PNG with 8 bits a channel, not interlaced, of at most 512 by 512 pixels',
        );
      const row = await call.audited('vm.update', 'changed the logo of reports', async (tx) => {
        const before = await lockBrand(call, tx);
        if (before.logo_sha256 === null) throw new ApiError('conflict', 'There is no logo: PUT /branding/logo first.');
        await tx`
          update vm_branding set report_logo = ${drawn}, version = version + 1,
            updated_by = ${call.caller.actor.name}, updated_at = ${call.now}`;
        return readBrand(tx);
      });
      return view(row, call.host.brandName);
    } finally {
      await sent.discard();
    }
  },
});

const deleteLogo = endpoint({
  method: 'DELETE',
  path: '/branding/logo',
  ...write,
  kind: 'B',
  summary: 'Remove the logo: that of the environment is shown, or the built-in one',
  answer: BrandView,
  handle: async (call) => storeLogo(call, null),
});

const getLogo = endpoint({
  method: 'GET',
  path: '/branding/logo',
  permission: 'public',
  kind: 'X',
  summary: 'The logo that was saved here; 404 where none was',
  query: Type.Object({ v: Type.Optional(Type.String({ maxLength: 64, description: 'for caches' })) }, closed),
  mediaType: 'image/*',
  handle: async ({ sql, reply }) => {
    const [row] = await sql<{ logo: Buffer; logo_type: string }[]>`
      select logo, logo_type from vm_branding where logo is not null`;
    if (row === undefined) throw notFound('logo', 'of its own');
    reply.type(row.logo_type).header('content-security-policy', "default-src 'none'; sandbox");
    return Buffer.from(row.logo);
  },
});

export const brandingEndpoints: readonly Endpoint[] = [read, change, putLogo, putReportLogo, deleteLogo, getLogo];
