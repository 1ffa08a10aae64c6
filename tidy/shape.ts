// Budgets of size. Lines alone do not bound a file: functions were once kept under a limit of lines by widening them,
// so characters count as well. The formatter decides where lines break.
import { longFiles, longFunctions, wideFolders } from './exceptions.js';
import { isCode, source, type Check, type NamedCheck, type Source } from './source.js';

const fileLinesMax = 400;
const fileCharactersMax = 20_000;
const lineCharactersMax = 120;
const functionLinesMax = 70;
const functionCharactersMax = 4000;
const folderFilesMax = 15;
const medianLinesMax = 110;
const mostLinesMax = 250;
const mostShare = 0.9;

const linesOf = (text: string): string[] => text.trimEnd().split('\n');

const fileSizes: Check = (sources) => [
  ...sources
    .filter(({ path }) => isCode(path))
    .flatMap(({ path, text }) => {
      const lines = linesOf(text).length;
      const isLong = lines > fileLinesMax || text.length > fileCharactersMax;
      if (isLong === path in longFiles) return [];
      if (!isLong) return [`${path}:1: is short enough now; remove it from longFiles`];
      const most = `${fileLinesMax} lines and ${fileCharactersMax} characters`;
      return [`${path}:1: ${lines} lines, ${text.length} characters; split it below ${most}`];
    }),
];

const lineWidths: Check = (sources) =>
  sources
    .filter(({ path }) => isCode(path))
    .flatMap(({ path, text }) =>
      linesOf(text).flatMap((line, index) =>
        line.length > lineCharactersMax ? [`${path}:${index + 1}: ${line.length} characters; break the line`] : [],
      ),
    );

/** Of all sources together: most files fit one screen or two. */
const fileDistribution: Check = (sources) => {
  const sizes = sources
    .filter(({ path }) => isCode(path))
    .map(({ text }) => linesOf(text).length)
    .sort((left, right) => left - right);
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const most = sizes[Math.floor(sizes.length * mostShare)] ?? 0;
  return [
    ...(median > medianLinesMax
      ? [`tree:1: half of the files have more than ${median} lines; ${medianLinesMax} at most`]
      : []),
    ...(most > mostLinesMax ? [`tree:1: a tenth of the files has ${most} lines or more; ${mostLinesMax} at most`] : []),
  ];
};

const folderSizes: Check = (sources) => {
  const counts = new Map<string, number>();
  for (const { path } of sources) {
    if (!/\.(ts|tsx|mjs)$/.test(path) || /\.test\.tsx?$/.test(path)) continue;
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) => {
    const isWide = count > folderFilesMax;
    if (isWide === folder in wideFolders) return [];
    return [
      isWide
        ? `${folder}:1: ${count} sources on one level; group them below ${folderFilesMax + 1}`
        : `${folder}:1: is small enough now; remove it from wideFolders`,
    ];
  });
};

interface Span {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  readonly characters: number;
}

const opening = new RegExp(
  [
    '^(\\s*)(?:export )?(?:(?:async )?function\\*? (\\w+)',
    '(?:const|let) (\\w+)\\b.*(?:=>|function.*) \\{$',
    '(?:(?:private|public|protected|static|override|async|get|set) )*(\\w+)\\(.*\\{$)',
  ].join('|'),
);

/** Functions by indentation: a line that opens one ends at the next line of the same depth that begins with "}". */
function functionsOf({ text }: Source): Span[] {
  const lines = text.split('\n');
  const found: Span[] = [];
  for (const [index, line] of lines.entries()) {
    const opens = opening.exec(line);
    if (opens === null || /^\s*(?:if|for|while|switch|catch|return|else)\b/.test(line)) continue;
    const indent = opens[1] ?? '';
    const end = lines.findIndex(
      (later, at) => at > index && new RegExp(`^${indent}\\}(?!\\s*[:)] \\S.*\\{$)`).test(later),
    );
    if (end < 0) continue;
    const body = lines.slice(index, end + 1);
    const characters = body.reduce((sum, one) => sum + one.trim().length, 0);
    found.push({ name: opens[2] ?? opens[3] ?? opens[4] ?? '', line: index + 1, lines: body.length, characters });
  }
  return found;
}

const functionSizes: Check = (sources) => {
  const long = sources
    .filter(({ path }) => /\.(ts|tsx|mjs)$/.test(path) && !/\.(test|contract)\.ts$/.test(path))
    .flatMap((file) =>
      functionsOf(file)
        .filter(({ lines, characters }) => lines > functionLinesMax || characters > functionCharactersMax)
        .map((span) => ({ key: `${file.path} ${span.name}`, at: `${file.path}:${span.line}`, ...span })),
    );
  const most = `${functionLinesMax} lines and ${functionCharactersMax} characters`;
  const unknown = long
    .filter(({ key }) => !(key in longFunctions))
    .map(
      ({ at, name, lines, characters }) =>
        `${at}: ${name} has ${lines} lines, ${characters} characters; ${most} at most`,
    );
  const stale = Object.keys(longFunctions).filter((key) => !long.some((span) => span.key === key));
  return [...unknown, ...stale.map((key) => `tidy/exceptions.ts:1: "${key}" is short enough or gone; remove it`)];
};

const long = (lines: number): string => 'const a = 1;\n'.repeat(lines);
const wide = (characters: number): string => `const a = '${'a'.repeat(characters)}';\n`;

export const shapeChecks: readonly NamedCheck[] = [
  {
    name: `files have at most ${fileLinesMax} lines and ${fileCharactersMax} characters`,
    check: fileSizes,
    canaries: [[source('engine/x.ts', long(fileLinesMax + 1))], [source('engine/x.ts', wide(fileCharactersMax))]],
  },
  {
    name: `lines have at most ${lineCharactersMax} characters`,
    check: lineWidths,
    canaries: [[source('engine/x.ts', wide(lineCharactersMax))]],
  },
  {
    name: `half of the files have at most ${medianLinesMax} lines, nine of ten ${mostLinesMax}`,
    check: fileDistribution,
    canaries: [
      [source('engine/x.ts', long(medianLinesMax + 1))],
      [
        ...Array.from({ length: 8 }, () => source('engine/x.ts', long(1))),
        source('engine/y.ts', long(mostLinesMax + 1)),
      ],
    ],
  },
  {
    name: `folders have at most ${folderFilesMax} sources on one level`,
    check: folderSizes,
    canaries: [Array.from({ length: folderFilesMax + 1 }, (_, index) => source(`engine/x/y${index}.ts`, ''))],
  },
  {
    name: `functions have at most ${functionLinesMax} lines and ${functionCharactersMax} characters`,
    check: functionSizes,
    canaries: [
      [source('engine/x.ts', `export function walk(a: number): void {\n${'  a++;\n'.repeat(functionLinesMax)}}\n`)],
      [
        source(
          'engine/x.ts',
          `class A {\n  async step(): Promise<void> {\n${'    a++;\n'.repeat(functionLinesMax)}  }\n}\n`,
        ),
      ],
      [source('engine/x.ts', `const walk = (a: number): void => {\n${'  a++;\n'.repeat(functionLinesMax)}};\n`)],
      [source('engine/x.ts', `function walk(): void {\n${`  ${wide(400)}`.repeat(10)}}\n`)],
    ],
  },
];
