// An image that was sent becomes a row and a scan; the archive goes when the scan has ended.
import { ApiError } from '#http-kit';
import { json } from '../database.js';
import { requireApplication } from '../assets/resources.js';
import { unfit, type Call } from '../kit/endpoint.js';
import type { Run } from '../kit/runs.js';
import type { Upload } from '../kit/upload/receive.js';
import { imageSource, unmarked } from '../scanners/containers/image-source.js';
import { readLayout, type Layout } from '../scanners/containers/layout.js';
import { imageScanner } from '../scanners/containers/scanner.js';
import { beginScan } from '../scanners/hub/run-scan.js';
import type { ScanResult } from '../scanners/run/result.js';
import { SourceError } from '../scanners/sources/source.js';
import { baseOf, storedConfig, storePackages, type Image } from './store.js';

/** Of one name; older ones go when another one comes. */
const keptMax = 20;

export interface ImageFields {
  readonly application_id: string;
  readonly name?: string;
  readonly branch?: string;
  readonly commit?: string;
  readonly confirm_close?: boolean;
}

async function layoutOf(file: string): Promise<Layout> {
  try {
    return await readLayout(file);
  } catch (error) {
    if (error instanceof SourceError) throw unfit('file', 'is no image', error.message.replace(/\.$/, ''));
    throw error;
  }
}

/** `registry.example/team/shop` of `registry.example/team/shop:1.0@sha256:…`. */
const repositoryOf = (tag: string): string => (tag.split('@')[0] ?? '').replace(/:[^:/]+$/, '');

function nameOf({ tags, digest }: Layout, given: string | undefined): string {
  const name = (given ?? '').trim() || repositoryOf(tags[0] ?? '') || digest.slice(0, 19);
  if (!/^[\w][\w./:-]{0,149}$/.test(name))
    throw unfit('name', 'is no name of an image', 'write it as a registry does, without the tag: team/shop');
  return name;
}

const distributionOf = (result: ScanResult): string =>
  result.results.flatMap(({ packages }) => packages.map(({ purl }) => /[?&]distro=([^&#]+)/.exec(purl)?.[1]))[0] ?? '';

/** Paths as the image has them, behind its name: two images have the same paths. */
function named(name: string, result: ScanResult): ScanResult {
  const shown = (path: string): string => `${name}/${unmarked(path).path}`;
  return {
    ...result,
    results: result.results.map((one) => ({
      ...one,
      findings: one.findings.map((finding) => ({ ...finding, path: shown(finding.path) })),
      notScanned: one.notScanned.map((passed) => ({ ...passed, path: shown(passed.path) })),
      packages: one.packages.map((found) => ({ ...found, path: shown(found.path) })),
    })),
  };
}

async function insertImage(call: Call, application: number, name: string, layout: Layout): Promise<Image> {
  const base = await baseOf(call.sql, application, layout);
  const at = Date.parse(layout.createdAt);
  return call.audited(
    'vm.create',
    (made: Image) => `registered the image ${made.id}`,
    async (tx) => {
      const layers = layout.layers.map(({ diffId, createdBy }) => ({ diff_id: diffId, created_by: createdBy }));
      const values = {
        ...{ application_id: application, name, digest: layout.digest, tags: json(tx, layout.tags), form: layout.form },
        ...{ os: layout.os.slice(0, 60), architecture: layout.architecture.slice(0, 60) },
        ...{ config: json(tx, storedConfig(layout)), layers: json(tx, layers), base_layers: base.layers },
        ...{ base_known_by: base.knownBy, base_image_id: base.image, created_by: call.caller.actor.name },
        image_created_at: Number.isNaN(at) ? null : new Date(at),
        ...{ created_at: call.now, updated_at: call.now },
      };
      const [made] = await tx<Image[]>`
        insert into vm_images ${tx(values as never)}
        on conflict (application_id, name, digest) do update set tags = excluded.tags,
          base_layers = excluded.base_layers, base_known_by = excluded.base_known_by,
          base_image_id = excluded.base_image_id, updated_at = excluded.updated_at
        returning *`;
      if (made === undefined) throw new Error('the image was not stored');
      await tx`
        delete from vm_images where application_id = ${application} and name = ${name} and id not in
          (select id from vm_images where application_id = ${application} and name = ${name}
            order by updated_at desc, id desc limit ${keptMax})`;
      return made;
    },
    ({ id, digest }) => ({ id, name, digest }),
  );
}

async function refuseTwice(call: Call, application: number, name: string): Promise<void> {
  const [open] = await call.sql<{ id: number }[]>`
    select id from vm_runs where kind = 'container' and application_id = ${application}
      and input ->> 'image' = ${name} and status in ('queued', 'running') limit 1`;
  if (open !== undefined) throw new ApiError('conflict', `The scan ${open.id} of the image ${name} has not ended yet.`);
}

/** The row, and its scan that waits. Throws ApiError; then the upload is gone. */
export async function register(call: Call, sent: Upload<ImageFields>): Promise<Image> {
  let [layout, image]: [Layout | null, Image | null] = [null, null];
  try {
    const { id } = await requireApplication(call.sql, call.reach, sent.fields.application_id);
    layout = await layoutOf(sent.file);
    const name = nameOf(layout, sent.fields.name);
    await refuseTwice(call, id, name);
    image = await insertImage(call, id, name, layout);
  } catch (error) {
    await sent.discard();
    throw error;
  }
  const run = await scanImage(call, sent, layout, image);
  await call.sql`update vm_images set run_id = ${run.id} where id = ${image.id}`;
  return { ...image, run_id: run.id };
}

/** It discards the upload, whatever becomes of it. */
function scanImage(call: Call, sent: Upload<ImageFields>, layout: Layout, { id, name }: Image): Promise<Run> {
  const { application_id, branch, commit, confirm_close } = sent.fields;
  const fields = {
    ...{ application_id, scope_key: `image ${name}`, covers: 'whole' as const },
    ...(branch === undefined ? {} : { branch }),
    ...(commit === undefined ? {} : { commit }),
    ...(confirm_close === undefined ? {} : { confirm_close }),
  };
  return beginScan(
    call,
    imageScanner,
    { ...sent, fields },
    {
      input: { image_id: String(id), image: name, digest: layout.digest },
      open: () => imageSource(sent.file, layout),
      named: (result) => named(name, result),
      keep: async (result) => {
        const packages = result.results.flatMap((one) => one.packages);
        await storePackages(call.sql, id, packages);
        const distribution = distributionOf(result);
        await call.sql`update vm_images set distribution = ${distribution} where id = ${id}`;
        return { image_id: String(id), distribution };
      },
    },
  );
}
