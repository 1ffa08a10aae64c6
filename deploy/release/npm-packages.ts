// Which npm packages the program loads while it runs: those that the built rooms import, and what these need in turn.
// Packages of the build (bundler, test runner, compiler) and of the browser's bundle are left out.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReleaseError } from './commands.js';

export interface LockedPackage {
  /** Where it lies: `node_modules/a`, or `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly licence: string | null;
  /** `sha512-…`, as the registry gave it. */
  readonly integrity: string | null;
}

interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Needed to install re2 and to compile against it, never while it runs. */
const forInstallationOnly: ReadonlySet<string> = new Set(['nan', 'node-gyp', 'install-artifact-from-github']);
const importForms =
  /(?:from|import|require\s*\(|\.resolve\s*\(|import\s*\()\s*["']((?:@[\w.-]+\/)?[\w][\w.-]*)(?:\/[^"']*)?["']/g;

/** Names of packages that the scripts below `folders` import. */
export function importedPackages(folders: readonly string[]): string[] {
  const names = new Set<string>();
  for (const folder of folders)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.js') || /web-bundle|\.(?:test|contract)\.js$|(?:^|\/)(?:testing|e2e)\//.test(name)) continue;
      for (const [, found = ''] of readFileSync(join(folder, name), 'utf8').matchAll(importForms)) names.add(found);
    }
  return [...names].sort();
}

/**
 * Those of `roots` that the lock file knows, with everything that they need, in the order of their paths. Throws
 * ReleaseError for one that is locked and not installed.
 */
export function packagesFor(root: string, roots: readonly string[]): LockedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>;
  };
  const found = new Map<string, LockedPackage>();
  const resolve = (name: string, from: string): string | null => {
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
      const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
      if (lock.packages[path] !== undefined) return path;
      if (at === '') return null;
    }
  };
  const visit = (name: string, from: string, isOptional: boolean): void => {
    const path = resolve(name, from);
    if (path === null || found.has(path) || forInstallationOnly.has(name)) return;
    if (!existsSync(join(root, path, 'package.json'))) {
      if (isOptional) return;
      throw new ReleaseError(`${path} is not installed; run \`make setup\` first.`);
    }
    const entry = lock.packages[path] ?? {};
    const own = entry.name ?? name;
    const { version = '', license = null, integrity = null } = entry;
    found.set(path, { path, name: own, version, licence: license, integrity });
    for (const next of Object.keys(entry.dependencies ?? {})) visit(next, path, false);
    for (const next of Object.keys({ ...entry.optionalDependencies, ...entry.peerDependencies }))
      visit(next, path, true);
  };
  for (const name of roots) visit(name, '', false);
  return [...found.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}
