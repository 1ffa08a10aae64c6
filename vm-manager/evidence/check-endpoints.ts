// How packs are verified over HTTP, the keys that they are signed by, and what they can hold.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { readFile } from 'node:fs/promises';
import { catalogueOf } from '../compliance/lookup.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { receive } from '../kit/upload/receive.js';
import { controlsOf } from './build.js';
import { bytesOf, checkScope } from './pack-endpoints.js';
import { packBytesMax } from './pack/pack.js';
import { publicKeys, signingKey } from './pack/signing.js';
import { namesOfApplications, sectionNames, sections } from './sections/index.js';
import { requirePack } from './store.js';
import { checkNames, verifyPack } from './verify.js';

const closed = { additionalProperties: false } as const;
const view = { permission: 'view_evidence', ofOrganisation: 'Packs of evidence' } as const;

const VerifiedView = Type.Object({
  ok: Type.Boolean({ description: 'no check failed' }),
  root: Nullable(Type.String()),
  checks: Type.Array(
    Type.Object({
      name: OneOf(checkNames),
      ok: Nullable(Type.Boolean({ description: 'null: cannot be said, which is no fault of the pack' })),
      detail: Type.String(),
    }),
  ),
});

const verify = endpoint({
  method: 'POST',
  path: '/evidence/:id/verify',
  ...view,
  kind: 'B',
  reads: true,
  summary: 'Compute every sum of a stored pack anew, check signature and audit log, and say what differs',
  answer: VerifiedView,
  handle: async ({ host, sql, params }) => {
    const row = await requirePack(sql, params['id'] ?? '');
    return verifyPack(host, await bytesOf(sql, row), async () => row);
  },
});

const upload = { bytesMax: packBytesMax, fields: Type.Object({}, closed) };
const verifyFile = endpoint({
  method: 'POST',
  path: '/evidence/verify',
  ...view,
  kind: 'B',
  reads: true,
  summary: 'The same for a pack that comes back from others: the file as the part "file", or alone',
  upload,
  answer: VerifiedView,
  handle: async ({ host, sql, request }) => {
    const sent = await receive(request, upload);
    try {
      return await verifyPack(host, await readFile(sent.file), async (root) => {
        const [row] = await sql<{ id: number }[]>`select id from vm_evidence_packs where root = ${root} limit 1`;
        return row === undefined ? null : requirePack(sql, String(row.id));
      });
    } finally {
      await sent.discard();
    }
  },
});

const keys = endpoint({
  method: 'GET',
  path: '/evidence/keys',
  ...view,
  kind: 'A',
  summary: 'Public keys that packs of this installation are signed by, the newest first',
  answer: Type.Object({
    items: Type.Array(Type.Object({ id: Type.String(), public_key: Type.String(), created_at: Type.String() })),
  }),
  handle: async ({ host, sql }) => {
    await signingKey(host);
    const items = await publicKeys(sql);
    return { items: items.map((key) => ({ ...key, created_at: key.created_at.toISOString() })) };
  },
});

const sectionList = endpoint({
  method: 'GET',
  path: '/evidence/sections',
  ...view,
  kind: 'A',
  summary: 'What a pack can hold, and the controls of a framework that each section is evidence for',
  query: Type.Object({ framework: Type.Optional(Type.String({ maxLength: 60 })) }, closed),
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        name: OneOf(sectionNames),
        title: Type.String(),
        about: Type.String(),
        source: Type.String(),
        needs: Type.Array(Type.String({ description: 'permissions beyond build_evidence' })),
        controls: Type.Array(Type.String()),
        of_application: Type.Boolean({ description: 'a pack about one application can have it' }),
      }),
    ),
  }),
  handle: async (call) => {
    const { framework } = call.query;
    if (framework !== undefined) await checkScope(call, framework, null);
    const of = (await catalogueOf(call)).filter(({ id }) => id === framework);
    const items = sectionNames.map((name) => {
      const { title, about, source, needs } = sections[name];
      const controls = controlsOf(of, sections[name]);
      return { name, title, about, source, needs, controls, of_application: namesOfApplications.includes(name) };
    });
    return { items };
  },
});

export const checkEndpoints: readonly Endpoint[] = [sectionList, keys, verifyFile, verify];
