// Shared libraries of the system: which Debian packages own those that the program loads (for images and for the bill
// of materials), and which packages a machine without the internet needs beside ours (for the bundle).
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { systemDependencies } from './debian-package.js';
import { isInstalled, ReleaseError, run } from './commands.js';

export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** Opened by name while the program runs, so that no program lists them. */
const openedByName = ['libmodsecurity.so.3'];

/** Real paths of the shared libraries that the programs and libraries among `files` need, without those of `files`. */
export function librariesOf(files: readonly string[]): string[] {
  const cache = run('/sbin/ldconfig', ['-p']);
  const named = openedByName.map((name) => {
    const path = new RegExp(`${name.replaceAll('.', '\\.')} .*=> (\\S+)`).exec(cache)?.[1];
    if (path === undefined) throw new ReleaseError(`${name} is not installed; apt-get install libmodsecurity3.`);
    return path;
  });
  const found = new Set<string>(named);
  for (const file of [...files, ...named])
    for (const [, path = ''] of run('ldd', [file]).matchAll(/(?:=> |^\s+)(\/\S+) \(/gm)) found.add(path);
  return [...found].sort();
}

/** The packages that own `paths`, by name. Throws ReleaseError for a file that no package owns. */
export function packagesOwning(paths: readonly string[]): SystemPackage[] {
  const names = new Set<string>();
  for (const path of paths) {
    // libraries lie in /usr/lib, and Debian's database may know them as /lib
    const real = realpathSync(path);
    const spellings = [real, real.replace(/^\/usr/, ''), `/usr${real}`, path];
    const owner = spellings.map(ownerOf).find((name) => name !== null);
    if (owner === undefined || owner === null)
      throw new ReleaseError(`${path} belongs to no package of this system; a release takes packaged libraries only.`);
    names.add(owner);
  }
  return [...names].sort().map(describe);
}

function ownerOf(path: string): string | null {
  try {
    return /^([^:,]+)[:,]/.exec(run('dpkg', ['-S', path]))?.[1] ?? null;
  } catch (error) {
    if (error instanceof ReleaseError) return null;
    throw error;
  }
}

function describe(name: string): SystemPackage {
  const format = '${Version} ${Architecture}\\n';
  const [version = '', architecture = ''] = (
    run('dpkg-query', ['-W', `-f=${format}`, name]).split('\n')[0] ?? ''
  ).split(' ');
  return { name, version, architecture };
}

/**
 * Names of the packages that a bare Debian lacks for `wanted`: what apt would install on a machine that has nothing,
 * without what every Debian has (priority "required").
 */
function neededFor(wanted: readonly string[]): string[] {
  // neither what is installed here nor what was downloaded before counts
  const status = ['-o', 'Dir::State::status=/dev/null', '-o', 'Dir::Cache::archives=/nonexistent'];
  const options = [...status, '--no-install-recommends', '--print-uris', '-y'];
  const listed = run('apt-get', [...options, 'install', ...wanted]);
  const names = [...listed.matchAll(/^'[^']*' ([^_\s]+)_\S+\.deb /gm)].map(([, name = '']) => name);
  const shown = run('apt-cache', ['show', '--no-all-versions', ...names]);
  const required = shown
    .split('\n\n')
    .filter((paragraph) => /^Priority: required$/m.test(paragraph))
    .map((paragraph) => /^Package: (\S+)$/m.exec(paragraph)?.[1]);
  return names.filter((name) => !required.includes(name));
}

/**
 * Downloads the packages that `gatehouse` depends on, with all that these need, into `directory`, as Debian serves
 * them. Returns the names of the files; none where this machine cannot download packages (`say` is told).
 */
export function downloadDependencies(directory: string, say: (text: string) => void): string[] {
  mkdirSync(directory, { recursive: true });
  if (!isInstalled('apt-get') || !isInstalled('apt-cache')) {
    say('no apt here: the bundle holds no Debian packages; hosts without the internet need the libraries already');
    return [];
  }
  try {
    const names = neededFor([...systemDependencies(), 'openssl', 'ca-certificates', 'curl']);
    run('apt-get', ['download', ...names], { cwd: directory });
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    say(
      `${error.message}\n  The bundle holds no Debian packages: hosts without the internet need the libraries already.`,
    );
    return [];
  }
  return readdirSync(directory)
    .filter((name) => name.endsWith('.deb') && existsSync(join(directory, name)))
    .sort();
}
