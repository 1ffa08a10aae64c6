// @ts-check
// Puts the sensor together as the npm package that applications install: build/sensor-package/, of which `npm pack`
// makes an archive, and which the control plane gives out. One file, so that its own frames are known in any stack.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

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
}
