// What may not be written, what a file may be called, and whether links lead anywhere.
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { poolWorkers } from './exceptions.js';
import { isCode, isTest, lineOf, root, source, type Check, type NamedCheck } from './source.js';

/** Words built from pieces, so that this file does not contain what it forbids. */
const word = (...pieces: string[]): string => pieces.join('');
const isChecker = (path: string): boolean => path === 'tidy.test.ts' || path.startsWith('tidy/');

const registries = [
  'registry\\.npmjs',
  'npmjs\\.com',
  'registry\\.yarnpkg',
  'pypi\\.org',
  'files\\.pythonhosted',
  'crates\\.io',
  'proxy\\.golang',
  'rubygems\\.org',
].map((name) => name.replace('\\.', '[.]'));

interface Forbidden {
  readonly pattern: RegExp;
  readonly where: (path: string) => boolean;
  readonly what: string;
}

const later = `(${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('XX', 'X')})`;

const forbidden: readonly Forbidden[] = [
  {
    pattern: new RegExp(`\\b${later}\\b[:(]|//\\s*${word('TO', 'DO')}\\b`),
    where: isCode,
    what: 'do it now or open an issue',
  },
  {
    pattern: new RegExp(`${word('/wo', 'rk/')}|${word('/fa', 'rm/')}`),
    where: () => true,
    what: 'a path of one machine; derive it from the project root',
  },
  {
    pattern: new RegExp(`['"\`]${word('/t', 'mp/')}`),
    where: isCode,
    what: 'use os.tmpdir() with mkdtemp',
  },
  {
    pattern: new RegExp(registries.join('|'), 'i'),
    where: (path) => !isChecker(path),
    what: 'no package registry is named here; clients know theirs',
  },
  {
    pattern: new RegExp(word('OWASP_', 'CRS/') + '\\d+\\.\\d+\\.\\d'),
    where: () => true,
    what: 'text of the rule set; it is fetched, never committed',
  },
  {
    pattern: /\.only\(|\bonly: true\b/,
    where: (path) => isTest(path) && !isChecker(path),
    what: 'runs one test and hides the others',
  },
  {
    pattern: /\bskip: true\b|\bt\.skip\(\)/,
    where: (path) => isTest(path) && !isChecker(path),
    what: 'say why: skip: "reason"',
  },
  {
    pattern: /^export default\b/m,
    where: (path) => /\.tsx?$/.test(path) && !(path in poolWorkers) && !path.endsWith('.config.ts'),
    what: 'named exports only',
  },
  {
    pattern: /catch(?: \(\w+\))? \{\s*\}/,
    where: (path) => isCode(path) && !isChecker(path),
    what: 'name what is expected here and rethrow the rest',
  },
  {
    pattern: /@ts-ignore|@ts-nocheck/,
    where: (path) => /\.tsx?$/.test(path) && !isChecker(path),
    what: 'fix the type',
  },
];

const noForbiddenText: Check = (sources) =>
  sources.flatMap(({ path, text }) =>
    forbidden
      .filter(({ where }) => where(path))
      .flatMap(({ pattern, what }) => {
        const found = pattern.exec(text);
        return found === null
          ? []
          : [`${path}:${lineOf(text, found.index)}: "${found[0].trim().slice(0, 60)}"; ${what}`];
      }),
  );

/** A case that is drawn anew in every run fails for somebody who changed something else. */
const fixedSeeds: Check = (sources) =>
  sources
    .filter(({ path, text }) => isTest(path) && /from 'fast-check'/.test(text) && !/\bseed\b/i.test(text))
    .map(({ path }) => `${path}:1: its cases are others in every run; give fast-check a seed, from SEED by preference`);

const fileNames: Check = (sources) =>
  sources
    .filter(({ path }) => isCode(path))
    .flatMap(({ path }) => {
      const name = path.split('/').at(-1) ?? '';
      if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|contract|config|d))*(\.[a-z]+)?$/.test(name))
        return [`${path}:1: the name is not kebab-case`];
      if (/(^|[-.])(utils?|helpers?|common|misc|manager|service|base)([-.]|$)/.test(name))
        return [`${path}:1: the name says nothing; name what it does`];
      return [];
    });

const docLinks: Check = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => {
        const link = (match[1] ?? '').split('#')[0] ?? '';
        if (link === '' || /^[a-z]+:/.test(link)) return [];
        const to = normalize(join(dirname(path), link)).replace(/\/$/, '');
        // Pictures are no text, so that they are not among the sources.
        const isPicture = to.endsWith('.png') && existsSync(join(root, to));
        const exists = isPicture || sources.some((one) => one.path === to || one.path.startsWith(`${to}/`));
        return exists ? [] : [`${path}:${lineOf(text, match.index)}: the link ${link} leads nowhere`];
      }),
    );

/** Worked examples name files that a reader is about to write; the change log names what was. */
const namesOtherTimes = ['docs/adding.md', 'CHANGELOG.md'];
const namedFile =
  /(?:^|[\s`(])((?:settings|engine|compiler|proxy|api|cli|bench|tidy|console|vm-manager)\/[\w./-]+\.tsx?)\b/g;

/** Of code only comments are read: strings are tests' and tables' own affair, and arrows.ts looks after imports. */
const namedFiles: Check = (sources) =>
  sources
    .filter(({ path }) => (path.endsWith('.md') || isCode(path)) && !namesOtherTimes.includes(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const said = path.endsWith('.md') ? line : (/(?:^|\s)(?:\/\/|\/?\*)\s.*/.exec(line)?.[0] ?? '');
        return [...said.matchAll(namedFile)].flatMap(([, name = '']) =>
          sources.some((one) => one.path === name) ? [] : [`${path}:${index + 1}: there is no ${name}`],
        );
      }),
    );

export const textChecks: readonly NamedCheck[] = [
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
    name: 'files named in documents and comments exist',
    check: namedFiles,
    canaries: [
      [source('docs/x.md', 'see `proxy/gone.ts`\n')],
      [source('api/x.ts', '// proxy/gone.ts says why\n')],
      [source('api/x.ts', `/**\n * as ${word('engine/', 'gone.ts')} does\n */\n`)],
    ],
  },
  {
    name: 'links of the documents resolve',
    check: docLinks,
    canaries: [[source('README.md', 'see [this](docs/none.md)\n')]],
  },
];
