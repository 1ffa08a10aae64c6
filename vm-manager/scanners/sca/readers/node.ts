// Lock files of Node.js: npm 1 to 3, Yarn 1 and later, pnpm 5 to 9, Bun.
import { parse } from 'yaml';
import {
  distinct,
  jsonOf,
  listOf,
  objectOf,
  textOf,
  type Json,
  type Listed,
  type Listing,
  type Reader,
} from '../listing.js';

const depthMax = 60;

/** Version 1: trees of `dependencies`. */
function* npmTree(dependencies: Json, depth = 0): Generator<Listed> {
  if (depth > depthMax) throw new Error('is nested too deeply');
  for (const [key, value] of Object.entries(dependencies)) {
    const one = objectOf(value);
    const given = textOf(one['version']);
    const alias = /^npm:(.+)@([^@]+)$/.exec(given);
    const [name, version] = alias === null ? [key, given] : [alias[1] ?? key, alias[2] ?? ''];
    if (version !== '' && !/^(?:file|link|workspace):/.test(version))
      yield { name, version: version.replace(/^.*#semver:/, ''), isDevelopment: one['dev'] === true, mark: `"${key}"` };
    yield* npmTree(objectOf(one['dependencies']), depth + 1);
  }
}

/** Versions 2 and 3: `packages` by the place where they are put; what is linked is of the project itself. */
function npmPackages(packages: Json): Listed[] {
  const root = objectOf(packages['']);
  const direct = new Set(
    ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((name) => Object.keys(objectOf(root[name]))),
  );
  return Object.entries(packages).flatMap(([place, value]) => {
    const one = objectOf(value);
    const at = place.lastIndexOf('node_modules/');
    if (place === '' || at === -1) return [];
    const key = place.slice(at + 'node_modules/'.length);
    // a link leads to a part of the same workspace
    const version = textOf((one['link'] === true ? objectOf(packages[textOf(one['resolved'])]) : one)['version']);
    if (version === '') return [];
    const isDevelopment = one['dev'] === true || one['devOptional'] === true;
    const relation = at === 0 && direct.has(key) ? 'direct' : 'transitive';
    return [{ name: textOf(one['name']) || key, version, isDevelopment, relation, mark: `"${place}"` }];
  });
}

const npm: Reader = (text) => {
  const lock = jsonOf(text);
  const packages = objectOf(lock['packages']);
  if (lock['packages'] === undefined && lock['dependencies'] === undefined && lock['lockfileVersion'] === undefined)
    throw new Error('is no lock file of npm');
  const all = lock['packages'] === undefined ? [...npmTree(objectOf(lock['dependencies']))] : npmPackages(packages);
  return { type: 'npm', packages: distinct(all), listsDevelopment: true };
};

/** `a@^1, b@npm:c@1` → the name that it is published under. */
function yarnName(head: string): { readonly name: string; readonly range: string } {
  const [first = ''] = head.replaceAll('"', '').split(/,\s*/);
  const at = first.indexOf('@', 1);
  const [name, range] = at === -1 ? [first, ''] : [first.slice(0, at), first.slice(at + 1)];
  const alias = /^npm:((?:@[^/]+\/)?[^@]+)@/.exec(range);
  return { name: alias?.[1] ?? name, range };
}

/** Of Yarn 1, read by lines: its format is its own. */
function yarnClassic(text: string): Listed[] {
  const found: Listed[] = [];
  let head = '';
  for (const line of text.split('\n')) {
    if (/^\S.*:\s*$/.test(line) && !line.startsWith('#')) head = line.trim().replace(/:$/, '');
    const version = /^ {2}"?version"?:? "?([^"\s]+)"?/.exec(line)?.[1];
    if (version === undefined || head === '') continue;
    const { name, range } = yarnName(head);
    const isForeign = !/^(?:file|link|portal|workspace|patch|exec|unsupported):/.test(range);
    if (isForeign && !isUnknownProtocol(range)) found.push({ name, version, mark: head });
    head = '';
  }
  return found;
}

/** `unsupported:~2`: its origin is unknown. */
const isUnknownProtocol = (range: string): boolean =>
  /^[a-z+]+:/i.test(range) && !/^(?:npm|https?|git|git\+\w+|github|gitlab|bitbucket|ssh):/i.test(range);

