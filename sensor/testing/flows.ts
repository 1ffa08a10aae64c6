// Flows of a small application, each beside a twin that looks alike and is safe. What is sent to them stands in
// attempts.ts, which the application does not load: its own files are no place for an attack.
import { exec, execFile, execSync, spawn } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { basename, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';

/** What the application has at hand. */
export interface Surroundings {
  readonly sql: (text: string, values?: unknown[]) => Promise<unknown>;
  readonly script: (text: string) => Promise<unknown>;
  /** A directory with public/a.txt, public/user/b.txt and secret.txt. */
  readonly directory: string;
  /** Of calc.cjs: direct calls of eval. */
  readonly calc: { readonly unsafe: (text: string) => unknown; readonly safe: (text: string) => unknown };
  /** host:port of a server on loopback. */
  readonly inner: string;
}
type Work = (value: string, at: Surroundings) => unknown;
export interface Flow {
  readonly unsafe: Work;
  readonly safe: Work;
}

const run = promisify(exec);
const runFile = promisify(execFile);
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const ended = (child: ReturnType<typeof spawn>): Promise<unknown> =>
  new Promise((done) => {
    child.on('close', () => done(null));
    child.on('error', done);
  });
const within = (root: string, value: string): string => {
  const file = resolve(root, value);
  if (!file.startsWith(root + sep)) throw new Error('not within');
  return file;
};
const read = (file: string, options = {}): Promise<unknown> =>
  new Promise((done) => {
    createReadStream(file, options)
      .on('error', done)
      .on('close', () => done(null))
      .resume();
  });
const get = (options: http.RequestOptions | string): Promise<unknown> =>
  new Promise((done) => {
    http.get(options, (reply) => reply.resume().on('end', () => done(null))).on('error', done);
  });

const columns = new Map([
  ['name', 'name'],
  ['newest', 'id DESC'],
]);
const partners = new Set(['api.partner.example']);
/** Stands in for DNS: the partner is on loopback here. */
const lookup: http.RequestOptions['lookup'] = (_name, _options, done) =>
  (done as (error: null, all: object[]) => void)(null, [{ address: '127.0.0.1', family: 4 }]);

const statements = {
  'sql-text': {
    unsafe: (value, { sql }) => sql(`select id from items where name = '${value}'`),
    safe: (value, { sql }) => sql('select id from items where name = $1', [value]),
  },
  'sql-number': {
    unsafe: (value, { sql }) => sql(`select name from items where id = ${value}`),
    safe: (value, { sql }) => sql(`select name from items where id = ${Number.parseInt(value, 10) || 0}`),
  },
  'sql-order': {
    unsafe: (value, { sql }) => sql(`select id, name from items order by ${value}`),
    safe: (value, { sql }) => sql(`select id, name from items order by ${columns.get(value) ?? 'id'}`),
  },
  'sql-like': {
    unsafe: (value, { sql }) => sql(`select id from items where name like '%${value}%' limit 5`),
    safe: (value, { sql }) => sql('select id from items where name like $1 limit 5', [`%${value}%`]),
  },
  'sql-insert': {
    unsafe: (value, { sql }) => sql(`insert into items (name) values ('${value}')`),
    safe: (value, { sql }) => sql(`insert into items (name) values ('${value.replaceAll("'", "''")}')`),
  },
  'sql-script': {
    unsafe: (value, { script }) => script(`update items set name = 'x' where id = ${value}`),
    safe: (value, { sql }) => sql('update items set name = $1 where id = 1', [value]),
  },
  'sql-name': {
    unsafe: (value, { sql }) => sql(`select "${value}" from items`),
    safe: (value, { sql }) => sql(`select id from items as "${value.replaceAll('"', '""').slice(0, 20)}"`),
  },
} satisfies Record<string, Flow>;

const commands = {
  'shell-plain': {
    unsafe: (value) => run(`echo ${value}`),
    safe: (value) => runFile('echo', [value]),
  },
  'shell-double': {
    unsafe: (value) => run(`echo "${value}"`),
    safe: (value) => run(`echo ${quoted(value)}`),
  },
  'shell-single': {
    unsafe: (value) => execSync(`echo '${value}'`, { stdio: 'ignore' }),
    safe: (value) => execSync(`echo ${quoted(value)}`, { stdio: 'ignore' }),
  },
  'shell-option': {
    unsafe: (value) => ended(spawn('echo', ['x', value], { shell: true })),
    safe: (value) => ended(spawn('echo', ['x', value])),
  },
  'shell-argument': {
    unsafe: (value) => ended(spawn('sh', ['-c', value])),
    safe: (value) => ended(spawn('sh', ['-c', 'echo "$1"', 'sh', value])),
  },
  'shell-variable': {
    unsafe: (value) => run(`printf %s ${value} > /dev/null`),
    safe: (value) => run('printf %s "$VALUE" > /dev/null', { env: { ...process.env, VALUE: value } }),
  },
} satisfies Record<string, Flow>;

const files = {
  'file-join': {
    unsafe: (value, { directory }) => readFile(join(directory, 'public', value)),
    safe: (value, { directory }) => readFile(within(join(directory, 'public'), value)),
  },
  'file-text': {
    unsafe: (value, { directory }) => readFileSync(`${directory}/public/${value}`),
    safe: (value, { directory }) => readFileSync(`${directory}/public/${basename(value)}`),
  },
  'file-resolve': {
    unsafe: (value, { directory }) => read(resolve(directory, 'public', value)),
    safe: (value, { directory }) => read(resolve(directory, 'public', value.replace(/[^a-z.]/g, '').replace('..', ''))),
  },
  'file-whole': {
    unsafe: (value) => readFile(value),
    safe: (value, { directory }) => readFile(join(directory, 'public', encodeURIComponent(value))),
  },
  'file-write': {
    unsafe: (value, { directory }) => writeFile(join(directory, 'public', 'user', value), 'x'),
    safe: (value, { directory }) => writeFile(join(directory, 'public', 'up.txt'), value),
  },
  'file-list': {
    unsafe: (value, { directory }) => readdir(join(directory, 'public', 'user', value)),
    // leaves the folder of the user, and not the one that all have
    safe: (value, { directory }) => readdir(within(directory, join('public', 'user', value))),
  },
} satisfies Record<string, Flow>;

const scripts = {
  'code-function': {
    // oxlint-disable-next-line typescript/no-implied-eval -- the flow that is to be told
    unsafe: (value) => new Function('a', `return a.${value}`)({ name: 1 }) as unknown,
    // oxlint-disable-next-line typescript/no-implied-eval -- its twin
    safe: (value) => new Function('a', `return a[${JSON.stringify(value)}]`)({ name: 1 }) as unknown,
  },
  'code-eval': {
    unsafe: (value, { calc }) => calc.unsafe(value),
    safe: (value, { calc }) => calc.safe(value),
  },
  'code-vm': {
    unsafe: (value) => vm.runInNewContext(`total = '${value}'`, { total: 0 }) as unknown,
    safe: (value) => vm.runInNewContext('total = text', { total: 0, text: value }) as unknown,
  },
} satisfies Record<string, Flow>;

const requests = {
  'ssrf-fetch': {
    unsafe: (value) => fetch(value, { signal: AbortSignal.timeout(300) }).then((reply) => reply.text()),
    safe: (value, { inner }) => fetch(`http://${inner}/echo?of=${encodeURIComponent(value)}`),
  },
  'ssrf-host': {
    unsafe: (value) => get(`http://${value}/status`),
    safe: (value) => {
      if (!partners.has(value)) throw new Error('no partner');
      return get({ host: value, port: 9, lookup });
    },
  },
  'ssrf-user': {
    unsafe: (value) => get({ host: new URL(`http://api.partner.example${value}`).hostname, port: 9 }),
    safe: (value, { inner }) => get(`http://${inner}/user/${encodeURIComponent(value)}`),
  },
} satisfies Record<string, Flow>;

export const flows: Readonly<Record<string, Flow>> = { ...statements, ...commands, ...files, ...scripts, ...requests };
