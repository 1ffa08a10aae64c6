// What the tree has to have, and what nobody needs: dead files, unused dependencies, targets and variables that others
// rely on.
import semver from 'semver';
import { toolVariables, variables } from '#settings/environment';
import { entries, indirect } from './exceptions.js';
import { isCode, isTest, lineOf, roomOf, rooms, source, type Check, type NamedCheck } from './source.js';

/** A test that is not built is a test that does not run; a source that nobody names is dead. */
const deadFiles: Check = (sources) => {
  const isBuilt = (path: string): boolean => !path.includes('/') || (rooms as readonly string[]).includes(roomOf(path));
  const named = new Map<string, string[]>(); // base name as written in sources → who writes it
  const note = (name: string, path: string): void => void named.set(name, [...(named.get(name) ?? []), path]);
  for (const { path, text } of sources) {
    for (const match of text.matchAll(/([\w.-]+)\.m?js\b/g)) note(match[1] ?? '', path);
    for (const match of text.matchAll(/['"]#[\w-]+\/([\w/.-]+)['"]/g)) note(match[1]?.split('/').at(-1) ?? '', path);
  }
  return sources.flatMap(({ path }) => {
    if (isTest(path)) return isBuilt(path) ? [] : [`${path}:1: no build step reaches this test; move it into a room`];
    const isExempt = path.endsWith('.d.ts') || path in entries || path.startsWith('bench/cases/');
    if (!/\.(ts|mjs)$/.test(path) || isExempt) return [];
    const name = (path.split('/').at(-1) ?? '').replace(/\.(ts|mjs)$/, '');
    const isNamed = (named.get(name) ?? []).some((who) => who !== path);
    return isNamed ? [] : [`${path}:1: nobody imports it; remove it, or list it in entries`];
  });
};

interface PackageFile {
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const dependencies: Check = (sources) => {
  const packageSource = sources.find(({ path }) => path === 'package.json');
  if (packageSource === undefined) return ['package.json:1: is missing'];
  const { dependencies: run = {}, devDependencies: develop = {} } = JSON.parse(packageSource.text) as PackageFile;
  const code = sources.filter(({ path }) => isCode(path) && path !== 'tidy.test.ts' && !path.startsWith('tidy/'));
  const all = Object.entries({ ...run, ...develop });
  const unpinned = all.filter(
    ([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) && !/^github:.+#v\d/.test(version),
  );
  const unused = all.filter(
    ([name]) =>
      !(name in indirect) &&
      !code.some(({ text }) => [`'${name}'`, `'${name}/`, `/${name}/`].some((written) => text.includes(written))),
  );
  const names = all.map(([name]) => name);
  return [
    ...unpinned.map(([name, version]) => `package.json:1: ${name} "${version}" is not pinned to one version`),
    ...unused.map(([name]) => `package.json:1: nobody imports ${name}; remove it`),
    ...(sources.length > 10 ? Object.keys(indirect).filter((name) => !names.includes(name)) : []).map(
      (name) => `tidy/exceptions.ts:1: ${name} is no dependency; remove it from indirect`,
    ),
  ];
};

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
}

/** First versions of the lines that README names, besides the lowest of package.json. */
const nodeVersions = ['22.13.0', '24.0.0'];

/** A package that is declared for newer Nodes only works on older ones by luck, until it does not. */
const packagesForNode: Check = (sources) => {
  const read = <T>(name: string): T | null => {
    const found = sources.find(({ path }) => path === name);
    return found === undefined ? null : (JSON.parse(found.text) as T);
  };
  const range = read<PackageFile>('package.json')?.engines?.node;
  const lowest = range === undefined ? null : semver.minVersion(range)?.version;
  const lock = read<LockFile>('package-lock.json');
  if (!lowest || lock === null) return ['package.json:1: engines.node and a lock file are needed'];
  return Object.entries(lock.packages).flatMap(([path, { engines }]) =>
    [lowest, ...nodeVersions]
      .filter((version) => engines?.node !== undefined && !semver.satisfies(version, engines.node))
      .map((version) => `package-lock.json:1: ${path} is for Node ${engines?.node}, not for ${version}; pin another`),
  );
};

const targets = ['setup', 'run', 'test', 'check', 'format', 'bench', 'dev', 'crs', 'fuzz', 'artifact', 'clean'];

const makeTargets: Check = (sources) => {
  const makefile = sources.find(({ path }) => path === 'Makefile')?.text ?? '';
  return targets
    .filter((name) => !new RegExp(`^${name}:`, 'm').test(makefile))
    .map((name) => `Makefile:1: the target ${name} is missing; others rely on it`);
};

/** Of the system and of Node.js; nobody here decides what they mean. */
const systemVariables = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS'];

/** A variable is a row of settings/environment.ts: never a name that is made up where it is read. */
const environmentNames: Check = (sources) => {
  const known = new Set([...variables.map(({ name }) => name), ...Object.keys(toolVariables), ...systemVariables]);
  const readBy = sources
    .filter(({ path }) => isCode(path) && !path.startsWith('tidy/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bprocess\.env(?:\.|\[')([A-Z][A-Z0-9_]*)/g)].map((match) => ({
        name: match[1] ?? '',
        at: `${path}:${lineOf(text, match.index)}`,
      })),
    );
  const example = sources.find(({ path }) => path === '.env.example')?.text ?? '';
  const listed = [...example.matchAll(/^([A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');
  return [
    ...readBy
      .filter(({ name }) => !known.has(name))
      .map(({ name, at }) => `${at}: ${name} is no row of settings/environment.ts; add it there`),
    ...variables
      .filter(({ name }) => !listed.includes(name))
      .map(
        ({ name }) => `.env.example:1: ${name} is missing; UPDATE=1 node build/settings/environment.test.js writes it`,
      ),
    ...listed
      .filter((name) => !variables.some((row) => row.name === name))
      .map((name) => `.env.example:1: ${name} is read by nobody`),
  ];
};

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A row of settings/rows/ says which file enforces it: the file is there and speaks of the setting. */
const enforcement: Check = (sources) =>
  sources
    .filter(({ path }) => path.startsWith('settings/rows/'))
    .flatMap(({ path, text }) => {
      const constants = new Map(
        [...text.matchAll(/^const (\w+) = '([^']+\.ts)';/gm)].map((found) => [found[1], found[2]]),
      );
      const rows = [...text.matchAll(/^ {2}(\w+): setting\(/gm)];
      return rows.flatMap((row, index) => {
        const name = row[1] ?? '';
        const body = text.slice(row.index, rows[index + 1]?.index);
        const written = /enforcedBy: (?:'([^']+)'|(\w+))|operator\(\s*(?:'([^']+)'|(\w+)),/.exec(body);
        const file = written?.[1] ?? written?.[3] ?? constants.get(written?.[2] ?? written?.[4] ?? '');
        if (written?.[2] === 'null') return [];
        const source = sources.find((one) => one.path === file);
        const says = source !== undefined && (source.text.includes(name) || source.text.includes(camel(name)));
        return says
          ? []
          : [`${path}:${lineOf(text, row.index)}: ${name} is not enforced by ${file ?? 'anything named'}; say where`];
      });
    });

export const treeChecks: readonly NamedCheck[] = [
  {
    name: 'no dead files',
    check: deadFiles,
    canaries: [[source('docs/x.test.ts', '')], [source('engine/nobody.ts', 'export const a = 1;\n')]],
  },
  {
    name: 'dependencies are pinned and used',
    check: dependencies,
    canaries: [
      [source('package.json', '{"dependencies":{"left":"^1.0.0"}}'), source('api/x.ts', "import 'left';\n")],
      [source('package.json', '{"dependencies":{"left":"1.0.0"}}')],
    ],
  },
  {
    name: 'every package is declared for every Node that is supported',
    check: packagesForNode,
    canaries: [
      [
        source('package.json', '{"engines":{"node":">=20.19"}}'),
        source('package-lock.json', '{"packages":{"node_modules/a":{"engines":{"node":">=20.20"}}}}'),
      ],
      [
        source('package.json', '{"engines":{"node":">=20.19"}}'),
        source('package-lock.json', '{"packages":{"node_modules/a":{"engines":{"node":"^20.19.0 || >=24.1.0"}}}}'),
      ],
      [source('package.json', '{}'), source('package-lock.json', '{"packages":{}}')],
    ],
  },
  {
    name: 'settings are enforced where their rows say',
    check: enforcement,
    canaries: [
      [source('settings/rows/x.ts', "  a_b: setting(Flag(true), { enforcedBy: 'proxy/gone.ts' }),\n")],
      [
        source('settings/rows/x.ts', "  a_b: setting(Flag(true), { enforcedBy: 'proxy/y.ts' }),\n"),
        source('proxy/y.ts', 'config.other\n'),
      ],
    ],
  },
  {
    name: 'make has the targets that others rely on',
    check: makeTargets,
    canaries: [[source('Makefile', 'run:\n')]],
  },
  {
    name: 'variables of the environment are rows of one table',
    check: environmentNames,
    canaries: [
      [
        source('api/x.ts', "const a = process.env['MADE_UP'];\n"),
        source('.env.example', variables.map(({ name }) => `${name}=\n`).join('')),
      ],
      [source('.env.example', 'WAF_PORT=\n')],
      [source('.env.example', variables.map(({ name }) => `${name}=\n`).join('') + 'MADE_UP=\n')],
    ],
  },
];
