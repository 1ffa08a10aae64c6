// The environment table and everything that is generated from it; the grammar of `.env`, held against a shell.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  effectiveValueOf,
  environmentFor,
  isVariableName,
  kinds,
  parseEnvironmentFile,
  renderEnvironmentExample,
  renderEnvironmentTable,
  valueOf,
  variables,
  type EnvironmentVariable,
} from './environment.js';

const root = join(import.meta.dirname, '../..');
const rows: readonly EnvironmentVariable[] = variables;

t.test('every row can be told and checked', async (t) => {
  const names = rows.map(({ name }) => name);
  t.equal(new Set(names).size, names.length, 'each name once');
  for (const row of rows) {
    t.match(row.name, /^[A-Z][A-Z0-9_]*$/);
    t.notMatch(row.purpose, /\n|^[A-Z](?!ostgreSQL)[a-z]|\.$/, `${row.name}: one line that completes "it is …"`);
    if (row.default !== '') t.equal(kinds[row.kind].demand(row.default), null, `${row.name}: the default fits`);
    if (row.generated !== undefined) t.equal(row.default, '', `${row.name}: generated, hence without a default`);
    t.equal(/empty = /.test(row.purpose) || row.whenEmpty === undefined, true, `${row.name}: says what empty means`);
    if (row.generated !== undefined || ['secret', 'key'].includes(row.kind)) t.ok(row.isSecret, row.name);
  }
  t.ok(isVariableName('WAF_PORT'));
  t.notOk(isVariableName('waf_port'));
});

t.test('A12: a process is given its own variables, and what any program of the system needs', async (t) => {
  const given = {
    ...Object.fromEntries(rows.map(({ name }) => [name, `value of ${name}`])),
    PATH: '/bin',
    LC_ALL: 'C',
    NODE_OPTIONS: '',
    PGPASSWORD: 'of the database',
    GATEHOUSE_ENV_FILE: '/dev/null',
    AWS_SECRET_ACCESS_KEY: 'of somebody else',
    nothing: undefined,
  };
  for (const process of ['control plane', 'data plane', 'demo', 'commands'] as const) {
    const own = environmentFor(process, given);
    for (const { name, readBy } of rows) t.equal(name in own, readBy.includes(process), `${process}: ${name}`);
    t.match(own, { PATH: '/bin', LC_ALL: 'C', NODE_OPTIONS: '', GATEHOUSE_ENV_FILE: '/dev/null' });
    t.equal('PGPASSWORD' in own, process === 'control plane');
    t.notOk('AWS_SECRET_ACCESS_KEY' in own);
    t.notOk('nothing' in own);
  }
  t.same(environmentFor(null, given), { PATH: '/bin', LC_ALL: 'C', NODE_OPTIONS: '' }, 'a helper: the system alone');
});

t.test('A11: nobody is believed about an address until somebody is named', async (t) => {
  t.equal(valueOf('API_TRUSTED_PROXIES', {}), '');
});

t.test('defaults, and values that stand in for empty ones', async (t) => {
  t.equal(valueOf('WAF_PORT', {}), '8080');
  t.equal(valueOf('WAF_PORT', { WAF_PORT: '' }), '8080', 'an empty value is none');
  t.equal(valueOf('WAF_PORT', { WAF_PORT: '9000' }), '9000');
  t.equal(valueOf('UPSTREAM_PAYMENT', {}), '');
  t.equal(effectiveValueOf('UPSTREAM_CUSTOMER', {}), 'http://127.0.0.1:8000');
  t.equal(effectiveValueOf('UPSTREAM_PAYMENT', { DEMO_PORT: '9' }), 'http://127.0.0.1:9/payment');
  t.equal(effectiveValueOf('DATA_ADMIN_TOKEN', { GATEHOUSE_ADMIN_TOKEN: 'x' }), 'x');
  t.equal(effectiveValueOf('DATA_ADMIN_URLS', {}), 'http://127.0.0.1:2019');
  t.equal(effectiveValueOf('DATA_DIR', {}), 'data');
  t.equal(effectiveValueOf('ACME_EMAIL', {}), 'admin@gatehouse.local');
  t.equal(effectiveValueOf('POSTGRES_HOST', {}), '', 'nothing stands in');
});

