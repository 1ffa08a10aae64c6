// Lines of compilers and linters, over HTTP; and what every format makes of a file that is another one. Whatever is not
// such a report is none without findings; a finding is of the kind and severity of its tool's own format.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { ApiError } from '#http-kit';
import { Client, type Json } from '../../../testing/import-client.js';
import { read, type Read } from '../../../testing/read-report.js';
import { formats } from '../index.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const xml = '<?xml version="1.0"?>\n';
const cppcheck = 'a.c:7:3: warning: Null pointer: q [nullPointer]\n';
/** A directory of somebody's machine, in parts: tidy/ takes it, written out, for one of this. */
const trace = 'Traceback (most recent call last):\n';
const lib = ['', 'usr', 'lib', 'x.py'].join('/');

/** What a file holds where a tool has failed, or where it is of another format than the request says. */
const others: Readonly<Record<string, string>> = {
  'a traceback': `${trace}  File "${lib}", line 3, in <module>\n    main()\nValueError: no\n`,
  'a traceback with marks': `${trace}  File "${lib}", line 3\n    main(\n        ^\nSyntaxError: no\n`,
  'no such command': 'gcc: command not found\n',
  'no such command, of a shell': '/bin/sh: 1: shellcheck: not found\n',
  'no such file': 'cppcheck: error: could not find or open any of the paths given.\n',
  'a stack of Node.js':
    'Error: no formatter\n    at getFormatter (file:///x/y.mjs:28:11)\n    at async main (x.js:1:2)\n',
  'Cppcheck 1': '[a.c:7]: (error) Null pointer: q\n',
  'Cppcheck for Visual Studio': 'a.c(7): error: Null pointer: q\n',
  unix: '/x/a.js:4:13: found a token: **** [Error/no-token]\n\n1 problem\n',
  'unix of stylelint': 'x.css:1:3: Duplicate "color" (no-duplicates) [error]\n\n1 problem (1 error, 0 warnings)\n',
  parsable: 'e.yml:1:1: [warning] missing document start "---" (document-start)\n',
  compact: '/x/f.html: line 1, col 1, error - Doctype (doctype-first)\n\n1 problem\n',
  pycodestyle: 'a.py:1:1: E302 expected 2 blank lines\n',
  pylint: '************* Module a\na.py:1:0: C0114: Missing module docstring (missing-module-docstring)\n',
  'GitHub annotations': '::error file=e.yml,line=2,col=5::2:5 [colons] too many spaces\n',
  'ShellCheck for terminals': '\nIn c.sh line 2:\nx=1\n^-- SC2034 (warning): x appears unused.\n\n',
  'ESLint stylish': '/x/d.js\n  1:7  error  x is never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n',
  'Bandit text': '>> Issue: [B401:blacklist] telnet\n   Severity: High   Confidence: High\n   Location: a.py:1\n',
  'errors without a rule': 'a.c:1:1: error: expected identifier\ncompilation terminated.\n',
  'warnings without a rule': 'a.c:1:1: warning: something odd\n',
  'an include alone': 'In file included from a.c:1:\n',
  'a failed build': 'make: *** [Makefile:3: a.o] Error 1\n',
  'a line that is cut': 'a.c:7:3: warn',
  words: 'No problems were found, thank you.\n',
  'a page of errors': '<html><body><h1>502 Bad Gateway</h1></body></html>\n',
  'an error in XML': `${xml}<error><message>failed</message></error>`,
  'an error in JSON': '{"error": {"code": "ENOLOCK", "summary": "no lock file"}}',
  'a message in JSON': '{"message": "Unauthorized"}',
  'a word in JSON': '"failed"',
  'null of JSON': 'null',
  'another CSV': 'when,who,what\n2026-11-20,alice,login\n',
  'a head line of another CSV': 'when,who,what\n',
};

/** What is a report, and lacks something or has something that nobody reads. */
const broken: readonly (readonly [format: string, what: string, report: string])[] = [
  ['gcc', 'an error behind findings', `${cppcheck}gcc: fatal error: no input files\n`],
  ['gcc', 'a traceback behind findings', `${cppcheck}${others['a traceback']}`],
  ['gcc', 'lines of another tool behind findings', `${cppcheck}x.css:1:3: Duplicate (no-duplicates) [error]\n`],
  ['gcc', 'a file that was not read', `${cppcheck}c.c:1:11: warning: Unmatched '{'. [syntaxError]\n`],
  ['gcc', 'an empty line', '\n'],
  ['gcc', 'a source without a mark', `${cppcheck}int *q = 0;\n`],
  ['checkstyle', 'an exception', `${xml}<checkstyle><file name="a"><exception>no</exception></file></checkstyle>`],
  ['checkstyle', 'another element', `${xml}<checkstyle><issue file="a" line="3"/></checkstyle>`],
  ['checkstyle', 'errors without a file', `${xml}<checkstyle><error line="3" message="no"/></checkstyle>`],
  ['checkstyle', 'another element of a file', `${xml}<checkstyle><file name="a"><violation/></file></checkstyle>`],
  ['checkstyle', 'within another document', `${xml}<page><checkstyle version="4.3"/></page>`],
  ['cppcheck', 'without a list of errors', `${xml}<results version="2"><cppcheck version="2.10"/></results>`],
  ['cppcheck', 'one element of it', `${xml}<cppcheck version="2.10"/>`],
  ['trivy', 'without what was scanned', '{"SchemaVersion": 2}'],
  ['trivy', 'no results and nothing scanned', '{"SchemaVersion": 2, "Results": null}'],
  ['secretlint', 'of ESLint', '[{"filePath": "a.js", "errorCount": 0}]'],
];

