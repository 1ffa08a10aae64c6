// Container images, written by ourselves: two layers of sorted tar archives, a configuration and a manifest, each named
// by its digest. Nothing of the machine is in them, so that two builds have one digest. The archive is read by `docker
// load` (old and new), `podman load` and skopeo: it holds the OCI layout and the manifest.json of `docker save`.
//
// buildah makes the same from a Dockerfile, but needs a base image that cannot be fetched everywhere, and writes times
// and its own version into the result unless every step is told otherwise.
import { cpSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipFile, normalize, sha256, tarOf } from './archives.js';
import { run } from './commands.js';

export interface ImageInput {
  /** `gatehouse/data-plane`. */
  readonly name: string;
  readonly version: string;
  readonly epoch: number;
  /** Root directories, one a layer, lowest first. */
  readonly layers: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
  /** Run inside; exit code 0 = healthy. */
  readonly healthCheck: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Nobody of the host has this number. */
export const imageUser = '10001:10001';
export const program = ['/usr/lib/gatehouse/runtime/node', '/usr/lib/gatehouse/bin/gatehouse'] as const;
const seconds = 1_000_000_000;
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

interface Blob {
  readonly digest: string;
  readonly size: number;
}

function configOf(input: ImageInput, diffs: readonly string[]): string {
  const created = new Date(input.epoch * 1000).toISOString();
  const named = (values: readonly string[]): Record<string, object> =>
    Object.fromEntries(values.map((one) => [one, {}]));
  return JSON.stringify({
    created,
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: {
      User: imageUser,
      ExposedPorts: named(input.ports.map((port) => `${port}/tcp`)),
      Env: Object.entries({ PATH: '/usr/lib/gatehouse/runtime', ...input.environment }).map(
        ([key, one]) => `${key}=${one}`,
      ),
      Entrypoint: [...program],
      Cmd: [...input.command],
      Volumes: named(input.volumes),
      WorkingDir: '/var/lib/gatehouse',
      Labels: input.labels,
      StopSignal: 'SIGTERM',
      // read by docker, and by podman of images in docker's format; Compose says it again for everybody else
      Healthcheck: {
        Test: ['CMD', ...program, ...input.healthCheck],
        Interval: 10 * seconds,
        Timeout: 5 * seconds,
        StartPeriod: 60 * seconds,
        Retries: 3,
      },
    },
    rootfs: { type: 'layers', diff_ids: diffs.map((digest) => `sha256:${digest}`) },
    history: diffs.map((_, index) => ({ created, created_by: index === 0 ? 'system libraries' : 'gatehouse' })),
  });
}

/** Writes the image as `file`; `scratch` is used and emptied. Returns the digest of its manifest (`sha256:…`). */
export function writeImage(input: ImageInput, scratch: string, file: string): string {
  rmSync(scratch, { recursive: true, force: true });
  const blobs = join(scratch, 'layout/blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const keep = (bytes: string): Blob => {
    const digest = sha256(bytes);
    writeFileSync(join(blobs, digest), bytes);
    return { digest, size: Buffer.byteLength(bytes) };
  };
  const descriptor = (mediaType: string, { digest, size }: Blob) => ({ mediaType, digest: `sha256:${digest}`, size });
  const layers = input.layers.map((directory) => {
    const [plain, packed] = [join(scratch, 'layer.tar'), join(scratch, 'layer.tar.gz')];
    layerTar(directory, plain, input.epoch);
    const digests = gzipFile(plain, packed);
    const { size } = statSync(packed);
    renameSync(packed, join(blobs, digests.packed));
    rmSync(plain);
    return { diff: digests.plain, blob: { digest: digests.packed, size } };
  });
  const config = keep(
    configOf(
      input,
      layers.map(({ diff }) => diff),
    ),
  );
  const manifest = keep(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: types.manifest,
      config: descriptor(types.config, config),
      layers: layers.map(({ blob }) => descriptor(types.layer, blob)),
    }),
  );
  const reference = `${input.name}:${input.version}`;
  const annotations = {
    'org.opencontainers.image.ref.name': input.version,
    'io.containerd.image.name': `docker.io/${reference}`,
  };
  const index = {
    schemaVersion: 2,
    mediaType: types.index,
    manifests: [{ ...descriptor(types.manifest, manifest), annotations }],
  };
  const ofDocker = [
    {
      Config: `blobs/sha256/${config.digest}`,
      RepoTags: [reference],
      Layers: layers.map(({ blob }) => `blobs/sha256/${blob.digest}`),
    },
  ];
  const layout = join(scratch, 'layout');
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify(ofDocker));
  normalize(layout, input.epoch);
  tarOf(layout, file, input.epoch, ['blobs', 'index.json', 'manifest.json', 'oci-layout']);
  rmSync(scratch, { recursive: true, force: true });
  return `sha256:${manifest.digest}`;
}

/** What the user of the image writes to. A named volume takes over owner and mode of what the image has there. */
export const dataDirectory = 'var/lib/gatehouse';

/** A layer as a tar archive: everything of root, the data directory of the user of the image, /tmp of everybody. */
function layerTar(directory: string, file: string, epoch: number): void {
  normalize(directory, epoch);
  const own = `./${dataDirectory}`;
  const hasData = statSync(join(directory, dataDirectory), { throwIfNoEntry: false }) !== undefined;
  tarOf(directory, file, epoch, hasData ? [`--exclude=${own}`, '.'] : ['.']);
  if (!hasData) return;
  const [user = '', group = ''] = imageUser.split(':');
  const flags = ['--format=gnu', `--mtime=@${epoch}`, `--owner=${user}`, `--group=${group}`, '--numeric-owner'];
  run('tar', [...flags, '--sort=name', '--mode=u=rwX,g=rX,o=', '-C', directory, '-rf', file, own]);
  if (statSync(join(directory, 'tmp'), { throwIfNoEntry: false }) === undefined) return;
  const open = ['--format=gnu', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=1777'];
  run('tar', [...open, '--no-recursion', '-C', directory, '-rf', file, './tmp']);
}

/** The lowest layer: files of the system, from this one, without a shell or any other program. */
export function copyFiles(paths: readonly string[], to: string): void {
  for (const path of paths) cpSync(path, join(to, path), { recursive: true, dereference: false });
}
