// Bundles the console for browsers: Vite into build/console/web-bundle, then compressed copies beside the files, so
// that the server compresses nothing. Started by bin/build.mjs when something of it changed.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';
import solid from 'vite-plugin-solid';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const web = join(root, 'console/web');
const output = join(root, 'build/console/web-bundle');
/** Not the page itself: the server writes the installation's name into it. */
const compressible = /\.(js|css|svg|json|webmanifest)$/;
const worthCompressing = 512;

export const viteConfig = (): InlineConfig => ({
  configFile: false,
  root: web,
  logLevel: 'warn',
  plugins: [solid({ dev: false })],
  resolve: {
    alias: [
      // the renderer's one sink for markup goes through a Trusted Types policy (see the file)
      { find: /^solid-js\/web$/, replacement: join(web, 'kit/solid-web.ts') },
      { find: /^solid-js-web-original$/, replacement: join(root, 'node_modules/solid-js/web/dist/web.js') },
    ],
  },
  build: {
    outDir: output,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // which page needs which files: what tests weigh
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Where the time of a slow machine goes is no news to who installs: the hint looked like a failure in `make run`.
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // The commands of the editor name it for what is not used here; that loading it does nothing it does not say.
      treeshake: { moduleSideEffects: [{ test: /@lezer\/common/, sideEffects: false }] },
    },
  },
});

function compress(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || !compressible.test(entry.name)) continue;
    const bytes = readFileSync(path);
    if (bytes.length < worthCompressing) continue;
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    );
  }
}

/** Throws what Vite throws: it names file and line. */
export async function bundleConsole(): Promise<void> {
  rmSync(output, { recursive: true, force: true });
  await build(viteConfig());
  compress(output);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleConsole();
