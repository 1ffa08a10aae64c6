// Rows of images: how they are shown, and on which image one was built.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable, Sql } from '../database.js';
import { advisoryNameOf, parsePurl } from '../components/purl.js';
import type { Layout } from '../scanners/containers/layout.js';
import type { FoundPackage } from '../scanners/contract.js';
import { listOf, objectOf, textOf } from '../scanners/sca/listing.js';

interface StoredLayer {
  readonly diff_id: string;
  readonly created_by: string;
}

export interface Image {
  readonly id: number;
  readonly application_id: number;
  readonly name: string;
  readonly digest: string;
  readonly tags: readonly string[];
  readonly form: string;
  readonly os: string;
  readonly architecture: string;
  readonly distribution: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly layers: readonly StoredLayer[];
  readonly base_layers: number;
  readonly base_known_by: 'image' | 'history' | 'unknown';
  readonly base_image_id: number | null;
  readonly image_created_at: Date | null;
  readonly run_id: number | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const knownBy = ['image', 'history', 'unknown'] as const;

export const ImageView = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  name: Type.String({ description: 'its findings are compared with those of the last image of this name' }),
  digest: Type.String({ description: 'of its configuration, which is the id of the image' }),
  tags: Type.Array(Type.String()),
  form: OneOf(['docker', 'oci']),
  os: Type.String(),
  architecture: Type.String(),
  distribution: Type.String(),
  user: Type.String({ description: 'empty: root' }),
  ports: Type.Array(Type.String()),
  environment: Type.Array(Type.String(), { description: 'names alone' }),
  layers: Type.Array(
    Type.Object({
      number: Type.Integer(),
      diff_id: Type.String(),
      created_by: Type.String(),
      of: OneOf(['base', 'own', 'unknown']),
      packages: Type.Integer(),
    }),
  ),
  base: Type.Object({
    layers: Type.Integer(),
    known_by: OneOf(knownBy, 'image: the layers are those of another image here; history: by its steps, a guess'),
    image_id: Nullable(Type.String()),
  }),
  packages: Type.Integer(),
  run_id: Nullable(Type.String({ description: 'of the scan: GET /runs/{id}' })),
  run_status: Nullable(Type.String()),
  complete: Nullable(Type.Boolean({ description: 'false: something of it was not read; null: not scanned yet' })),
  image_created_at: Nullable(Time),
  created_by: Type.String(),
  created_at: Time,
  updated_at: Time,
});

interface Beside {
  readonly packages: readonly { readonly layer: number; readonly n: number }[];
  readonly run: { readonly status: string; readonly complete: boolean | null } | null;
}

export const layerOwner = (image: Pick<Image, 'base_layers' | 'base_known_by'>, layer: number) =>
  image.base_known_by === 'unknown' || layer < 1 ? 'unknown' : layer <= image.base_layers ? 'base' : 'own';

export function viewImage(row: Image, { packages, run }: Beside) {
  const counts = new Map(packages.map(({ layer, n }) => [layer, n]));
  return {
    ...{ id: String(row.id), application_id: String(row.application_id), name: row.name, digest: row.digest },
    ...{ tags: row.tags, form: row.form, os: row.os, architecture: row.architecture, distribution: row.distribution },
    user: textOf(row.config['user']),
    ports: listOf(row.config['ports']).map(textOf),
    environment: listOf(row.config['environment']).map(textOf),
    layers: row.layers.map((layer, at) => ({
      ...{ number: at + 1, ...layer, of: layerOwner(row, at + 1), packages: counts.get(at + 1) ?? 0 },
    })),
    base: {
      layers: row.base_layers,
      known_by: row.base_known_by,
      image_id: row.base_image_id === null ? null : String(row.base_image_id),
    },
    packages: packages.reduce((sum, { n }) => sum + n, 0),
    run_id: row.run_id === null ? null : String(row.run_id),
    run_status: run?.status ?? null,
    complete: run?.complete ?? null,
    image_created_at: row.image_created_at?.toISOString() ?? null,
    ...{ created_by: row.created_by, created_at: row.created_at.toISOString() },
    updated_at: row.updated_at.toISOString(),
  };
}

