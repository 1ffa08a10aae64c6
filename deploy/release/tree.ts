// The tree of a release: what is installed as /usr/lib/gatehouse, in packages and in images alike. The built rooms that
// run, their npm packages, the native addon, Node.js itself, and a seed: rule set, compiled defaults, automata.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { normalize, pathsBelow, sha256File } from './archives.js';
import { ReleaseError, run } from './commands.js';
import { importedPackages, packagesFor, type LockedPackage } from './npm-packages.js';

/** Where a release comes from, and which Node.js it carries. */
export interface ReleaseInput {
  /** The checkout, built. */
  readonly root: string;
  readonly version: string;
  /** Seconds; every file of the release has this time. */
  readonly epoch: number;
  readonly node: string;
}

/** What a tree is for. The data plane has neither database nor API in it: what is not there cannot be broken into. */
export type TreeKind = 'whole' | 'data-plane';

export interface ReleaseTree {
  readonly directory: string;
  readonly packages: readonly LockedPackage[];
}

const rooms: Readonly<Record<TreeKind, readonly string[]>> = {
  whole: [
    'settings',
    'engine',
    'compiler',
    'proxy',
    'api',
    'vm-manager',
    'cli',
    'console',
    'sensor-package',
    'fixtures/demo',
  ],
  'data-plane': ['settings', 'engine', 'compiler', 'proxy', 'cli', 'fixtures/demo'],
};
/** Rooms that the command line loads only for commands of the control plane. */
const controlOnly: readonly string[] = [
  'cli/backup',
  'cli/commands/vm',
  'cli/harden',
  'cli/test-runner',
  'cli/testing',
];
const isLeftOut = (path: string): boolean =>
  /\.(?:test|contract)\.js$|\.map$|\.tsbuildinfo$/.test(path) ||
  /(?:^|\/)(?:testing|e2e|test-runner)(?:\/|$)/.test(path) ||
  /^console\/bundle(?:\/|$)/.test(path);

const packageFoldersLeftOut =
  /(?:^|\/)(?:\.[\w.-]+|prebuilds|obj\.target|vendor|tests?|__tests__|examples?|benchmarks?)$/;
/** At the top of a package: what its authors run or publish, with scripts and pages that load things from elsewhere. */
const packageTopLeftOut = /^(?:docs?|integration|scripts|[^/]+\.html)$/;
const packageFilesLeftOut = /\.(?:map|md|markdown|ts|mts|cts|tsx|flow|gyp|gypi|c|cc|cpp|h|mk|sh|bat|ps1)$/;

/** What a server never loads of a package: builds for browsers and for debugging, copies, extensions, font tables. */
const partsLeftOut: Readonly<Record<string, RegExp>> = {
  '@electric-sql/pglite': /\.tar\.gz$/,
  '@tree-sitter-grammars/tree-sitter-hcl': /^tree-sitter-hcl\.wasm$/,
  'csv-parse': /^dist\/(?:umd|iife)$/,
  'dejavu-fonts-ttf': /^(?!ttf|package\.json$|LICENSE)./,
  fontkit: /^dist\/browser/,
  pdfkit: /^js\/pdfkit\.(?:standalone|browser|[^/]*old)\b/,
  // the program that chooses takes those of binaries/
  'uWebSockets.js': /^dist\/.*\.node$/,
  'web-tree-sitter': /^debug$/,
};
/** A grammar that another one was made with. */
const grammarOfGrammar = /tree-sitter-[\w-]+\/node_modules\/tree-sitter-/;

/** Native binaries of other systems and other Nodes, and sources of what is compiled. `part`: a path in the package. */
export function isPackagePartLeftOut(packagePath: string, part: string): boolean {
  const name = packagePath.slice(packagePath.lastIndexOf('node_modules/') + 'node_modules/'.length);
  if (part !== '' && partsLeftOut[name]?.test(part) === true) return true;
  if (grammarOfGrammar.test(packagePath)) return !/^(?:package\.json|LICENSE[^/]*|)$/i.test(part);
  if (packagePath === 'node_modules/re2' && /^(?:vendor|scripts|build\/(?!Release$|Release\/re2\.node$).*)$/.test(part))
    return true;
  // one font of twenty-two is used (vm-manager/reports/fonts.ts)
  if (packagePath === 'node_modules/dejavu-fonts-ttf' && part.endsWith('.ttf')) return part !== 'ttf/DejaVuSans.ttf';
  // grammars: the program, none of the sources that it is made of
  if (/^node_modules\/(?:@tree-sitter-grammars\/)?tree-sitter-/.test(packagePath) && part !== '')
    return !/^(?:[^/]+\.wasm|package\.json|LICENSE[^/]*)$/i.test(part) || part.endsWith('php_only.wasm');
  // of the C library musl
  if (part.endsWith('musl.node')) return true;
  const binary = /uws_(\w+?)_(\w+?)_(\d+)\.node$/.exec(part);
  if (binary !== null)
    return binary[1] !== process.platform || binary[2] !== process.arch || binary[3] !== process.versions.modules;
  if (/LICEN[CS]E|NOTICE/i.test(part)) return false;
  return packageFoldersLeftOut.test(part) || packageTopLeftOut.test(part) || packageFilesLeftOut.test(part);
}

function copyBuilt(input: ReleaseInput, kind: TreeKind, to: string): void {
  // the programs put together have the control plane in them
  const fused = kind === 'whole' ? ['fused'] : [];
  for (const room of [...rooms[kind], ...fused]) {
    const from = join(input.root, 'build', room);
    if (!existsSync(from)) throw new ReleaseError(`${relative(input.root, from)} is not built; run \`make setup\`.`);
    cpSync(from, join(to, 'build', room), {
      recursive: true,
      filter: (path) => {
        const built = relative(join(input.root, 'build'), path);
        return !isLeftOut(built) && !(kind === 'data-plane' && controlOnly.includes(built));
      },
    });
  }
}

