// @ts-check
// Puts tap into one file, build/node_modules/tap/, where what is built finds it before that of the checkout: every
// process of tests loads it, and to find and link its 280 files is half of the processor time of a small one.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const place = join(root, 'build/node_modules/tap');
/** What decides what tap is: its version, its plugins, and this. */
const origins = ['package-lock.json', '.taprc', 'bin/fuse-tap.mjs', 'bin/tap-domain.mjs'];

/** Stacks leave out what is tap's own, which goes by the name of its directory. */
const entry = `
  import { addIgnoredPackage } from '@tapjs/stack';
  addIgnoredPackage('tap');
  export * from 'tap';
  export { default } from 'tap';`;

/** @type {import('esbuild').Plugin} */
const addresses = {
  name: 'addresses',
  setup(making) {
    // tap's plugins find it by a link, which in a copy of a checkout leads to that of the other one
    making.onResolve({ filter: /^@tapjs\/core$/ }, ({ path, kind, pluginData }) =>
      pluginData === root ? null : making.resolve(path, { kind, resolveDir: root, pluginData: root }),
    );
    making.onResolve({ filter: /^(?:async-hook-domain|async_hooks)$/ }, ({ importer }) =>
      importer.includes('/@tapjs/core/') ? { path: join(root, 'bin/tap-domain.mjs') } : null,
    );
    // files that it names by their address stay where they are
    making.onLoad({ filter: /node_modules\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const own = `new URL(${JSON.stringify(relative(place, path))}, import\0.meta.url).href`;
      const contents = text.replaceAll('import.meta.url', own).replaceAll('import\0.meta', 'import.meta');
      return text.includes('import.meta.url') ? { contents, loader: 'js' } : null;
    });
  },
};

/** Makes it where it is missing or of another tap, so that a test that starts meanwhile finds one or the other. */
export async function fuseTap() {
  // a checkout without packages for tests has none to fuse, and copies of one may have neither lock file nor .taprc
  if (!existsSync(join(root, 'node_modules/tap/package.json'))) return;
  const hash = createHash('sha256');
  for (const file of origins) if (existsSync(join(root, file))) hash.update(await readFile(join(root, file)));
  const stamp = hash.digest('hex');
  const description = join(place, 'package.json');
  if (existsSync(description) && JSON.parse(await readFile(description, 'utf8')).stamp === stamp) return;
  const made = `${place}-new-${process.pid}`;
  try {
    await build({
      absWorkingDir: root,
      stdin: { contents: entry, resolveDir: root },
      outfile: join(made, 'index.js'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      legalComments: 'none',
      logLevel: 'silent',
      plugins: [addresses],
      // packages written for CommonJS ask for Node's own modules by `require`
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
      },
    });
    await writeFile(join(made, 'package.json'), JSON.stringify({ type: 'module', main: 'index.js', stamp }));
    await rm(place, { recursive: true, force: true });
    await rename(made, place);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