/** What stands beside the rows of images. */
export async function besideOf(sql: Queryable, images: readonly Image[]): Promise<(image: Image) => Beside> {
  if (images.length === 0) return () => ({ packages: [], run: null });
  const packages = await sql<{ image_id: number; layer: number; n: number }[]>`
    select image_id, layer, count(*)::integer as n from vm_image_packages
    where image_id in ${sql(images.map(({ id }) => id))} group by image_id, layer`;
  const ids = images.flatMap(({ run_id }) => run_id ?? []);
  const runs =
    ids.length === 0
      ? []
      : await sql<{ id: number; status: string; complete: boolean | null }[]>`
          select id, status, (result ->> 'complete')::boolean as complete from vm_runs where id in ${sql(ids)}`;
  return ({ id, run_id }) => ({
    packages: packages.filter((one) => one.image_id === id),
    run: runs.find((one) => one.id === run_id) ?? null,
  });
}

/** What is stored of a configuration: no value of the environment. */
export function storedConfig(layout: Layout): object {
  const own = objectOf(layout.config['config']);
  return {
    user: textOf(own['User']).slice(0, 200),
    ports: Object.keys(objectOf(own['ExposedPorts'])).slice(0, 100),
    environment: listOf(own['Env'])
      .map((one) => (textOf(one).split('=')[0] ?? '').slice(0, 200))
      .slice(0, 200),
  };
}

interface Base {
  readonly layers: number;
  readonly knownBy: Image['base_known_by'];
  readonly image: number | null;
}

/** By the steps of its history: what came before the last CMD or ENTRYPOINT that others follow is another image. */
export function baseOfHistory(layout: Layout): number {
  const steps = listOf(layout.config['history']).map(objectOf);
  const ends = steps.map((step) =>
    /^(?:\/bin\/sh -c #\(nop\)\s+)?(?:CMD|ENTRYPOINT) /.test(textOf(step['created_by'])),
  );
  // those at the end are the image's own
  let last = steps.length - 1;
  while (last >= 0 && steps[last]?.['empty_layer'] === true) last--;
  const at = ends.lastIndexOf(true, last);
  return at < 0 ? 0 : steps.slice(0, at + 1).filter((step) => step['empty_layer'] !== true).length;
}

/** The largest image of the same application whose layers are the lowest of this one; else what the history tells. */
export async function baseOf(sql: Queryable, application: number, layout: Layout): Promise<Base> {
  const ids = layout.layers.map(({ diffId }) => diffId);
  const candidates = await sql<Pick<Image, 'id' | 'layers'>[]>`
    select id, layers from vm_images
    where application_id = ${application} and digest <> ${layout.digest}
      and layers #>> '{0,diff_id}' = ${ids[0] ?? ''} and jsonb_array_length(layers) < ${ids.length}
    order by jsonb_array_length(layers) desc, id desc limit 100`;
  const found = candidates.find(({ layers }) => layers.every(({ diff_id }, at) => diff_id === ids[at]));
  if (found !== undefined) return { layers: found.layers.length, knownBy: 'image', image: found.id };
  const layers = baseOfHistory(layout);
  return { layers, knownBy: layers === 0 ? 'unknown' : 'history', image: null };
}

const batch = 500;

/** In place of those of an earlier scan of the image. */
export async function storePackages(sql: Sql, image: number, packages: readonly FoundPackage[]): Promise<void> {
  const distinct = [...new Map(packages.map((one) => [`${one.purl}\n${one.layer}`, one])).values()];
  await sql`delete from vm_image_packages where image_id = ${image}`;
  for (let from = 0; from < distinct.length; from += batch) {
    const rows = distinct.slice(from, from + batch).map(({ purl, name, version, path, layer = 0 }, at) => {
      const parsed = parsePurl(purl);
      const named = parsed === null ? null : advisoryNameOf(parsed);
      return {
        ...{ image_id: image, n: from + at, purl: purl.slice(0, 1500), name: name.slice(0, 500) },
        ...{ version: version.slice(0, 300), path: path.slice(0, 1000), layer, package: named?.package ?? null },
      };
    });
    await sql`insert into vm_image_packages ${sql(rows as never)}`;
  }
}
