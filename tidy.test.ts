// The house rules that a program can check. Each check is a pure function from sources to findings, and each is first
// fed a bad sample (the canary) that it must report: a check that cannot fail is decoration.
//
// A finding reads `path:line: what; what to do`. Tables of exceptions are at the top, each entry with its reason; the
// ratchets may only shrink, and an entry that is no longer needed is a finding itself.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

interface Source {
  readonly path: string; // relative to the root, with "/"
  readonly text: string;
}
type Check = (sources: readonly Source[]) => string[];

const rooms = ['engine', 'compiler', 'proxy', 'api', 'bench', 'fixtures'] as const;

/** Doors a room may use; `type` = only `import type`. */
const arrows: Readonly<Record<string, Readonly<Record<string, 'value' | 'type'>>>> = {
  engine: {},
  compiler: { '#engine': 'value' },
  proxy: { '#engine': 'value' },
  api: { '#compiler': 'value', '#proxy/contract': 'value', '#engine': 'type' },
  bench: { '#engine': 'value', '#compiler': 'value', '#proxy/contract': 'value' },
  fixtures: {},
};

/**
 * Parts of the engine that others may name directly, because the door would drag the whole engine along or because it
 * is a table or contract.
 */
const engineSubpaths: Readonly<Record<string, string>> = {
  '#engine/ir': 'contract with the compiler',
  '#engine/plan': 'contract with the compiler',
  '#engine/artifact': 'byte layout shared with the compiler',
  '#engine/limits': 'constants',
  '#engine/transaction': 'contract with the proxy',
  '#engine/inspector': 'contract with the proxy',
  '#engine/verdict': 'contract with the proxy',
  '#engine/store': 'contract of persistent collections',
  '#engine/memory-store': 'the store of one process',
  '#engine/interpreter': 'the oracle, a tool of tests and of the command line',
  '#engine/targets': 'table of variables, for the binder',
  '#engine/variables': 'table of variables, for the binder',
  '#engine/removals': 'how tags and messages are compared, one meaning for compiler and engine',
  '#engine/operators/index': 'table of operators, for the binder',
  '#engine/transformations/index': 'table of transformations, for the binder',
  '#engine/actions/index': 'table of actions, for the binder',
  '#engine/chain-links': 'which link of a chain tells first, for the planner',
  '#engine/operators/operator': 'contract of operators',
  '#engine/regex/index': 'pattern translation, one meaning for compiler and engine',
  '#engine/regex/node': 'syntax tree of patterns',
  '#engine/regex/parser': 'the planner reads patterns with the parser the engine uses',
  '#engine/regex/analysis': 'necessary conditions of a pattern, for the planner',
  '#engine/regex/required-literals': 'necessary conditions of a pattern, for the planner',
  '#engine/regex/hyperscan-source': 'pattern translation',
  '#engine/regex/re2-source': 'pattern translation',
  '#engine/native/matcher': 'contract of the matcher',
  '#engine/native/addon': "ends the data plane's process; the supervising thread needs nothing else of the engine",
  '#engine/native/hyperscan': 'the planner compiles databases with it',
  '#engine/native/re2': 'the planner measures with it',
  '#engine/native/re2-pattern': 'pattern translation',
};

/** Relative imports that leave a room, by importer; everything else across rooms goes through a door. */
function mayLeaveRoom(from: string, to: string): boolean {
  if (to.startsWith('fixtures/')) return from.endsWith('.test.ts') || from.startsWith('bench/') || isTestTool(from);
  return false;
}
function isTestTool(path: string): boolean {
  return (
    path.endsWith('.test.ts') ||
    /(^|\/)(e2e|testing)\//.test(path) ||
    path.endsWith('.contract.ts') ||
    path === 'tidy.test.ts'
  );
}

