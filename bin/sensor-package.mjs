// @ts-check
// Puts the sensor together as the npm package that applications install: build/sensor-package/, of which `npm pack`
// makes an archive, and which the control plane gives out. One file, so that its own frames are known in any stack.
import { build } from 'esbuild';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const target = join(root, 'build/sensor-package');

/** Throws esbuild's BuildFailure. */
export async function packSensor() {
  await mkdir(target, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'sensor/register.ts')],
    outfile: join(target, 'register.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const version = /sensorVersion = '([^']+)'/.exec(await readFile(join(root, 'sensor/version.ts'), 'utf8'))?.[1];
  if (version === undefined) throw new Error('sensor/version.ts names no version');
  const about = {
    name: 'gatehouse-sensor',
    version,
    description: 'Tells Gatehouse which values of requests reach SQL, shells, files, code and other hosts unsafely.',
    license: 'Apache-2.0',
    type: 'module',
    engines: { node: '>=20.19' },
    exports: { '.': './register.mjs', './register': './register.mjs', './package.json': './package.json' },
    files: ['register.mjs', 'README.md', 'LICENSE'],
  };
  await writeFile(join(target, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
  await copyFile(join(root, 'sensor/README.md'), join(target, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(target, 'LICENSE'));
  await writeArchive([...about.files, 'package.json']);
}

/**
 * As `npm pack` would: everything below `package/`. The same files make the same bytes.
 * @param {readonly string[]} names
 */
async function writeArchive(names) {
  const archive = pack();
  const written = pipeline(archive, createGzip({ level: 9 }), createWriteStream(join(target, 'gatehouse-sensor.tgz')));
  for (const name of names)
    archive.entry({ name: `package/${name}`, mode: 0o644, mtime: new Date(0) }, await readFile(join(target, name)));
  archive.finalize();
  await written;
}
