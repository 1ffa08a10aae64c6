import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { diagnosticCodes } from './diagnostics/codes.js';
import { formatDiagnostic } from './diagnostics/format.js';
import { dumpProgram } from './artifact/dump.js';
import { parseGolden, printGolden, type GoldenCase } from './testing/golden.js';
import { compileProgram } from './compile-program.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const folder = fileURLToPath(new URL('../../fixtures/seclang/', import.meta.url));

function memoryReader(files: ReadonlyMap<string, string>): {
  read: (path: string) => string | null;
  glob: (pattern: string) => string[];
} {
  return {
    read: (path) => files.get(path) ?? null,
    glob: (pattern) => {
      const [before = '', after = ''] = pattern.split('*');
      return [...files.keys()].reverse().filter((path) => path.startsWith(before) && path.endsWith(after));
    },
  };
}

function run({ input, files }: GoldenCase): string {
  const { program, diagnostics } = compileProgram([{ path: 'main.conf', text: input }], {
    reader: memoryReader(files),
  });
  const found = diagnostics.map((one) => `${formatDiagnostic(one)}\n`).join('');
  return `${program === null ? '' : dumpProgram(program)}${found}`;
}

t.test('golden files', (t) => {
  let count = 0;
  for (const name of readdirSync(folder)
    .filter((entry) => entry.endsWith('.test'))
    .sort()) {
    const path = join(folder, name);
    const cases = parseGolden(readFileSync(path, 'latin1'));
    if (process.env['UPDATE'] === '1')
      writeFileSync(path, printGolden(cases.map((one) => ({ ...one, expected: run(one) }))), 'latin1');
    else for (const one of cases) t.equal(run(one), one.expected, `${name}: ${one.title}`);
    count += cases.length;
  }
  t.ok(count >= 51, `${count} cases`);
  t.end();
});

t.test('every diagnostic code is shown somewhere', (t) => {
  // Shown by tests of their own below and in policy/policy.test.ts, because a golden file cannot hold what provokes
  // them.
  const elsewhere = ['GH-C1007', 'GH-C1010', 'GH-C7003', 'GH-C7004'];
  const folders = [folder, fileURLToPath(new URL('../../fixtures/policy/', import.meta.url))];
  const text = folders
    .flatMap((one) => readdirSync(one).map((name) => readFileSync(join(one, name), 'latin1')))
    .join('');
  for (const code of Object.keys(diagnosticCodes)) t.equal(text.includes(code), !elsewhere.includes(code), code);
  t.end();
});

t.test('decoded text and endless includes are refused', (t) => {
  const codes = (text: string, files: ReadonlyMap<string, string> = new Map()): string[] =>
    compileProgram([{ path: 'main.conf', text }], { reader: memoryReader(files) }).diagnostics.map(({ code }) => code);
  t.same(codes('SecAction "id:1,msg:\'\u20ac\'"'), ['GH-C1010']);
  const chain = new Map(
    Array.from({ length: 40 }, (_, index): [string, string] => [`f${index}`, `Include f${index + 1}\n`]),
  );
  t.same(codes('Include f0\n', chain), ['GH-C1007']);
  t.same(
    compileProgram(['absent.conf']).diagnostics.map(({ code }) => code),
    ['GH-C1005'],
  );
  t.end();
});

t.test('any text gives diagnostics, never an exception', (t) => {
  const word = fc.constantFrom(
    'SecRule',
    'SecAction',
    'SecMarker',
    'SecDefaultAction',
    'SecRuleUpdateTargetById',
    'SecRuleUpdateActionById',
    'SecRuleRemoveByTag',
    'Include',
    'SecUnicodeMapFile',
    'ARGS',
    '|',
    '!',
    '&',
    ':',
    '/',
    '"',
    "'",
    '\\',
    '\\\n',
    '\n',
    '\r\n',
    ' ',
    ',',
    '@rx',
    '@pm ',
    '@pmFromFile x',
    'id:1',
    'chain',
    'setvar:tx.a=%{',
    '%{TX.a}',
    'ctl:ruleRemoveTargetById=1;',
    'xmlns:a=',
    '(',
    '[',
    '*',
    '#',
  );
  const text = fc.oneof(
    fc.array(fc.oneof(word, fc.string({ maxLength: 4 })), { maxLength: 40 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, (source) => {
      const { program, diagnostics } = compileProgram([{ path: 'fuzz', text: source }], {
        reader: memoryReader(new Map([['x', 'SecAction "id:9"\n']])),
      });
      for (const one of diagnostics) {
        if (one.line < 1 || one.column < 1 || one.length < 1) throw new Error('a diagnostic without a place');
        formatDiagnostic(one);
      }
      if ((program === null) !== diagnostics.some((one) => one.severity === 'error'))
        throw new Error('program and errors disagree');
      if (program !== null) dumpProgram(program);
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('positions survive quoting, continuation and include', (t) => {
  const main = 'SecAction "id:1"\nInclude sub.conf\n';
  const sub = '\n\nSecRule ARGS \\\r\n  "@rx \\"a\\"" \\\r\n  "id:2,\\\r\n   msg:\'it\\\'s\',t:nope"\r\n';
  const { diagnostics } = compileProgram([{ path: 'main.conf', text: main }], {
    reader: memoryReader(new Map([['sub.conf', sub]])),
  });
  t.match(diagnostics, [{ file: 'sub.conf', line: 6, column: 16, code: 'GH-C4003', length: 6 }]);
  t.equal(diagnostics[0]?.excerpt.slice(15, 21), 't:nope');
  t.end();
});
