// Pages of the lab that put values into statements, shells, templates and paths, each beside one that does not.
import { setTimeout as pause } from 'node:timers/promises';
import { escape, html, json, type Ask, type LabPage } from './page.js';
import { where, whereBound, type LabRow } from './small-sql.js';

const rowsPage = (rows: readonly LabRow[]): string =>
  rows.length === 0
    ? '<p>Nothing found.</p>'
    : `<ul>${rows.map(({ name }) => `<li>${escape(String(name))}</li>`).join('')}</ul>`;

const message = (error: unknown): string => (error instanceof Error ? error.message : 'error');

/** Joins the value into the condition. `shows`: what the database says of it. */
const joined =
  (condition: (value: string) => string, name: string, shows: boolean) =>
  ({ reply, value }: Ask): void => {
    try {
      html(reply, rowsPage(where(condition(value(name)))));
    } catch (error) {
      const said = `<p>Database: ${escape(message(error))}</p>`;
      html(reply, shows ? said : '<p>Nothing found.</p>', shows ? 500 : 200);
    }
  };

const bound =
  (column: string, name: string, kind: 'number' | 'text' | 'part' = 'text') =>
  ({ reply, value }: Ask): void => {
    const given = kind === 'number' ? Number.parseInt(value(name), 10) : value(name);
    html(reply, rowsPage(whereBound(column, given, kind === 'part')));
  };

const sqlPages: readonly LabPage[] = [
  {
    path: '/products',
    takes: { category: 'toys' },
    flaw: 'sql-injection-error category',
    answer: joined((v) => `category = '${v}'`, 'category', true),
  },
  { path: '/products-safe', takes: { category: 'toys' }, answer: bound('category', 'category') },
  {
    path: '/member-login',
    method: 'POST',
    takes: { member: 'jane', pin: '1234' },
    flaw: 'sql-injection-error member',
    answer: joined((v) => `owner = '${v}'`, 'member', true),
  },
  {
    path: '/member-login-safe',
    method: 'POST',
    takes: { member: 'jane', pin: '1234' },
    answer: bound('owner', 'member'),
  },
  {
    path: '/catalog',
    takes: { number: '3' },
    flaw: 'sql-injection-boolean number',
    answer: joined((v) => `id = ${v}`, 'number', false),
  },
  { path: '/catalog-safe', takes: { number: '3' }, answer: bound('id', 'number', 'number') },
  {
    path: '/find',
    takes: { name: 'ball' },
    flaw: 'sql-injection-boolean name',
    answer: joined((v) => `name = '${v}'`, 'name', false),
  },
  { path: '/find-safe', takes: { name: 'ball' }, answer: bound('name', 'name') },
  {
    path: '/filter',
    takes: { like: 'al' },
    flaw: 'sql-injection-boolean like',
    answer: joined((v) => `name like '%${v}%'`, 'like', false),
  },
  { path: '/filter-safe', takes: { like: 'al' }, answer: bound('name', 'like', 'part') },
  {
    path: '/sql-help',
    takes: { topic: 'quotes' },
    answer: ({ reply, value }) =>
      html(reply, `<p>The message: syntax error at or near "x". About ${escape(value('topic'))}.</p>`),
  },
  {
    path: '/lottery',
    takes: { ticket: '7' },
    answer: ({ reply, value }) =>
      html(reply, Math.random() < 0.5 ? `<p>Won with ${escape(value('ticket'))}</p>` : '<b>Nothing this time</b>'),
  },
];

