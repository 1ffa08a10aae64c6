// Archives of images as `docker save` and as the OCI layout have them, made of layers of files.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface MadeFile {
  readonly name: string;
  readonly data?: string | Buffer;
  readonly mode?: number;
  readonly link?: string;
}

/** The same files are the same layer. */
const mtime = new Date(0);

export async function layerOf(files: readonly MadeFile[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, data = '', mode = 0o644, link } of files)
    if (link !== undefined) tar.entry({ name, mtime, type: 'symlink', linkname: link });
    else if (name.endsWith('/')) tar.entry({ name, mtime, type: 'directory' });
    else tar.entry({ name, mtime, mode }, Buffer.isBuffer(data) ? data : Buffer.from(data));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A frame of Zstandard whose blocks are not packed, as no version of Node.js that runs this can pack one. */
export function zstdFrame(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  const parts: Buffer[] = [Buffer.from('28b52ffda0', 'hex'), size];
  const blockMax = 128 * 1024;
  for (let at = 0; at === 0 || at < bytes.length; at += blockMax) {
    const block = bytes.subarray(at, at + blockMax);
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | (at + blockMax >= bytes.length ? 1 : 0), 0, 3);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
}

const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface MadeImage {
  readonly layers: readonly (readonly MadeFile[])[];
  readonly config?: object;
  readonly history?: readonly object[];
  readonly tag?: string;
  readonly form?: 'docker' | 'oci';
  readonly isPacked?: boolean | 'zstd';
  /** What the configuration says of the layers, where it is wrong. */
  readonly diffIds?: readonly string[];
}

export async function imageOf(made: MadeImage): Promise<Buffer> {
  const { config = {}, history = [], tag = 'shop/api:1.0', form = 'docker', isPacked = false } = made;
  const layers = await Promise.all(made.layers.map(layerOf));
  const diff_ids = made.diffIds ?? layers.map((layer) => `sha256:${sum(layer)}`);
  const description = { architecture: 'amd64', os: 'linux', config, history, rootfs: { type: 'layers', diff_ids } };
  const configBytes = Buffer.from(JSON.stringify(description));
  const pack = (layer: Buffer): Buffer => (isPacked === 'zstd' ? zstdFrame(layer) : isPacked ? gzipSync(layer) : layer);
  const blobs = layers.map((layer) => pack(layer));
  const files: MadeFile[] = [];
  if (form === 'docker') {
    const names = blobs.map((_, at) => `layer${at}/layer.tar`);
    // the manifest comes last, as docker writes it
    blobs.forEach((data, at) => files.push({ name: names[at] ?? '', data }));
    files.push({ name: 'config.json', data: configBytes });
    const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: names }];
    files.push({ name: 'manifest.json', data: JSON.stringify(manifest) });
    return layerOf(files);
  }
  const blob = (data: Buffer) => ({ name: `blobs/sha256/${sum(data)}`, data });
  const manifest = Buffer.from(
    JSON.stringify({
      config: { digest: `sha256:${sum(configBytes)}` },
      layers: blobs.map((data) => ({ digest: `sha256:${sum(data)}` })),
    }),
  );
  const other = { digest: 'sha256:00', platform: { os: 'linux', architecture: 'arm64' } };
  const inner = Buffer.from(
    JSON.stringify({
      manifests: [
        other,
        { digest: `sha256:${sum(manifest)}`, platform: { os: 'linux', architecture: 'amd64' } },
        { digest: 'sha256:11', platform: { os: 'unknown', architecture: 'unknown' } },
      ],
    }),
  );
  const annotations = { 'io.containerd.image.name': tag };
  const index = { manifests: [{ digest: `sha256:${sum(inner)}`, annotations }] };
  files.push(...[...blobs].reverse().map(blob), blob(configBytes), blob(manifest), blob(inner));
  files.push({ name: 'oci-layout', data: '{"imageLayoutVersion":"1.0.0"}' });
  return layerOf([...files, { name: 'index.json', data: JSON.stringify(index) }]);
}

/** Databases of Debian. */
export const dpkg = (packages: Readonly<Record<string, string>>): string =>
  Object.entries(packages)
    .map(
      ([name, version]) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: ${version}\n`,
    )
    .join('\n');
