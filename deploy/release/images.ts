// The two images: what is in them and how they start. No shell, no package manager, no setuid file; the libraries of
// Debian that the program loads, each recorded so that scanners see it, and the tree of the release.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from './commands.js';
import { dataDirectory, imageUser, writeImage } from './oci-image.js';
import { librariesOf, packagesOwning, type SystemPackage } from './system-packages.js';
import type { ReleaseInput } from './tree.js';

export type ImageName = 'data-plane' | 'control-plane';
export const imageNames: readonly ImageName[] = ['data-plane', 'control-plane'];
export const imageReference = (name: ImageName): string => `gatehouse/${name}`;

const [userId = ''] = imageUser.split(':');
const accounts = {
  passwd: [
    'root:x:0:0:root:/nonexistent:/sbin/nologin',
    `gatehouse:x:${userId}:${userId}:Gatehouse:/var/lib/gatehouse:/sbin/nologin`,
    '',
  ].join('\n'),
  group: `root:x:0:\ngatehouse:x:${userId}:\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
} as const;

/** Programs and libraries of a tree that need libraries of the system. */
export const nativeFiles = (tree: string): string[] =>
  readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.node') || name === 'runtime/node')
    .map((name) => join(tree, name))
    .sort();

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A library as the loader asks for it: its file, and the link of its name. */
function copyLibrary(path: string, to: string): void {
  const real = realpathSync(path);
  // one folder for all: the loader looks there first, and /lib64 has to lead to the loader itself
  const folder = path.includes('ld-linux') ? dirname(path) : dirname(real).replace(/^\/lib\//, '/usr/lib/');
  const target = join(to, folder, basename(path));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(real, target);
}

/** The layer of the system. Returns the packages in it. */
export function systemLayer(tree: string, directory: string): readonly SystemPackage[] {
  rmSync(directory, { recursive: true, force: true });
  const libraries = librariesOf(nativeFiles(tree));
  for (const path of libraries) copyLibrary(path, directory);
  for (const [name, text] of Object.entries(accounts)) write(join(directory, 'etc', name), text);
  const packages = packagesOwning(libraries);
  for (const { name } of packages) {
    write(join(directory, 'var/lib/dpkg/status.d', name), run('dpkg-query', ['-s', name]));
    const licence = `/usr/share/doc/${name}/copyright`;
    if (!existsSync(licence)) continue;
    mkdirSync(join(directory, dirname(licence)), { recursive: true });
    copyFileSync(licence, join(directory, licence));
  }
  write(join(directory, 'etc/os-release'), readFileSync('/etc/os-release', 'utf8'));
  mkdirSync(join(directory, 'tmp'));
  mkdirSync(join(directory, dataDirectory), { recursive: true });
  return packages;
}

interface Recipe {
  readonly command: readonly string[];
  readonly ports: readonly number[];
  readonly healthCheck: readonly string[];
}

export const recipes: Readonly<Record<ImageName, Recipe>> = {
  'data-plane': {
    command: ['data-plane', '--sites-of-environment', '--beside-control-plane'],
    ports: [8080, 8443, 2019],
    healthCheck: ['health', 'data-plane'],
  },
  'control-plane': { command: ['control-plane'], ports: [8090, 3010], healthCheck: ['health', 'control-plane'] },
};

/** Builds one image as `file`; returns the digest of its manifest. */
export function buildImage(input: ReleaseInput, name: ImageName, tree: string, scratch: string, file: string): string {
  const [system, program] = [join(scratch, 'system'), join(scratch, 'program')];
  rmSync(scratch, { recursive: true, force: true });
  systemLayer(tree, system);
  cpSync(tree, join(program, 'usr/lib/gatehouse'), { recursive: true });
  // the rule set and the compiled defaults: an empty volume is filled with what the image has there
  mkdirSync(join(program, dirname(dataDirectory)), { recursive: true });
  const seed = join(program, 'usr/lib/gatehouse/seed');
  if (existsSync(seed)) renameSync(seed, join(program, dataDirectory));
  return writeImage(
    {
      name: imageReference(name),
      version: input.version,
      epoch: input.epoch,
      layers: [system, program],
      ...recipes[name],
      environment: {
        IN_CONTAINER: '1',
        NODE_ENV: 'production',
        HOME: '/var/lib/gatehouse',
        GATEHOUSE_DATA: '/var/lib/gatehouse',
        GATEHOUSE_ENV_FILE: '/dev/null',
      },
      volumes: [`/${dataDirectory}`],
      labels: {
        'org.opencontainers.image.title': `gatehouse ${name}`,
        'org.opencontainers.image.version': input.version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    join(scratch, 'image'),
    file,
  );
}