function yarnBerry(text: string): Listed[] {
  return Object.entries(objectOf(parse(text))).flatMap(([head, value]) => {
    const one = objectOf(value);
    const resolution = textOf(one['resolution']);
    const found = /^((?:@[^/]+\/)?[^@]+)@(?:npm|patch|https?|git[^:]*|[^:]*):/.exec(resolution);
    if (head === '__metadata' || found === null || /@(?:workspace|link|portal|file):/.test(resolution)) return [];
    const version = one['version'];
    if (typeof version !== 'string' && typeof version !== 'number') return [];
    return [{ name: found[1] ?? '', version: String(version), mark: head }];
  });
}

const yarn: Reader = (text) => {
  const isBerry = /^__metadata:/m.test(text);
  if (!isBerry && !/^\S[^\n]*:\s*$/m.test(text) && !/yarn lockfile/.test(text))
    throw new Error('is no lock file of Yarn');
  return { type: 'npm', packages: distinct(isBerry ? yarnBerry(text) : yarnClassic(text)) };
};

/** `/a/1.0.0_peer@2`, `/a@1.0.0(peer@2)`, `a@1.0.0`: by the version of the lock file. */
function pnpmKey(key: string, isOld: boolean): { readonly name: string; readonly version: string } | null {
  const plain = key.replace(/\(.*$/, '').replace(/^\//, '');
  if (/^(?:file|link|https?|git[^@]*):/.test(plain)) return null;
  const at = isOld ? plain.lastIndexOf('/') : plain.lastIndexOf('@');
  if (at < 1) return null;
  return { name: plain.slice(0, at), version: plain.slice(at + 1).replace(/_.*$/, '') };
}

const pnpm: Reader = (text) => {
  const lock = objectOf(parse(text, { maxAliasCount: 100 }));
  const major = Number.parseFloat(String(lock['lockfileVersion']));
  if (Number.isNaN(major)) throw new Error('does not say its lockfileVersion');
  const development = major >= 9 ? onlyDevelopment(lock) : null;
  const packages = Object.entries(objectOf(lock['packages'])).flatMap(([key, value]) => {
    const one = objectOf(value);
    const ofKey = pnpmKey(key, major < 6);
    const name = textOf(one['name']) || (ofKey?.name ?? '');
    const version = textOf(one['version']) || (ofKey?.version ?? '');
    if (name === '' || version === '') return [];
    const isDevelopment = one['dev'] === true || development?.has(key) === true;
    return [{ name, version, isDevelopment, mark: key }];
  });
  return { type: 'npm', packages: distinct(packages) };
};

/** From version 9 a lock file does not say what is for development: what run time does not reach is. */
function onlyDevelopment(lock: Json): ReadonlySet<string> {
  const snapshots = objectOf(lock['snapshots']);
  const keyOf = (name: string, version: string): string =>
    Object.hasOwn(snapshots, version) ? version : `${name}@${version}`;
  const reached = (kinds: readonly string[]): Set<string> => {
    const waiting = Object.values(objectOf(lock['importers'])).flatMap((importer) =>
      kinds.flatMap((kind) =>
        Object.entries(objectOf(objectOf(importer)[kind])).map(([name, one]) =>
          keyOf(name, textOf(objectOf(one)['version'])),
        ),
      ),
    );
    const seen = new Set<string>();
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      if (seen.has(key)) continue;
      seen.add(key);
      const one = objectOf(snapshots[key]);
      for (const kind of ['dependencies', 'optionalDependencies'])
        for (const [name, version] of Object.entries(objectOf(one[kind]))) waiting.push(keyOf(name, textOf(version)));
    }
    return new Set([...seen].map((key) => key.replace(/\(.*$/, '')));
  };
  const runtime = reached(['dependencies', 'optionalDependencies']);
  return new Set([...reached(['devDependencies'])].filter((key) => !runtime.has(key)));
}

/** JSON with commas before closing brackets; `packages`: name → [name@version, …]. */
const bun: Reader = (text) => {
  const lock = objectOf(parse(text.replace(/,(\s*[}\]])/g, '$1')));
  if (lock['lockfileVersion'] === undefined) throw new Error('does not say its lockfileVersion');
  const packages = Object.entries(objectOf(lock['packages'])).flatMap(([key, value]) => {
    const found = /^((?:@[^/]+\/)?[^@]+)@(?!workspace:|file:|link:)(?:npm:)?(.+)$/.exec(textOf(listOf(value)[0]));
    return found === null ? [] : [{ name: found[1] ?? '', version: found[2] ?? '', mark: `"${key}"` }];
  });
  return { type: 'npm', packages: distinct(packages) };
};

export const nodeReaders: Readonly<Record<string, Reader>> = { npm, yarn, pnpm, bun } satisfies Record<
  string,
  (text: string, path: string) => Listing
>;