const ambient: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b|\bnew Date\(\)/, 'the clock is an argument'],
  [/\bMath\.random\b/, 'randomness is an argument'],
  [/\bprocess\.env\b/, 'the environment is read in bin/ and api/env.ts, and passed on'],
  [/['"]node:fs(\/promises)?['"]/, 'files come through an injected reader'],
  [/['"]node:(net|http|https|tls|dgram|dns)['"]/, 'no network in this room'],
];
function isAmbientFree(path: string): boolean {
  const inRoom = path.startsWith('engine/') || path.startsWith('compiler/');
  return inRoom && !path.startsWith('compiler/cli/') && !isTestTool(path);
}

const fileLinesMax = 600;
const functionLinesMax = 70;
/** Longer than the ratchet, with what would mend it. May only shrink. */
const longFiles: Readonly<Record<string, string>> = {};
const longFunctions: Readonly<Record<string, string>> = {
  'proxy/listeners/node.ts listenNode': 'move the event handlers out',
};

/** Started by name (threads, commands, people), hence imported by nobody. */
const entries: Readonly<Record<string, string>> = {
  'engine/index.ts': 'door',
  'compiler/index.ts': 'door',
  'proxy/contract.ts': 'door',
  'proxy/main.ts': 'bin/data-plane.mjs',
  'proxy/config.ts': 'bin/proxy-config.mjs',
  'api/contract.ts': 'door',
  'api/server.ts': 'bin/gatehouse',
  'compiler/cli/index.ts': 'bin/gatehouse',
  'bench/run.ts': 'make bench',
  'bench/compare.ts': 'node build/bench/compare.js',
};

/** Dependencies that no source imports, and who uses them instead. */
const indirect: Readonly<Record<string, string>> = {
  '@types/node': 'types of node',
  'node-addon-api': 'engine/native/binding.gyp',
  'node-gyp': 'bin/setup.mjs',
  typescript: 'make check',
};

function roomOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '.';
}
function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

interface Import {
  readonly specifier: string;
  readonly line: number;
  readonly isType: boolean;
}
function importsOf({ text }: Source): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\b([^;'"]*?)\bfrom\s+['"]([^'"]+)['"]/gm)) {
    const clause = match[1] ?? '';
    const names =
      /\{([^}]*)\}/
        .exec(clause)?.[1]
        ?.split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '') ?? [];
    const isType = /^\s*type\b/.test(clause) || (names.length > 0 && names.every((name) => name.startsWith('type ')));
    found.push({ specifier: match[2] ?? '', line: lineOf(text, match.index), isType });
  }
  for (const match of text.matchAll(/(?:^import\s+|\bimport\()['"]([^'"]+)['"]/gm)) {
    found.push({ specifier: match[1] ?? '', line: lineOf(text, match.index), isType: false });
  }
  return found;
}

/** Where a relative import leads, as a source path. */
function target(from: string, specifier: string): string {
  return normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts');
}
function isTypeScript(source: Source): boolean {
  return source.path.endsWith('.ts') && (rooms as readonly string[]).includes(roomOf(source.path));
}

const importArrows: Check = (sources) =>
  sources.filter(isTypeScript).flatMap((source) =>
    importsOf(source).flatMap(({ specifier, line, isType }) => {
      const at = `${source.path}:${line}`;
      const room = roomOf(source.path);
      if (specifier.startsWith('.')) {
        if (!specifier.endsWith('.js') && !specifier.endsWith('.json'))
          return [`${at}: "${specifier}" has no ending; write .js`];
        const to = target(source.path, specifier);
        if (roomOf(to) !== room && !mayLeaveRoom(source.path, to))
          return [`${at}: "${specifier}" leaves the room ${room}; use the door (#${roomOf(to)})`];
        return [];
      }
      if (!specifier.startsWith('#')) return [];
      if (isTestTool(source.path) && room !== 'engine') return []; // tests of a room may use what they test it with
      const door = specifier.startsWith('#engine/') ? '#engine' : specifier;
      const allowed = arrows[room]?.[door];
      if (allowed === undefined)
        return [`${at}: ${room} may not import ${specifier}; see the arrows in ARCHITECTURE.md`];
      if (allowed === 'type' && !isType)
        return [`${at}: ${room} may use ${specifier} for types only; write "import type"`];
      if (specifier.startsWith('#engine/') && !isType && !(specifier in engineSubpaths))
        return [`${at}: ${specifier} is not a door; import from #engine or argue for a row in tidy.test.ts`];
      return [];
    }),
  );

/** Operators, transformations, actions and body parsers are leaves: they know their own contract, not each other. */
const engineLeaves: Check = (sources) => {
  const leaf = /^engine\/(operators|transformations|actions|body)\//;
  return sources
    .filter((source) => leaf.test(source.path) && !isTestTool(source.path))
    .flatMap((source) =>
      importsOf(source).flatMap(({ specifier, line, isType }) => {
        const folder = leaf.exec(source.path)?.[1];
        const to = specifier.startsWith('.') ? target(source.path, specifier) : '';
        const other = leaf.exec(to)?.[1];
        const foreign = other !== undefined && other !== folder && !isType;
        if (foreign || /^engine\/(inspect|inspector|interpreter)\.ts$/.test(to))
          return [`${source.path}:${line}: ${folder} may not import ${to}; pass what it needs as an argument`];
        return [];
      }),
    );
};