t.test('kinds: the commands and the control plane in their own words', async (t) => {
  const cases: [keyof typeof kinds, string, string | null, string | null][] = [
    ['port', '8080', null, null],
    ['port', '0', 'is not a port number from 1 to 65535', null],
    ['port', '65536', 'is not a port number from 1 to 65535', 'must be a port number from 0 to 65535'],
    ['port', '8080 # edge', 'is not a port number from 1 to 65535', 'must be a port number from 0 to 65535'],
    ['count', '4', null, null],
    ['count', '0', 'is not a whole number from 1 to 999', 'must be a whole number from 1 to 999'],
    ['count', '1000', 'is not a whole number from 1 to 999', 'must be a whole number from 1 to 999'],
    ['url', 'http://a', null, null],
    ['url', 'a b', 'is not an http:// or https:// URL', 'must be a URL'],
    ['url', 'ftp://a', 'is not an http:// or https:// URL', 'must be an http or https URL'],
    ['urls', 'http://a, https://b', null, null],
    ['urls', 'http://a,b', null, 'must be a URL'],
    ['urlsOrNone', 'none', null, null],
    ['urlsOrNone', 'http://a,none', null, 'must be a URL'],
    ['secret', '1234567', 'is shorter than 8 characters', null],
    ['key', 'x'.repeat(31), 'is shorter than 32 characters', 'must have at least 32 characters'],
    ['key', 'x'.repeat(32), null, null],
    ['listener', 'bun', 'is none of auto, net, uws, node', 'must be one of auto, net, uws, node'],
    ['flag', '2', null, 'must be one of 0, 1'],
    ['logLevel', 'loud', null, 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['email', 'nobody', null, 'must be an e-mail address'],
    [
      'postgresUrl',
      'mysql://x',
      null,
      'must be a URL beginning with postgres:// or postgresql://, with one server or several (a:5432,b:5432)',
    ],
    [
      'postgresUrlOfOne',
      'postgres://a,b/x',
      null,
      'must be a URL of one server beginning with postgres:// or postgresql://',
    ],
    [
      'redisUrl',
      'redis://a,b',
      null,
      'must name one server; several are redis+sentinel://…/name-of-primary or redis+cluster://…',
    ],
    ['redisPrefix', 'a b', null, 'must be 1 to 64 letters, digits, colons, dots, underscores or hyphens'],
    ['text', 'anything', null, null],
  ];
  for (const [kind, value, refused, demanded] of cases) {
    t.equal(kinds[kind].refuse(value), refused, `${kind} "${value}" to a command`);
    t.equal(kinds[kind].demand(value), demanded, `${kind} "${value}" to the control plane`);
  }
});

/** null: the shell does not run the line, or needs more of it. */
function inShell(directory: string, text: string): string | null {
  try {
    const script = `set -e; . "$0" >/dev/null 2>&1; printf '%s' "$A"`;
    const file = join(directory, 'env');
    writeFileSync(file, text);
    return execFileSync('/bin/sh', ['-c', script, file], {
      encoding: 'utf8',
      env: {},
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null; // what the shell says of it is not ours
  }
}

t.test('the grammar of .env', async (t) => {
  const directory = t.testdir({});
  /** Text, value of A here, and in a shell that sources it where that is another one (null: it fails). */
  const cases: [string, string | undefined, (string | null)?][] = [
    ['A=b', 'b'],
    ['A=b\n', 'b'],
    ['A=', ''],
    ['A=\nB=c', ''],
    ['A=""', ''],
    ["A=''", ''],
    ['export A=b', 'b'],
    ['export\tA=b', 'b'],
    ['  A=b', 'b'],
    ['A=1\nA=2', '2'],
    ['A=b=c', 'b=c'],
    ['A==b', '=b'],
    ['A=b=', 'b='],
    ['A=b#c', 'b#c'],
    ['#A=b\nA=c', 'c'],
    ['  # A=b\nA=c', 'c'],
    ['A="b c"', 'b c'],
    ["A='b c'", 'b c'],
    ['A="b # c"', 'b # c'],
    ["A='b\"c'", 'b"c'],
    ['A="b\'c"', "b'c"],
    ["A='$B'", '$B'],
    ["A='b\\nc'", 'b\\nc'],
    ['A="b\\nc"', 'b\\nc'],
    ['A=postgres://u:p%40ss@db:5432/name?sslmode=require', 'postgres://u:p%40ss@db:5432/name?sslmode=require'],
    ['A=127.0.0.1/8,::1/128', '127.0.0.1/8,::1/128'],
    ['A=b\t', 'b'],
    ['A=b ', 'b'],
    // Where a shell reads something else: not ours to imitate, and what stood in such files meant this from the start.
    ['A=b\r\nB=c\r\n', 'b', 'b\r'],
    ['A="b c"\r\n', 'b c', 'b c\r'],
    ['A=b c', 'b c', null],
    ['A=b #c', 'b #c', 'b'],
    ['A="b" # c', '"b" # c', 'b'],
    ['A=# b', '# b', null],
    ['A = b', 'b', null],
    ['A= b', 'b', null],
    ['A=$B', '$B', ''],
    ['A="$B"', '$B', ''],
    ['A=b\\c', 'b\\c', 'bc'],
    ['A="b\\"c"', 'b\\"c', 'b"c'],
    ["A=it's", "it's", null],
    ['A="b', '"b', null],
    ['A="b\'', '"b\'', null],
    ['A="b"c"d"', 'b"c"d', 'bcd'],
    ['A=`b`', '`b`', null],
    ['A=b;c', 'b;c', null],
    ['\ufeffA=b', 'b', null],
  ];
  for (const [text, value, shell = value] of cases) {
    const { values, problems } = parseEnvironmentFile(text);
    t.equal(values['A'], value, JSON.stringify(text));
    t.same(problems, []);
    t.equal(inShell(directory, text), shell, `${JSON.stringify(text)} in a shell`);
  }
});

t.test('lines that are no settings are told by their numbers', async (t) => {
  const { values, problems } = parseEnvironmentFile('A=1\n\nB 2\r\n1C=3\n=4\nD-E=5\nF=6\n');
  t.same(values, { A: '1', F: '6' });
  t.same(
    problems.map(({ line, message }) => `${line}: ${message}`),
    [
      '3: "B 2" is not NAME=value; fix or remove the line.',
      '4: "1C=3" is not NAME=value; fix or remove the line.',
      '5: "=4" is not NAME=value; fix or remove the line.',
      '6: "D-E=5" is not NAME=value; fix or remove the line.',
    ],
  );
});

t.test('.env.example is the table', async (t) => {
  const file = join(root, '.env.example');
  const expected = renderEnvironmentExample(rows);
  if (process.env['UPDATE'] === '1') writeFileSync(file, expected);
  t.equal(readFileSync(file, 'utf8'), expected, 'UPDATE=1 rewrites it');
  const { values, problems } = parseEnvironmentFile(expected);
  t.same(problems, []);
  t.same(values, Object.fromEntries(rows.map((row) => [row.name, row.default])), 'and reads as the defaults');
});

t.test('the page for operators has the table', async (t) => {
  const file = join(root, 'docs/operate.md');
  const [begin, end] = [
    '<!-- environment: generated from settings/environment.ts -->\n',
    '<!-- end of environment -->',
  ];
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  if (to < from || from < begin.length) return void t.fail('docs/operate.md has no place for it');
  const expected = `${text.slice(0, from)}\n${renderEnvironmentTable(rows)}\n${text.slice(to)}`;
  if (process.env['UPDATE'] === '1') writeFileSync(file, expected);
  t.equal(readFileSync(file, 'utf8'), expected, 'UPDATE=1 rewrites it');
});
