// @ts-check
// Puts what is built together: a process of Gatehouse loads a thousand modules of its own and as many of its packages,
// and to find, read and link them one by one is most of the processor time of a start. The programs that processes and
// threads begin with are fused into build/fused/, a few files each; the file-by-file build beside them stays what tests
// load themselves (what they start is fused: put-together.ts of proxy/inspection and api/processes), and what is loaded
// where nothing is fused.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const built = join(root, 'build');
const fused = join(built, 'fused');

/** Relative to build/: what a process or a thread is started with, or loads by an address. */
const programs = [
  'cli/main.js',
  'proxy/worker/worker.js',
  'proxy/inspection/engine-inspection.js',
  'api/db/embedded-worker.js',
  'api/change/compile-entry.js',
  'api/ingest/digest-process.js',
  'vm-manager/scanners/run/engine-process.js',
];

/** They bring native code, programs or files of their own, which they look for beside themselves. */
const packagesApart = [
  ...['re2', 'uWebSockets.js', 'msgpackr', 'piscina', 'pino', 'postgres', 'pdfkit', 'fontkit', 'nodemailer'],
  ...['dejavu-fonts-ttf', 'web-tree-sitter'],
  ...['vite', 'esbuild', 'typescript', 'playwright-core', 'tap'], // these are loaded by no program of a release
];
const scopesApart = ['@electric-sql', '@fastify', '@zxcvbn-ts', '@readme'];

/** @param {string} specifier as in an import */
function isApart(specifier) {
  const [first = '', second = ''] = specifier.split('/');
  return scopesApart.includes(first) || packagesApart.includes(first.startsWith('@') ? `${first}/${second}` : first);
}

/** @param {string} program */
const nameOf = (program) => program.replace(/\.js$/, '').replaceAll('/', '-');

/**
 * Each file goes on knowing its own address (migrations, keys, workers beside it); the address of another program is
 * that of the fused one.
 * @param {string} file
 */
async function readKnowingItself(file) {
  const text = await readFile(file, 'utf8');
  if (!text.includes('import.meta.')) return text;
  const own = `new URL(${JSON.stringify(relative(fused, file))}, import.meta.url).href`;
  return text
    .replace(/new URL\("(\.[^"]+\.js)", import\.meta\.url\)/g, (all, path) => {
      const target = relative(built, join(dirname(file), path));
      return programs.includes(target) ? `new URL("./${nameOf(target)}.js", import\0.meta.url)` : all;
    })
    .replaceAll('import.meta.url', own)
    .replaceAll('import\0.meta', 'import.meta');
}

/** @type {import('esbuild').Plugin} */
const addresses = {
  name: 'addresses',
  setup(making) {
    making.onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && isApart(path) ? { path, external: true } : null,
    );
    making.onLoad({ filter: /\.js$/ }, async ({ path }) =>
      path.startsWith(`${built}/`) ? { contents: await readKnowingItself(path), loader: 'js' } : null,
    );
  },
};

/**
 * Puts a whole new build/fused in place of the old one, so that a program that starts meanwhile finds one or the other.
 * Throws esbuild's BuildFailure, and leaves the old one.
 */
export async function fuse() {
  // beside it, so that addresses relative to it stay what they are
  const [made, old] = [`${fused}-new-${process.pid}`, `${fused}-old-${process.pid}`];
  try {
    await bundleInto(made);
    if (existsSync(fused)) await rename(fused, old);
    await rename(made, fused);
  } finally {
    for (const directory of [made, old]) await rm(directory, { recursive: true, force: true });
  }
}

/** @param {string} directory */
async function bundleInto(directory) {
  await build({
    absWorkingDir: root,
    entryPoints: programs.map((program) => ({ in: join(built, program), out: nameOf(program) })),
    outdir: directory,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [addresses],
    // packages written for CommonJS ask for Node's own modules by `require`
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
}