const noAmbient: Check = (sources) =>
  sources
    .filter((source) => source.path.endsWith('.ts') && isAmbientFree(source.path))
    .flatMap((source) =>
      source.text
        .split('\n')
        .flatMap((line, index) =>
          /^\s*(\/\/|\*|\/\*)/.test(line)
            ? []
            : ambient
                .filter(([pattern]) => pattern.test(line))
                .map(([, why]) => `${source.path}:${index + 1}: "${line.trim()}"; ${why}`),
        ),
    );

function isCode(path: string): boolean {
  return /\.(ts|tsx|mjs|cc)$/.test(path) || path === 'bin/gatehouse';
}

const fileLengths: Check = (sources) =>
  sources
    .filter((source) => isCode(source.path))
    .flatMap((source) => {
      const lines = source.text.trimEnd().split('\n').length;
      if (lines > fileLinesMax)
        return source.path in longFiles
          ? []
          : [`${source.path}:${fileLinesMax}: ${lines} lines; split it below ${fileLinesMax}`];
      return source.path in longFiles ? [`${source.path}:1: is short enough now; remove it from longFiles`] : [];
    });

interface Span {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}
/** Functions by indentation: a line that opens one ends at the next line of the same depth that begins with "}". */
function functionsOf({ text }: Source): Span[] {
  const lines = text.split('\n');
  const found: Span[] = [];
  for (const [index, line] of lines.entries()) {
    const opens =
      /^(\s*)(?:export )?(?:(?:async )?function\*? (\w+)|(?:const|let) (\w+)\b.*(?:=>|function.*) \{$|(?:(?:private|public|protected|static|override|async|get|set) )*(\w+)\(.*\{$)/.exec(
        line,
      );
    if (opens === null || /^\s*(?:if|for|while|switch|catch|return|else)\b/.test(line)) continue;
    const indent = opens[1] ?? '';
    const end = lines.findIndex((later, at) => at > index && later.startsWith(`${indent}}`));
    if (end >= 0) found.push({ name: opens[2] ?? opens[3] ?? opens[4] ?? '', line: index + 1, lines: end - index + 1 });
  }
  return found;
}
const functionLengths: Check = (sources) => {
  const checked = sources.filter(
    (source) => /\.(ts|mjs)$/.test(source.path) && !/\.(test|contract)\.ts$/.test(source.path),
  );
  const spans = checked.flatMap((source) =>
    functionsOf(source).map((span) => ({
      key: `${source.path} ${span.name}`,
      at: `${source.path}:${span.line}`,
      ...span,
    })),
  );
  const long = spans.filter(({ lines }) => lines > functionLinesMax);
  const unknown = long
    .filter(({ key }) => !(key in longFunctions))
    .map(({ at, name, lines }) => `${at}: ${name} has ${lines} lines; split it below ${functionLinesMax}`);
  const stale = Object.keys(longFunctions).filter((key) => !long.some((span) => span.key === key));
  return [
    ...unknown,
    ...stale.map((key) => `tidy.test.ts:1: "${key}" is short enough or gone; remove it from longFunctions`),
  ];
};

/** piscina calls the default export of a worker's file. */
const poolWorkers: Readonly<Record<string, string>> = { 'compiler/plan/database-worker.ts': 'piscina' };

/** Words built from pieces, so that this file does not contain what it forbids. */
const word = (...pieces: string[]): string => pieces.join('');
const forbidden: readonly {
  readonly pattern: RegExp;
  readonly where: (path: string) => boolean;
  readonly what: string;
}[] = [
  {
    pattern: new RegExp(
      `\\b(${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('XX', 'X')})\\b[:(]|//\\s*${word('TO', 'DO')}\\b`,
    ),
    where: isCode,
    what: 'do it now or open an issue',
  },
  {
    pattern: new RegExp(`${word('/wo', 'rk/')}|${word('/fa', 'rm/')}`),
    where: () => true,
    what: 'a path of one machine; derive it from the project root',
  },
  { pattern: new RegExp(`['"\`]${word('/t', 'mp/')}`), where: isCode, what: 'use os.tmpdir() with mkdtemp' },
  {
    pattern: new RegExp(
      [
        'registry\\.npmjs',
        'npmjs\\.com',
        'registry\\.yarnpkg',
        'pypi\\.org',
        'files\\.pythonhosted',
        'crates\\.io',
        'proxy\\.golang',
        'rubygems\\.org',
      ]
        .map((name) => name.replace('\\.', '[.]'))
        .join('|'),
      'i',
    ),
    where: (path) => path !== 'tidy.test.ts',
    what: 'no package registry is named here; clients know theirs',
  },
  {
    pattern: new RegExp(word('OWASP_', 'CRS/') + '\\d+\\.\\d+\\.\\d'),
    where: () => true,
    what: 'text of the rule set; it is fetched, never committed',
  },
  {
    pattern: /\.only\(|\bonly: true\b/,
    where: (path) => path.endsWith('.test.ts') && path !== 'tidy.test.ts',
    what: 'runs one test and hides the others',
  },
  {
    pattern: /\bskip: true\b|\bt\.skip\(\)/,
    where: (path) => path.endsWith('.test.ts') && path !== 'tidy.test.ts',
    what: 'say why: skip: "reason"',
  },
  {
    pattern: /^export default\b/m,
    where: (path) => path.endsWith('.ts') && !(path in poolWorkers),
    what: 'named exports only',
  },
  {
    pattern: /catch(?: \(\w+\))? \{\s*\}/,
    where: (path) => isCode(path) && path !== 'tidy.test.ts',
    what: 'name what is expected here and rethrow the rest',
  },
  {
    pattern: /@ts-ignore|@ts-nocheck/,
    where: (path) => path.endsWith('.ts') && path !== 'tidy.test.ts',
    what: 'mend the type',
  },
];
const noForbiddenText: Check = (sources) =>
  sources.flatMap((source) =>
    forbidden
      .filter(({ where }) => where(source.path))
      .flatMap(({ pattern, what }) => {
        const found = pattern.exec(source.text);
        return found === null
          ? []
          : [`${source.path}:${lineOf(source.text, found.index)}: "${found[0].trim().slice(0, 60)}"; ${what}`];
      }),
  );

/** A case that is drawn anew in every run fails for somebody who changed something else. */
const fixedSeeds: Check = (sources) =>
  sources
    .filter(({ path, text }) => path.endsWith('.test.ts') && /from 'fast-check'/.test(text) && !/\bseed\b/i.test(text))
    .map(({ path }) => `${path}:1: its cases are others in every run; give fast-check a seed, from SEED by preference`);

const fileNames: Check = (sources) =>
  sources
    .filter((source) => isCode(source.path))
    .flatMap(({ path }) => {
      const name = path.split('/').at(-1) ?? '';
      if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|contract|d))*(\.[a-z]+)?$/.test(name))
        return [`${path}:1: the name is not kebab-case`];
      if (/(^|[-.])(utils?|helpers?|common|misc|manager|service|base)([-.]|$)/.test(name))
        return [`${path}:1: the name says nothing; name what it does`];
      return [];
    });

const docLinks: Check = (sources) =>
  sources
    .filter((source) => source.path.endsWith('.md'))
    .flatMap((source) =>
      [...source.text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => {
        const link = (match[1] ?? '').split('#')[0] ?? '';
        if (link === '' || /^[a-z]+:/.test(link)) return [];
        const to = normalize(join(dirname(source.path), link)).replace(/\/$/, '');
        const exists = sources.some(({ path }) => path === to || path.startsWith(`${to}/`));
        return exists ? [] : [`${source.path}:${lineOf(source.text, match.index)}: the link ${link} leads nowhere`];
      }),
    );

/** A test that is not built is a test that does not run; a source that nobody names is dead. */
const deadFiles: Check = (sources) => {
  const built = (path: string): boolean => !path.includes('/') || (rooms as readonly string[]).includes(roomOf(path));
  const named = new Map<string, string[]>(); // base name as written in sources → who writes it
  for (const { path, text } of sources) {
    for (const match of text.matchAll(/([\w.-]+)\.m?js\b/g))
      named.set(match[1] ?? '', [...(named.get(match[1] ?? '') ?? []), path]);
    for (const match of text.matchAll(/['"]#[\w-]+\/([\w/.-]+)['"]/g))
      named.set(match[1]?.split('/').at(-1) ?? '', [...(named.get(match[1]?.split('/').at(-1) ?? '') ?? []), path]);
  }
  return sources.flatMap(({ path }) => {
    if (path.endsWith('.test.ts'))
      return built(path) ? [] : [`${path}:1: no build step reaches this test; move it into a room`];
    if (!/\.(ts|mjs)$/.test(path) || path.endsWith('.d.ts') || path in entries || path.startsWith('bench/cases/'))
      return [];
    const name = (path.split('/').at(-1) ?? '').replace(/\.(ts|mjs)$/, '');
    return (named.get(name) ?? []).some((who) => who !== path)
      ? []
      : [`${path}:1: nobody imports it; remove it, or list it in entries`];
  });
};

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const dependencies: Check = (sources) => {
  const packageSource = sources.find(({ path }) => path === 'package.json');
  if (packageSource === undefined) return ['package.json:1: is missing'];
  const { dependencies = {}, devDependencies = {} } = JSON.parse(packageSource.text) as PackageFile;
  const code = sources.filter(({ path }) => isCode(path) && path !== 'tidy.test.ts');
  return Object.entries({ ...dependencies, ...devDependencies }).flatMap(([name, version]) => {
    const found: string[] = [];
    if (!/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) && !/^github:.+#v\d/.test(version))
      found.push(`package.json:1: ${name} "${version}" is not pinned to one version`);
    const isUsed = code.some(
      ({ text }) => text.includes(`'${name}'`) || text.includes(`'${name}/`) || text.includes(`/${name}/`),
    );
    if (!isUsed && !(name in indirect)) found.push(`package.json:1: nobody imports ${name}; remove it`);
    return found;
  });
};

const makeTargets: Check = (sources) => {
  const makefile = sources.find(({ path }) => path === 'Makefile')?.text ?? '';
  return ['setup', 'run', 'test', 'check', 'bench', 'dev', 'crs', 'fuzz', 'artifact', 'clean']
    .filter((name) => !new RegExp(`^${name}:`, 'm').test(makefile))
    .map((name) => `Makefile:1: the target ${name} is missing; others rely on it`);
};

const environmentNames: Check = (sources) => {
  const read = (path: string, pattern: RegExp): string[] =>
    [...(sources.find((source) => source.path === path)?.text ?? '').matchAll(pattern)].map((match) => match[1] ?? '');
  const table = read('bin/environment.mjs', /\{ name: '([A-Z0-9_]+)'/g);
  const example = read('.env.example', /^([A-Z0-9_]+)=/gm);
  return [
    ...(table.length === 0 ? ['bin/environment.mjs:1: no variables found'] : []),
    ...table.filter((name) => !example.includes(name)).map((name) => `.env.example:1: ${name} is missing`),
    ...read('api/env.ts', /^  ([A-Z][A-Z0-9_]*): \{ purpose:/gm)
      .filter((name) => !table.includes(name))
      .map((name) => `bin/environment.mjs:1: ${name} is missing; api/env.ts reads it`),
    ...example.filter((name) => !table.includes(name)).map((name) => `.env.example:1: ${name} is read by nobody`),
  ];
};

interface Named {
  readonly name: string;
  readonly check: Check;
  /** Sources that this check must report, one finding at least each. */
  readonly canaries: readonly (readonly Source[])[];
}
const source = (path: string, text: string): Source => ({ path, text });
const long = (lines: number): string => 'const a = 1;\n'.repeat(lines);
const checks: readonly Named[] = [
  {
    name: 'rooms import only through the doors they may use',
    check: importArrows,
    canaries: [
      [source('engine/x.ts', "import { y } from '#compiler';\n")],
      [source('proxy/x.ts', "import { y } from '#compiler';\n")],
      [source('proxy/x.ts', "import { y } from '../engine/y.js';\n")],
      [source('compiler/x.ts', "import { y } from '#engine/secret-part';\n")],
      [source('api/x.ts', "import { y } from '#engine';\n")],
      [source('engine/x.ts', "import { y } from './y';\n")],
      [source('proxy/x.ts', "const m = await import('../compiler/index.js');\n")],
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
    name: 'engine and compiler have no ambient inputs',
    check: noAmbient,
    canaries: [
      [source('engine/x.ts', 'const now = Date.now();\n')],
      [source('compiler/x.ts', "import { readFileSync } from 'node:fs';\n")],
      [source('compiler/x.ts', 'const a = process.env;\n')],
      [source('engine/x.ts', 'const a = Math.random();\n')],
    ],
  },
  {
    name: `files have at most ${fileLinesMax} lines`,
    check: fileLengths,
    canaries: [[source('engine/x.ts', long(fileLinesMax + 1))]],
  },
  {
    name: `functions have at most ${functionLinesMax} lines`,
    check: functionLengths,
    canaries: [
      [source('engine/x.ts', `export function walk(a: number): void {\n${'  a++;\n'.repeat(functionLinesMax)}}\n`)],
      [
        source(
          'engine/x.ts',
          `class A {\n  async step(a: number): Promise<void> {\n${'    a++;\n'.repeat(functionLinesMax)}  }\n}\n`,
        ),
      ],
      [source('engine/x.ts', `const walk = (a: number): void => {\n${'  a++;\n'.repeat(functionLinesMax)}};\n`)],
    ],
  },
  {
    name: 'nothing forbidden is written anywhere',
    check: noForbiddenText,
    canaries: [
      [source('engine/x.ts', `// ${word('TO', 'DO')} later\n`)],
      [source('README.md', `see ${word('/wo', 'rk/')}main\n`)],
      [source('proxy/x.ts', `const a = '${word('/t', 'mp/')}a';\n`)],
      [source('docs/x.md', `https://${['registry', 'npmjs', 'org'].join('.')}/x\n`)],
      [source('fixtures/x.conf', `ver:'${word('OWASP_', 'CRS/')}4.0.0'\n`)],
      [source('api/x.test.ts', `t.${word('on', 'ly')}('x', () => {});\n`)],
      [source('api/x.test.ts', `t.test('x', { skip: ${word('tr', 'ue')} }, () => {});\n`)],
      [source('api/x.ts', 'export default 1;\n')],
      [source('api/x.ts', 'try { a(); } catch {}\n')],
      [source('api/x.ts', `// ${word('@ts-', 'ignore')}\n`)],
    ],
  },
  {
    name: 'property tests try the same cases in every run',
    check: fixedSeeds,
    canaries: [[source('engine/x.test.ts', "import fc from 'fast-check';\nfc.assert(property);\n")]],
  },
  {
    name: 'file names say what is inside',
    check: fileNames,
    canaries: [
      [source('engine/utils.ts', '')],
      [source('engine/BigThing.ts', '')],
      [source('api/user-service.ts', '')],
    ],
  },
  {
    name: 'links of the documents resolve',
    check: docLinks,
    canaries: [[source('README.md', 'see [this](docs/none.md)\n')]],
  },
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
  { name: 'make has the targets that others rely on', check: makeTargets, canaries: [[source('Makefile', 'run:\n')]] },
  {
    name: '.env.example lists what is read',
    check: environmentNames,
    canaries: [
      [
        source('bin/environment.mjs', "{ name: 'A_B' }"),
        source('.env.example', 'A_B=\n'),
        source('api/env.ts', "  C_D: { purpose: 'x' },\n"),
      ],
      [source('bin/environment.mjs', "{ name: 'A_B' }"), source('.env.example', 'C_D=\n')],
    ],
  },
];

const skippedFolders = new Set(['node_modules', 'build', 'data', '.git', '.tap', '.cache', 'results', 'dist']);
const textual =
  /\.(ts|tsx|mjs|js|json|md|cc|h|gyp|html|css|sql|conf|lua|sh|yml|yaml|test|txt|data|svg)$|^(Makefile|LICENSE|NOTICE|\.env\.example|\.taprc|gatehouse|run)$/;
function readTree(directory: string): Source[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : readTree(path);
    return entry.isFile() && textual.test(entry.name) ? [source(path, readFileSync(join(root, path), 'utf8'))] : [];
  });
}

const tree = readTree('');

t.test('the tree was read', (t) => {
  t.ok(tree.length > 50, `${tree.length} files`);
  for (const path of ['package.json', 'engine/ir.ts', 'bin/gatehouse', 'Makefile'])
    t.ok(
      tree.some((file) => file.path === path),
      path,
    );
  t.ok(existsSync(join(root, 'LICENSE')), 'the licence is there');
  t.end();
});

for (const { name, check, canaries } of checks) {
  t.test(name, (t) => {
    for (const [index, canary] of canaries.entries()) t.ok(check(canary).length > 0, `canary ${index + 1} is reported`);
    const findings = check(tree);
    for (const finding of findings) t.fail(finding);
    t.equal(findings.length, 0, 'findings');
    t.end();
  });
}

t.test('tables of exceptions name what exists', (t) => {
  const names = Object.keys({
    ...(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageFile).dependencies,
    ...(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageFile).devDependencies,
  });
  for (const name of Object.keys(indirect)) t.ok(names.includes(name), `${name} is a dependency`);
  for (const path of Object.keys(longFiles))
    t.ok(
      tree.some((file) => file.path === path),
      `${path} exists`,
    );
  t.end();
});