/** Texts that tools print where they have found nothing, and what stands between findings. */
const wholes: readonly (readonly [string, string, number])[] = [
  ['a count', '0 warnings generated.\n', 0],
  ['files that were looked at', 'Checking a.c ...\n1/2 files checked 50% done\nChecking b.c ...\n', 0],
  [
    'GCC',
    [
      'In file included from a.h:1,',
      '                 from a.c:2:',
      'a.c: In function ‘main’:',
      'a.c:4:51: warning: implicit declaration of ‘gets’ [-Wimplicit-function-declaration]',
      '    4 | int main(int c){gets(b);}',
      '      |                 ^~~~',
      '      |                 fgets',
      'a.c:9:1: note: declared here',
      'cc1: all warnings being treated as errors'.replace(/^cc1: .*$/, '1 warning treated as error'),
    ].join('\n'),
    1,
  ],
  [
    'Clang',
    [
      'a.c:4:9: warning: Null is read [core.NullDereference]',
      '  *p = 1;',
      '  ~~ ^',
      '  q',
      "a.c:3:3: note: 'p' is null",
      '  int *p = 0;',
      '  ^~~~~~',
      '1 warning generated.',
    ].join('\r\n'),
    1,
  ],
  [
    'Cppcheck',
    [
      'Checking a.c ...',
      'a.c:7:3: warning: Null pointer: q [nullPointer]',
      '*q = 1;',
      ' ^',
      'nofile:0:0: information: Active checkers: 1/2 (use --checkers-report=<file>) [checkersReport]',
      '',
    ].join('\n'),
    1,
  ],
  ['colours', '\u001b[1ma.c:7:3: \u001b[35mwarning:\u001b[0m Null pointer: q [nullPointer]\u001b[0m\n', 1],
];

/** Rule of a line of Cppcheck's template for compilers, which calls everything a warning → what its XML says. */
const cppcheckIds: readonly (readonly [id: string, severity: string, cwe: number | null])[] = [
  ['arrayIndexOutOfBounds', 'error', 788],
  ['bufferAccessOutOfBounds', 'error', 788],
  ['doubleFree', 'error', 415],
  ['uninitvar', 'error', 457],
  ['nullPointer', 'error', 476],
  ['memleak', 'error', 401],
  ['getsCalled', 'warning', 477],
  ['zerodiv', 'error', 369],
  ['unreadVariable', 'style', null],
  ['passedByValue', 'performance', null],
  ['sizeofVoid', 'portability', null],
];