/** A database that waits; the text is not run anywhere. */
const waits = async (value: string): Promise<void> => {
  const seconds = Number(/(?:'\s*AND|\d AND) SLEEP\((\d)\)/.exec(value)?.[1] ?? 0);
  await pause(Math.min(seconds, 6) * 1000);
};

const timePages: readonly LabPage[] = [
  {
    path: '/report',
    takes: { day: '15' },
    flaw: 'sql-injection-time day',
    answer: async ({ reply, value }) => {
      await waits(value('day'));
      html(reply, '<p>The report is on its way.</p>');
    },
  },
  {
    path: '/report-safe',
    takes: { day: '15' },
    answer: ({ reply }) => html(reply, '<p>The report is on its way.</p>'),
  },
  {
    path: '/subscribe',
    method: 'POST',
    takes: { email: 'jane@example.com' },
    flaw: 'sql-injection-time email',
    answer: async ({ reply, value }) => {
      await waits(value('email'));
      html(reply, '<p>Subscribed.</p>');
    },
  },
  {
    path: '/subscribe-safe',
    method: 'POST',
    takes: { email: 'jane@example.com' },
    answer: async ({ reply, value }) => {
      // slow for long values, whatever they say
      await pause(Math.min(value('email').length, 40));
      html(reply, '<p>Subscribed.</p>');
    },
  },
];

/** A shell that knows `expr` and `sleep`, in the places where a real one would run them. */
async function shell(line: string): Promise<string> {
  const command = /(?:[;|&\n`]|\$\()\s*(expr|sleep) (\d+)(?: \\\* (\d+))?/.exec(line);
  if (command === null) return '';
  if (command[1] === 'expr') return String(Number(command[2]) * Number(command[3] ?? 0));
  await pause(Math.min(Number(command[2]), 6) * 1000);
  return '';
}

const shellPage = (
  path: string,
  name: string,
  value: string,
  flaw: string | null,
  method: 'GET' | 'POST' = 'GET',
): LabPage => ({
  path,
  method,
  takes: { [name]: value },
  ...(flaw === null ? {} : { flaw: `${flaw} ${name}` }),
  answer: async (ask) => {
    const given = ask.value(name);
    const output = flaw === null ? '' : await shell(given);
    const shown = flaw === 'command-injection-time' ? '' : output;
    html(ask.reply, `<pre>for ${escape(given)}: ${shown}</pre>`);
  },
});

const templates: Readonly<Record<string, RegExp>> = {
  curly: /\{\{\s*(\d+)\*(\d+)\s*\}\}/,
  dollar: /\$\{\s*(\d+)\*(\d+)\s*\}/,
};
const templatePage = (path: string, name: string, kind: string | null, method: 'GET' | 'POST' = 'GET'): LabPage => ({
  path,
  method,
  takes: { [name]: 'jane' },
  ...(kind === null ? {} : { flaw: `template-injection ${name}` }),
  answer: ({ reply, value }) => {
    const given = escape(value(name)).replaceAll('&#123;', '{');
    const form = kind === null ? undefined : templates[kind];
    const shown =
      form === undefined ? given : given.replace(form, (_, a: string, b: string) => String(Number(a) * Number(b)));
    html(reply, `<p>Dear ${shown},</p>`);
  },
});

const passwd = 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/usr/sbin/nologin\n';
const resolve = (path: string): string => {
  const parts: string[] = [];
  for (const part of path.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  return `/${parts.join('/')}`;
};
const filePage = (path: string, name: string, flaw: boolean, locate: (given: string) => string): LabPage => ({
  path,
  takes: { [name]: 'terms.txt' },
  ...(flaw ? { flaw: `path-traversal ${name}` } : {}),
  answer: ({ reply, value }) => {
    const at = locate(value(name));
    const isThere = at === '/etc/passwd' || at === '/srv/files/terms.txt';
    html(
      reply,
      isThere ? `<pre>\n${at === '/etc/passwd' ? passwd : 'Terms of use'}</pre>` : '<p>No such file.</p>',
      isThere ? 200 : 404,
    );
  },
});

const readPages: readonly LabPage[] = [
  filePage('/download', 'file', true, (one) => resolve(`/srv/files/${one}`)),
  filePage('/view', 'page', true, (one) => resolve(`/srv/files/${one.replaceAll('../', '')}`)),
  filePage('/doc', 'path', true, (one) => (one.startsWith('/') ? one : `/srv/files/${one.replaceAll('..', '')}`)),
  filePage('/download-safe', 'file', false, (one) => `/srv/files/${one.split('/').pop() ?? ''}`),
  filePage('/view-safe', 'page', false, (one) => (/^[\w.]+$/.test(one) ? `/srv/files/${one}` : '')),
  {
    path: '/unix-course',
    takes: { file: 'lesson1' },
    answer: ({ reply }) => html(reply, `<pre>\n${passwd}</pre><p>A file of accounts looks like this.</p>`),
  },
];

const apiPages: readonly LabPage[] = [
  {
    path: '/api/items',
    method: 'POST',
    isApi: 'json',
    takes: { query: 'ball', size: '5' },
    flaw: 'sql-injection-error query',
    answer: ({ reply, body }) => {
      try {
        const { query } = JSON.parse(body) as { query?: unknown };
        json(reply, { items: where(`name = '${String(query)}'`) });
      } catch (error) {
        json(reply, { error: message(error) }, 500);
      }
    },
  },
  {
    path: '/api/items-safe',
    method: 'POST',
    isApi: 'json',
    takes: { query: 'ball', size: '5' },
    answer: ({ reply, body }) => {
      const { query } = JSON.parse(body) as { query?: unknown };
      json(reply, { items: whereBound('name', String(query)) });
    },
  },
];

export const injectionPages: readonly LabPage[] = [
  ...sqlPages,
  ...timePages,
  shellPage('/ping', 'host', 'localhost', 'command-injection'),
  shellPage('/convert', 'picture', 'cat.png', 'command-injection', 'POST'),
  shellPage('/job', 'task', 'nightly', 'command-injection-time'),
  shellPage('/ping-safe', 'host', 'localhost', null),
  shellPage('/convert-safe', 'picture', 'cat.png', null, 'POST'),
  templatePage('/greet', 'who', 'curly'),
  templatePage('/letter', 'addressee', 'dollar', 'POST'),
  templatePage('/greet-safe', 'who', null),
  templatePage('/letter-safe', 'addressee', null, 'POST'),
  ...readPages,
  ...apiPages,
];
