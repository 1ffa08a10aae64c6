// Which file is of which format, by its name; and manifests, which name ranges and no versions.
import type { Reader } from './listing.js';
import { compiledReaders as compiled } from './readers/compiled.js';
import { nodeReaders as node } from './readers/node.js';
import { otherReaders as others } from './readers/others.js';
import { pythonReaders as python } from './readers/python.js';

const formats: readonly (readonly [name: RegExp, reader: Reader | undefined])[] = [
  [/^(?:package-lock|npm-shrinkwrap)\.json$/, node['npm']],
  [/^yarn\.lock$/, node['yarn']],
  [/^pnpm-lock\.ya?ml$/, node['pnpm']],
  [/^bun\.lock$/, node['bun']],
  [/^(?:[\w.-]*requirements[\w.-]*|constraints)\.(?:txt|lock)$/, python['requirements']],
  [/^Pipfile\.lock$/, python['pipenv']],
  [/^(?:poetry|uv|pdm)\.lock$|^pylock(?:\.[\w-]+)?\.toml$/, python['tables']],
  [/^go\.mod$/, compiled['goMod']],
  [/^go\.sum$/, compiled['goSum']],
  [/^Cargo\.lock$/, compiled['cargo']],
  [/^(?:buildscript-)?gradle\.lockfile$/, compiled['gradle']],
  [/^packages\.lock\.json$/, compiled['nugetLock']],
  [/\.deps\.json$/, compiled['depsJson']],
  [/^packages(?:\.[\w-]+)?\.config$/, compiled['nugetConfig']],
  [/^(?:Directory\.)?[Pp]ackages\.props$/, compiled['nugetProps']],
  [/^conan\.lock$/, compiled['conan']],
  [/^composer\.lock$/, others['composer']],
  [/^(?:Gemfile|gems)\.(?:lock|locked)$/, others['bundler']],
  [/^mix\.lock$/, others['mix']],
  [/^pubspec\.lock$/, others['pub']],
  [/^Podfile\.lock$/, others['pods']],
  [/^Package\.resolved$/, others['swift']],
  [/\.(?:cdx|spdx|bom|sbom)\.json$|^(?:bom|sbom)\.json$/, others['bill']],
];

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export const readerOf = (path: string): Reader | null =>
  formats.find(([name]) => name.test(baseName(path)))?.[1] ?? null;
export const isPom = (path: string): boolean => baseName(path) === 'pom.xml';
export const isNamedBill = (path: string): boolean => /\.json$/i.test(path) && readerOf(path) === null;
export const readBill = others['bill'];
export const isGoSum = (path: string): boolean => baseName(path) === 'go.sum';

/** A manifest, what its text has where it needs anything, and the lock files that go with it. */
interface Manifest {
  readonly name: RegExp;
  readonly needs: RegExp;
  readonly locks: RegExp;
  /** A lock file further up is the one of a workspace. */
  readonly isInWorkspace: boolean;
}
const manifests: readonly Manifest[] = [
  {
    name: /^package\.json$/,
    needs: /"(?:optionalD|d)ependencies"\s*:\s*\{\s*"/,
    locks: /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.ya?ml|bun\.lock)$/,
    isInWorkspace: true,
  },
  {
    name: /^pyproject\.toml$/,
    needs: /^dependencies\s*=\s*\[\s*[^\]\s]|^\[tool\.poetry\.dependencies\]/m,
    locks: /^(?:poetry|uv|pdm)\.lock$|^pylock|requirements.*\.txt$/,
    isInWorkspace: true,
  },
  { name: /^Pipfile$/, needs: /^\[packages\]\s*\n\s*\w/m, locks: /^Pipfile\.lock$/, isInWorkspace: false },
  {
    name: /^Cargo\.toml$/,
    needs: /^\[(?:workspace\.)?dependencies\]\s*\n\s*[\w"]/m,
    locks: /^Cargo\.lock$/,
    isInWorkspace: true,
  },
  { name: /^composer\.json$/, needs: /"require"\s*:\s*\{[^}]*\//, locks: /^composer\.lock$/, isInWorkspace: false },
  { name: /^Gemfile$/, needs: /^\s*gem\s/m, locks: /^Gemfile\.lock$/, isInWorkspace: false },
  {
    name: /^build\.gradle(?:\.kts)?$/,
    needs: /^\s*(?:implementation|api|compile|runtimeOnly)[\s("']/m,
    locks: /^gradle\.lockfile$/,
    isInWorkspace: false,
  },
  { name: /^mix\.exs$/, needs: /\{:\w+,\s*"/, locks: /^mix\.lock$/, isInWorkspace: true },
  { name: /^pubspec\.yaml$/, needs: /^dependencies:\s*\n\s+\w/m, locks: /^pubspec\.lock$/, isInWorkspace: false },
];

export const manifestOf = (path: string): Manifest | null =>
  manifests.find(({ name }) => name.test(baseName(path))) ?? null;

/** Whether a lock file of the manifest is among the paths that were seen. */
export function hasLock(
  path: string,
  { locks, isInWorkspace }: Manifest,
  seen: ReadonlyMap<string, readonly string[]>,
): boolean {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    if (seen.get(folder)?.some((name) => locks.test(name)) === true) return true;
    if (!isInWorkspace || folder === '') return false;
  }
}

export const nameIn = baseName;