/** Lines → the finding's tool, kind and severity. */
const lines: readonly (readonly [line: string, tool: string | null, kind: string, severity: string])[] = [
  ['a.c:1:2: warning: x [-Wunused-variable]', 'C compiler', 'quality', 'medium'],
  ['a.c:1:2: error: x [-Werror=format-security]', 'C compiler', 'sast', 'high'],
  ['a.c:1:2: error: x [-Werror,-Wformat-security]', 'C compiler', 'sast', 'high'],
  ['a.c:1:2: warning: x [-Wstringop-overflow=]', 'C compiler', 'sast', 'medium'],
  ['a.c:1:2: error: Null [nullPointer]', 'Cppcheck', 'sast', 'high'],
  ['a.c:1:2: warning: x [newerIdOfCppcheck]', 'Cppcheck', 'sast', 'medium'],
  ['a.c:1:2: performance: x [house]', 'Cppcheck', 'quality', 'low'],
  ['a.sh:1:2: note: x [SC2086]', 'ShellCheck', 'sast', 'low'],
  ['a.sh:1:2: note: x [SC2034]', 'ShellCheck', 'quality', 'low'],
  ['a.py:1: error: x  [attr-defined]', 'mypy', 'quality', 'high'],
  ['a.c:1:2: warning: x [HOUSE-7]', null, 'sast', 'medium'],
  ['a.x:1:2: error: x [anything]', null, 'sast', 'high'],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const all = async (app: string, source: string): Promise<Json[]> =>
    (await client.call('GET', `/findings?application_id=${app}&source=${source}`)).body['items'];
  const only = async (app: string): Promise<Json> => {
    const found = [...(await client.findings(app)), ...(await all(app, 'quality'))];
    return (await client.call('GET', `/vulnerabilities/${found[0]?.['id']}`)).body;
  };
  const known = 'title,severity,file\nKnown,low,a.c\n';
  /** Refused, or not complete: then it closes nothing, and the gate stops. */
  const provesNothing = async (t: Test, report: string, format: string, what: string): Promise<void> => {
    const app = await client.application();
    await client.send(app, known, { scope_key: 's' });
    const sent = await client.send(app, report, { format, scope_key: 's', mode: 'sync', commit: 'c', branch: 'main' });
    if ([400, 422].includes(sent.status)) return;
    t.match(sent, { status: 202, body: { report: { closed: 0, complete: false } } }, what);
    t.match(await client.findings(app), [{ status: 'new' }], `${what}: nothing is closed`);
    const gate = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c' });
    t.match(gate.body, { verdict: 'fail', exit_code: 1 }, `${what}: the gate stops`);
  };

  for (const what of ['a traceback', 'no such command', 'unix', 'parsable', 'an error in XML', 'an error in JSON'])
    await t.test(`22 H1: ${what} is no report without findings`, async (t) => {
      for (const format of ['gcc', 'csv', 'checkstyle'])
        await provesNothing(t, others[what] ?? '', format, `${what} as ${format}`);
    });
  for (const [format, what, report] of broken)
    await t.test(`22 H1: ${format}: ${what}`, (t) => provesNothing(t, report, format, what));
  for (const [what, report, count] of wholes)
    await t.test(`22 H1: lines that are whole: ${what}`, async (t) => {
      const sent = await client.send(await client.application(), report, { format: 'gcc' });
      t.match(
        sent,
        { status: 202, body: { report: { complete: true, unread: 0, created: count } } },
        JSON.stringify(sent.body),
      );
    });
  await t.test('22 H1: a mapping whose columns the report lacks', async (t) => {
    const mapping = {
      name: 'columns',
      format: 'csv',
      rows_path: '',
      fields: { title: 'what happened', severity: 'bad' },
    };
    t.equal((await client.call('POST', '/imports/mappings', mapping)).status, 201);
    for (const report of ['gcc: command not found\n', 'when,who\n', 'when,who\na,b\n', ''])
      await provesNothing(t, report, 'mapping:columns', report);
    for (const [rows, complete] of [
      ['', false], // nothing shows that something was looked at
      ['A,low\n', true],
    ] as const) {
      const report = `What Happened,bad\n${rows}`;
      const sent = await client.send(await client.application(), report, { format: 'mapping:columns' });
      t.match(sent, { status: 202, body: { report: { complete } } }, report);
    }
  });

  await t.test('22 H3: Cppcheck: lines and XML of one run are the same findings', async (t) => {
    for (const [id, severity, cwe] of cppcheckIds) {
      const own =
        `${xml}<results version="2"><cppcheck version="2.10"/><errors><error id="${id}" severity="${severity}" ` +
        `msg="M"${cwe === null ? '' : ` cwe="${cwe}"`}><location file="a.c" line="3" column="2"/></error>` +
        '</errors></results>';
      const made: Json[] = [];
      for (const report of [own, `a.c:3:2: warning: M [${id}]\n`, `a.c:3:2: ${severity}: M [${id}]\n`]) {
        const app = await client.application();
        t.match(await client.send(app, report), { status: 202, body: { report: { unread: 0, complete: true } } }, id);
        made.push(await only(app));
      }
      const [first = {}] = made;
      t.equal(first['source'], cwe === null ? 'quality' : 'sast', id);
      for (const one of made)
        t.match(
          one,
          { tool: 'Cppcheck', rule_id: id, severity: first['severity'], source: first['source'], cwe: first['cwe'] },
          id,
        );
    }
  });
  await t.test('22 H3: lines are recognised, and what no tool is known of is never hidden', async (t) => {
    for (const [line, tool, kind, severity] of lines) {
      const app = await client.application();
      const sent = await client.send(app, `${line}\n`);
      t.match(sent, { status: 202, body: { input: { format: 'gcc' } } }, line);
      t.match(await only(app), { source: kind, severity, tool: tool ?? 'Lines of a tool' }, line);
    }
  });
}

t.test('22: lines of compilers and linters', (t) => onBothDatabases(t, 'lines', suite));

t.test('22 H1: what is no report is none without findings, whatever the request calls it', async (t) => {
  for (const [what, report] of Object.entries(others))
    for (const { name } of formats) {
      const found = await read(t, report, name).catch((error: unknown) => error);
      const isRefused = found instanceof ApiError && [400, 422].includes(found.status);
      t.ok(isRefused || (!(found instanceof Error) && !(found as Read).facts.complete), `${what} as ${name}`);
    }
});
