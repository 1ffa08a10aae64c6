// Who may import whom: rooms through doors, leaves not each other, nobody in a circle, no ambient inputs in pure rooms.
import { importsOf, isTestTool, isTypeScript, roomOf, source, target, type Check, type NamedCheck } from './source.js';

/** Doors a room may use; `type` = only `import type`. */
const arrows: Readonly<Record<string, Readonly<Record<string, 'value' | 'type'>>>> = {
  settings: {},
  engine: {},
  compiler: { '#settings': 'value', '#engine': 'value', '#engine/compile': 'value' },
  proxy: { '#settings': 'value', '#settings/words': 'value', '#settings/environment': 'type', '#engine': 'value' },
  api: {
    '#settings': 'value',
    '#settings/environment': 'value',
    '#compiler': 'value',
    '#proxy/contract': 'value',
    '#proxy/redis': 'value', // both planes share limits in one Redis: a second maker of connections would differ
    '#engine': 'type',
    '#vm-manager': 'value',
  },
  'vm-manager': { '#http-kit': 'value' },
  sensor: {}, // goes into applications of others: it carries nothing of the house
  console: { '#api/contract': 'type', '#vm-manager/contract': 'type', '#settings': 'type' },
  cli: {
    '#settings': 'value',
    '#settings/environment': 'value',
    '#engine': 'value',
    '#engine/compile': 'value',
    '#compiler': 'value',
    '#proxy/contract': 'value',
    '#proxy/gates': 'value', // `explain` tells what each gate decides: a second list of gates would be another truth
    '#proxy/main': 'value',
    '#proxy/redis': 'value',
    '#api/main': 'value',
    '#console/main': 'value',
    '#fixtures/demo': 'value',
    '#vm-manager/demo': 'value',
    '#vm-manager/scanners': 'value',
  },
  bench: {
    '#settings': 'value',
    '#engine': 'value',
    '#engine/compile': 'value',
    '#compiler': 'value',
    '#proxy/contract': 'value',
    '#proxy/gates': 'value',
    '#vm-manager/chains': 'value',
    '#vm-manager/scanners': 'value',
  },
  // manuals and completion are made of what the command line says of itself
  deploy: { '#settings/environment': 'value', '#cli/usage': 'value' },
  fixtures: {},
  tidy: {},
};

/** Every door that there is. */
const doors: ReadonlySet<string> = new Set(Object.values(arrows).flatMap((allowed) => Object.keys(allowed)));
/** Parts of a room that only the tests of others use. */
const testDoors = /^#(?:cli|compiler\/testing|api\/testing)\//;

/** Relative imports that leave a room, by importer; everything else across rooms goes through a door. */
function mayLeaveRoom(from: string, to: string): boolean {
  if (to.startsWith('fixtures/')) return from.startsWith('bench/') || isTestTool(from);
  return from === 'tidy.test.ts' && to.startsWith('tidy/');
}

function checkImport(path: string, line: number, specifier: string, isType: boolean): string[] {
  const at = `${path}:${line}`;
  const room = roomOf(path);
  if (specifier.startsWith('.')) {
    if (!/\.(js|json|css)$/.test(specifier)) return [`${at}: "${specifier}" has no ending; write .js`];
    const to = target(path, specifier);
    if (roomOf(to) !== room && !mayLeaveRoom(path, to))
      return [`${at}: "${specifier}" leaves the room ${room}; use the door (#${roomOf(to)})`];
    return [];
  }
  if (!specifier.startsWith('#')) return [];
  if (!doors.has(specifier) && !testDoors.test(specifier))
    return [`${at}: ${specifier} is no door; see the arrows in ARCHITECTURE.md`];
  if (isTestTool(path) && room !== 'engine') return []; // tests of a room may use what they test it with
  const allowed = arrows[room]?.[specifier];
  if (allowed === undefined) return [`${at}: ${room} may not import ${specifier}; see the arrows in ARCHITECTURE.md`];
  if (allowed === 'type' && !isType) return [`${at}: ${room} may use ${specifier} for types only; write "import type"`];
  return [];
}

const importArrows: Check = (sources) =>
  sources
    .filter((file) => isTypeScript(file) && roomOf(file.path) !== 'tidy') // its canaries are imports in quotes
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, line, isType }) => checkImport(file.path, line, specifier, isType)),
    );

/** Operators, transformations, actions and body parsers are leaves: they know their own contract, not each other. */
const engineLeaves: Check = (sources) => {
  const leaf = /^engine\/(operators|transformations|actions|body)\//;
  return sources
    .filter(({ path }) => leaf.test(path) && !isTestTool(path))
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, line, isType }) => {
        const folder = leaf.exec(file.path)?.[1];
        const to = specifier.startsWith('.') ? target(file.path, specifier) : '';
        const other = leaf.exec(to)?.[1];
        const isForeign = other !== undefined && other !== folder && !isType;
        if (!isForeign && !/^engine\/(.*\/)?(inspect|inspector|interpreter)\.ts$/.test(to)) return [];
        return [`${file.path}:${line}: ${folder} may not import ${to}; pass what it needs as an argument`];
      }),
    );
};

/** The circles of a graph with more than one member (Tarjan's strongly connected components). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (onStack.has(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== order.get(node)) return;
    const members = stack.splice(stack.indexOf(node));
    for (const member of members) onStack.delete(member);
    if (members.length > 1) found.push(members.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** Types that need each other may stand in two or three files; beyond that nobody can read one without all. */
