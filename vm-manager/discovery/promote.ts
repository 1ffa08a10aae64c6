// From an asset to a target of an application, in one transaction, by the rules that those have when people make them.
import { ApiError } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { applications, requireApplication, targets } from '../assets/resources.js';
import type { Tx } from '../database.js';
import { notFound, toId, unfit, type Call } from '../kit/endpoint.js';
import type { AssetRow } from './store.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });

export const PromoteBody = Type.Object(
  {
    application_id: Type.Optional(Type.String({ maxLength: 20, description: 'one that is there' })),
    application: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*\\S[^\\u0000-\\u001f]*$' }),
          project_id: Type.Optional(Id),
          environment: Type.Optional(Type.String({ maxLength: 60 })),
        },
        { ...closed, description: 'a new one; by default one with the name of the host' },
      ),
    ),
    url: Type.Optional(
      Type.String({
        maxLength: 2000,
        pattern: '^https?://[^\\s/?#@]+([/?#][^\\s]*)?$',
        description:
          'of the target, at the host of the asset; by default what a source has named, or https at the host',
      }),
    ),
  },
  { ...closed, examples: [{ application: { name: 'Shop' } }] },
);

function addressOf(asset: AssetRow, given: string | undefined): string {
  const host = asset.host.includes(':') ? `[${asset.host}]` : asset.host;
  const own = asset.url ?? `https://${host}${asset.port === null ? '' : `:${asset.port}`}/`;
  const url = given ?? own;
  if (!URL.canParse(url) || new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') !== asset.host)
    throw unfit('/url', 'is not at the host of the asset', `write an address of ${asset.host}`);
  return url;
}

async function applicationOf(tx: Tx, call: Call, asset: AssetRow, body: Static<typeof PromoteBody>): Promise<number> {
  const given = body.application_id ?? (body.application === undefined ? asset.application_id : null);
  if (given !== null) return (await requireApplication(tx, call.reach, String(given))).id;
  const { name = asset.host, ...more } = body.application ?? {};
  const values: Record<string, unknown> = { name, ...more, site: asset.site };
  await applications.check?.(tx, call, values, null);
  const made = {
    ...{ ...values, tags: '["discovered"]' },
    exposure: asset.is_exposed === true ? 'internet' : asset.is_exposed === false ? 'internal' : 'unknown',
    ...{ created_at: call.now, updated_at: call.now },
  };
  const { tags, ...plain } = made;
  const [row] = await tx<{ id: number }[]>`insert into vm_applications ${tx(plain as never)} returning id`;
  if (row === undefined) throw new Error('the application was not stored');
  await tx`update vm_applications set tags = ${tags}::text::jsonb where id = ${row.id}`;
  return row.id;
}

async function targetOf(tx: Tx, call: Call, applicationId: number, url: string, kind: 'web' | 'api'): Promise<number> {
  const [known] = await tx<{ id: number }[]>`
    select id from vm_targets where application_id = ${applicationId} and url = ${url}`;
  if (known !== undefined) return known.id;
  const values: Record<string, unknown> = { application_id: String(applicationId), url, kind };
  await targets.check?.(tx, call, values, null);
  const [row] = await tx<{ id: number }[]>`
    insert into vm_targets ${tx({ ...values, created_at: call.now, updated_at: call.now } as never)} returning id`;
  if (row === undefined) throw new Error('the target was not stored');
  return row.id;
}

/** Throws 409 for one that is a target already, 404 for one that is not there. */
export async function promote(call: Call, given: string, body: Static<typeof PromoteBody>): Promise<AssetRow> {
  const id = toId(given, 'asset');
  if (body.application_id !== undefined && body.application !== undefined)
    throw unfit('/application', 'stands beside application_id', 'name one that is there, or describe a new one');
  return call.audited(
    'vm.transition',
    (row: AssetRow) =>
      `made the asset ${id} (${row.host}) the target ${row.target_id} of application ${row.application_id}`,
    async (tx) => {
      const [asset] = await tx<AssetRow[]>`select * from vm_discovery_assets where id = ${id} for update`;
      if (asset === undefined) throw notFound('asset', id);
      if (asset.target_id !== null)
        throw new ApiError('conflict', `The asset is the target ${asset.target_id} already.`);
      const url = addressOf(asset, body.url);
      const applicationId = await applicationOf(tx, call, asset, body);
      const targetId = await targetOf(tx, call, applicationId, url, asset.kind === 'api' ? 'api' : 'web');
      const [row] = await tx<AssetRow[]>`
        update vm_discovery_assets set state = 'known', application_id = ${applicationId}, target_id = ${targetId},
          reason = '', decided_by = ${call.caller.actor.name}, decided_at = ${call.now}, version = version + 1
        where id = ${id} returning *`;
      if (row === undefined) throw notFound('asset', id);
      return row;
    },
    ({ host, target_id: target, application_id: application, sources, provenance }) => ({
      ...{ host, target_id: String(target), application_id: String(application), sources },
      provenance: provenance.slice(0, 5),
    }),
  );
}