function copyPackages(input: ReleaseInput, packages: readonly LockedPackage[], to: string): void {
  for (const { path } of packages) {
    const from = join(input.root, path);
    cpSync(from, join(to, path), {
      recursive: true,
      dereference: true,
      filter: (file) => {
        const part = relative(from, file);
        // nested packages come by their own entry of the lock file
        return !/(?:^|\/)node_modules(?:\/|$)/.test(part) && !isPackagePartLeftOut(path, part);
      },
    });
  }
}

/** The fields of package.json that a running program reads. */
function packageFile(input: ReleaseInput): string {
  const all = JSON.parse(readFileSync(join(input.root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, description, license, type, engines, imports } = all;
  const kept = { name, version: input.version, description, license, private: true, type, engines, imports };
  return `${JSON.stringify(kept, null, 2)}\n`;
}

/**
 * Rules, the compiled defaults and their automata, made by the tree itself so that the keys of the caches are its own:
 * a first start then compiles nothing. Throws ReleaseError where the rule set cannot be had.
 */
function plantSeed(tree: string, input: ReleaseInput): void {
  const seed = join(tree, 'seed');
  const { version } = JSON.parse(readFileSync(join(input.root, 'fixtures/crs.lock.json'), 'utf8')) as {
    readonly version: string;
  };
  // what the checkout runs with is taken, so that nothing has to be downloaded; its hash is checked where it is used
  for (const name of [version, 'unicode.mapping']) {
    const from = join(input.root, 'data/crs', name);
    if (existsSync(from)) cpSync(from, join(seed, 'crs', name), { recursive: true });
  }
  mkdirSync(seed, { recursive: true });
  const script = `
    const at = (path) => new URL('file://${tree}/build/cli/' + path).href;
    const { settingsFile, readSettings } = await import(at('local-settings/settings-file.js'));
    const { prepareArtifact } = await import(at('local-settings/artifact.js'));
    const data = process.env.GATEHOUSE_DATA;
    readSettings(settingsFile(data));
    await prepareArtifact(settingsFile(data), data, { say: console.error });`;
  const shared = process.env['GATEHOUSE_SHARED'] ?? join(input.root, '../shared');
  const env = { PATH: process.env['PATH'] ?? '', GATEHOUSE_DATA: seedPlace, GATEHOUSE_SHARED: shared };
  // The compiled rules name the files that they come from: at one place, whatever directory a release is made in.
  if (lstatSync(seedPlace, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(seedPlace))
    rmSync(seedPlace);
  try {
    symlinkSync(seed, seedPlace);
  } catch (error) {
    throw new ReleaseError(`${seedPlace} cannot be made (${String(error)}); wait for the other release, or remove it.`);
  }
  try {
    run(join(tree, 'runtime/node'), ['--input-type=module', '-e', script], { cwd: tree, env });
  } finally {
    rmSync(seedPlace);
  }
  if (!existsSync(join(seed, 'crs', version, 'rules')))
    throw new ReleaseError(`the rule set ${version} of this release could not be had; run \`make setup\` first.`);
  rmSync(join(seed, 'crs/cache'), { recursive: true, force: true });
  // by which prepare-host.sh sees whether a host has it already
  const artifacts = readdirSync(join(seed, 'artifacts')).sort().join(' ');
  writeFileSync(join(seed, 'version'), `${input.version} ${artifacts}\n`);
}

/** Where the seed seems to lie while it is compiled. */
const seedPlace = '/var/tmp/gatehouse-release-seed';

const carried = ['LICENSE', 'NOTICE', 'package-lock.json', 'fixtures/crs.lock.json', '.env.example'];

/** Assembles a tree in `directory`, which is emptied first. Throws ReleaseError. */
export function assembleTree(input: ReleaseInput, kind: TreeKind, directory: string): ReleaseTree {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'runtime'), { recursive: true });
  copyBuilt(input, kind, directory);
  const packages = packagesFor(input.root, importedPackages(rooms[kind].map((room) => join(directory, 'build', room))));
  copyPackages(input, packages, directory);
  copyFileSync(input.node, join(directory, 'runtime/node'));
  chmodSync(join(directory, 'runtime/node'), 0o755);
  const addon = 'engine/native/build/Release/gatehouse_native.node';
  for (const path of [...carried, addon, 'bin/gatehouse', 'bin/built.mjs']) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    copyFileSync(join(input.root, path), join(directory, path));
  }
  // started by the runtime that is beside it, never by a Node.js that the host has
  const program = join(directory, 'bin/gatehouse');
  writeFileSync(program, readFileSync(program, 'utf8').replace(/^#!.*\n/, ''));
  writeFileSync(join(directory, 'package.json'), packageFile(input));
  plantSeed(directory, input);
  for (const path of pathsBelow(directory))
    if (path !== 'runtime/node' && lstatSync(join(directory, path)).isFile()) chmodSync(join(directory, path), 0o644);
  normalize(directory, input.epoch);
  return { directory, packages };
}

/** Every file of a tree with its SHA-256, for the provenance; symbolic links have none. */
export function contentOf(directory: string): { readonly path: string; readonly sha256: string }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((path) => ({ path: relative(directory, path), sha256: sha256File(path) }));
}

/** A directory that is gone when `work` is done. */
export function withScratch<T>(work: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-release-'));
  try {
    return work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