const typeCircleMax = 3;

const circles =
  (withTypes: boolean): Check =>
  (sources) => {
    const graph = new Map<string, string[]>();
    for (const file of sources.filter(isTypeScript)) {
      const followed = importsOf(file).filter(
        ({ isType, specifier }) => specifier.startsWith('.') && (withTypes || !isType),
      );
      graph.set(
        file.path,
        followed.map(({ specifier }) => target(file.path, specifier)),
      );
    }
    return circlesOf(graph)
      .filter((members) => members.length > (withTypes ? typeCircleMax : 1))
      .map(
        (members) =>
          `${members[0]}:1: ${members.length} files import each other in a circle (${members.join(', ')}); ` +
          'move what both sides need into a file of its own',
      );
  };

const ambient: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b|\bnew Date\(\)/, 'the clock is an argument'],
  [/\bMath\.random\b/, 'randomness is an argument'],
  [/\bprocess\.env\b/, 'the environment is read in one place, and passed on'],
  [/['"]node:fs(\/promises)?['"]/, 'files come through an injected reader'],
  [/['"]node:(net|http|https|tls|dgram|dns)['"]/, 'no network in this room'],
];

function isAmbientFree(path: string): boolean {
  const isPure = /^(settings|engine|compiler|vm-manager\/chains)\//.test(path);
  return isPure && !path.startsWith('compiler/disk/') && !isTestTool(path);
}

const noAmbient: Check = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.ts') && isAmbientFree(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        if (/^\s*(\/\/|\*|\/\*)/.test(line)) return [];
        const broken = ambient.filter(([pattern]) => pattern.test(line));
        return broken.map(([, why]) => `${path}:${index + 1}: "${line.trim()}"; ${why}`);
      }),
    );

/** Stay packages of their own where the rest is put together (bin/fuse.mjs): their names are as in node_modules. */
const keptApart: ReadonlySet<string> = new Set(['piscina', 'vite', 'esbuild', 'playwright-core']);

/**
 * bin/fuse.mjs makes of a CommonJS package that is imported later a module with a default export and no other. Workers
 * could not share limits over Redis, and no certificate could be ordered, while tests ran file by file.
 */
const laterByDefault: Check = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !isTestTool(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const name = /(?<!typeof )\bimport\('([a-z@][^']*)'\)/.exec(line)?.[1];
        if (name === undefined || name.startsWith('node:') || keptApart.has(name)) return [];
        if (/\{ default: \w+ \} = await import\(/.test(line)) return [];
        return [`${path}:${index + 1}: take "${name}" by its default: const { default: x } = await import('${name}')`];
      }),
    );

export const arrowChecks: readonly NamedCheck[] = [
  {
    name: 'packages that are imported later are taken by their default',
    check: laterByDefault,
    canaries: [
      [source('proxy/x.ts', "const { Redis } = await import('ioredis');\n")],
      [source('api/x.ts', "const acme = await import('acme-client');\n")],
    ],
  },
  {
    name: 'rooms import only through the doors they may use',
    check: importArrows,
    canaries: [
      [source('engine/x.ts', "import { y } from '#compiler';\n")],
      [source('proxy/x.ts', "import { y } from '#compiler';\n")],
      [source('proxy/x.ts', "import { y } from '../engine/y.js';\n")],
      [source('compiler/x.ts', "import { y } from '#engine/secret-part';\n")],
      [source('compiler/x.test.ts', "import { y } from '#engine/secret-part';\n")],
      [source('proxy/x.ts', "import { y } from '#engine/compile';\n")],
      [source('api/x.ts', "import type { y } from '#engine/compile';\n")],
      [source('api/x.ts', "import { y } from '#engine';\n")],
      [source('engine/x.ts', "import { y } from './y';\n")],
      [source('proxy/x.ts', "const m = await import('../compiler/index.js');\n")],
      [source('vm-manager/x.ts', "import { y } from '#settings';\n")],
    ],
  },
  {
    name: 'operators, transformations, actions and bodies are leaves',
    check: engineLeaves,
    canaries: [
      [source('engine/operators/x.ts', "import { y } from '../body/json.js';\n")],
      [source('engine/actions/x.ts', "import { y } from '../interpreter.js';\n")],
    ],
  },
  {
    name: 'no file needs itself by way of others',
    check: circles(false),
    canaries: [
      [
        source('api/x.ts', "import { y } from './y.js';\n"),
        source('api/y.ts', "export { z } from './z.js';\n"),
        source('api/z.ts', "import { x } from './x.js';\n"),
      ],
    ],
  },
  {
    name: `types that need each other stand in at most ${typeCircleMax} files`,
    check: circles(true),
    canaries: [
      Array.from({ length: typeCircleMax + 1 }, (_, index) =>
        source(`api/x${index}.ts`, `import type { Y } from './x${(index + 1) % (typeCircleMax + 1)}.js';\n`),
      ),
    ],
  },
  {
    name: 'pure rooms have no ambient inputs',
    check: noAmbient,
    canaries: [
      [source('engine/x.ts', 'const now = Date.now();\n')],
      [source('compiler/x.ts', "import { readFileSync } from 'node:fs';\n")],
      [source('compiler/x.ts', 'const a = process.env;\n')],
      [source('engine/x.ts', 'const a = Math.random();\n')],
    ],
  },
];
