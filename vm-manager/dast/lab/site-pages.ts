// Pages of the lab about heads of answers, files that lie about, logins, and what the server fetches.
import { escape, html, json, text, type Ask, type LabPage } from './page.js';

/** Writes the head by itself: node:http refuses line ends in it, as it should. */
function rawHead({ reply }: Ask, line: string): void {
  const body = '<p>Set.</p>';
  reply.socket?.end(
    `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\nconnection: close\r\n` +
      `x-language: ${line}\r\n\r\n${body}`,
  );
}

const led = ({ reply }: Ask, to: string): void =>
  void reply.writeHead(302, { location: to.replace(/[^\x21-\x7e]/g, (one) => encodeURIComponent(one)) || '/' }).end();

const ownPath = (to: string): string => (/^\/(?![/\\])/.test(to) ? to : '/');

const headPages: readonly LabPage[] = [
  { path: '/go', takes: { to: '/' }, flaw: 'open-redirect to', answer: (ask) => led(ask, ask.value('to')) },
  {
    path: '/jump',
    takes: { next: '/' },
    flaw: 'open-redirect next',
    answer: (ask) => led(ask, ask.value('next').startsWith('/') ? ask.value('next') : '/'),
  },
  {
    path: '/soon',
    takes: { then: '/' },
    flaw: 'open-redirect then',
    answer: ({ reply, value }) =>
      html(reply, `<meta http-equiv="refresh" content="5; url=${escape(value('then'))}"><p>Soon.</p>`),
  },
  { path: '/go-safe', takes: { to: '/' }, answer: (ask) => led(ask, ownPath(ask.value('to'))) },
  {
    path: '/jump-safe',
    takes: { next: '/' },
    answer: (ask) => led(ask, `/?from=${encodeURIComponent(ask.value('next'))}`),
  },
  {
    path: '/language',
    takes: { set: 'en' },
    flaw: 'header-injection set',
    answer: (ask) => rawHead(ask, ask.value('set')),
  },
  {
    path: '/language-safe',
    takes: { set: 'en' },
    answer: ({ reply, value }) => html(reply, '<p>Set.</p>', 200, { 'x-language': encodeURIComponent(value('set')) }),
  },
  {
    path: '/reset',
    flaw: 'host-header',
    answer: ({ reply, request }) => {
      const host = String(request.headers['x-forwarded-host'] ?? request.headers.host);
      html(reply, `<a href="http://${escape(host)}/">Go on</a>`);
    },
  },
  { path: '/reset-safe', answer: ({ reply }) => html(reply, '<a href="/">Go on</a>') },
];

const shared = (origin: string, credentials = true) => ({
  'access-control-allow-origin': origin,
  ...(credentials ? { 'access-control-allow-credentials': 'true' } : {}),
});

const corsPages: readonly LabPage[] = [
  {
    path: '/api/profile',
    flaw: 'cors',
    answer: ({ reply, request }) =>
      json(reply, { name: 'jane' }, 200, shared(request.headers.origin ?? 'https://lab.example')),
  },
  {
    path: '/api/letters',
    flaw: 'cors',
    answer: ({ reply, request }) =>
      json(reply, { letters: 2 }, 200, shared(request.headers.origin === 'null' ? 'null' : 'https://lab.example')),
  },
  {
    path: '/api/profile-safe',
    answer: ({ reply }) => json(reply, { name: 'jane' }, 200, shared('https://lab.example')),
  },
  { path: '/api/news', answer: ({ reply }) => json(reply, { news: [] }, 200, shared('*', false)) },
];

const entity = /<!ENTITY (\w+) (SYSTEM )?"([^"]*)">/g;
/** Replaces entities as a parser does that was left as it is; `external`: files, too. */
function expand(body: string, external: boolean): string {
  const values = new Map<string, string>();
  const put = (given: string): string => given.replace(/&(\w+);/g, (whole, name: string) => values.get(name) ?? whole);
  for (const [, name = '', system, value = ''] of body.matchAll(entity))
    if (system === undefined) values.set(name, put(value));
    else if (external && value === 'file:///etc/passwd') values.set(name, '\nroot:x:0:0:root:/root:/bin/bash\n');
  return put(/<request>([\s\S]*)<\/request>/.exec(body)?.[1] ?? '').replaceAll(/<\/?\w+>/g, '');
}

const xmlPage = (path: string, flaw: string | null, read: (body: string) => string): LabPage => ({
  path,
  method: 'POST',
  isApi: 'xml',
  takes: { order: 'ball' },
  ...(flaw === null ? {} : { flaw }),
  answer: ({ reply, body }) => text(reply, `Ordered: ${read(body)}`),
});

const filePages: readonly LabPage[] = [
  {
    path: '/.env',
    isHidden: true,
    flaw: 'exposed-file:/.env',
    answer: ({ reply }) => text(reply, 'APP_MODE=lab\nAPP_SIZE=3\n'),
  },
  {
    path: '/.git/HEAD',
    isHidden: true,
    flaw: 'exposed-file:/.git/HEAD',
    answer: ({ reply }) => text(reply, 'ref: refs/heads/main\n'),
  },
  {
    path: '/actuator/env',
    isHidden: true,
    flaw: 'exposed-file:/actuator/env',
    answer: ({ reply }) => json(reply, { propertySources: [] }),
  },
  { path: '/dump.sql', isHidden: true, answer: ({ reply }) => html(reply, '<p>CREATE TABLE is a statement.</p>') },
  { path: '/app.php', answer: ({ reply }) => html(reply, '<p>The old pages.</p>') },
  {
    path: '/app.php.bak',
    isHidden: true,
    flaw: 'backup-file',
    answer: ({ reply }) => text(reply, '<?php echo "old"; ?>'),
  },
  {
    path: '/uploads/',
    isHidden: true,
    flaw: 'directory-listing',
    answer: ({ reply }) => html(reply, '<h1>Index of /uploads/</h1>'),
  },
  { path: '/files/', isHidden: true, answer: ({ reply }) => html(reply, '<h1>Files of the month</h1>') },
];

const showsPages: readonly LabPage[] = [
  {
    path: '/crash',
    flaw: 'stack-trace',
    answer: ({ reply }) =>
      html(
        reply,
        `<pre>Error: lab\n    at handle (/srv/lab/server.js:10:5)\n    at run (/srv/lab/a.js:1:1)</pre>`,
        500,
      ),
  },
  {
    path: '/crash-safe',
    answer: ({ reply }) => html(reply, '<p>Error 4711. Please meet at noon (room 10:5).</p>', 500),
  },
  {
    path: '/settings',
    flaw: 'secret-in-answer',
    answer: ({ reply }) => json(reply, { database: `postgres://lab:${'made-up-1'}@db.example/lab` }),
  },
  { path: '/settings-safe', answer: ({ reply }) => json(reply, { database: 'postgres://db.example/lab' }) },
];

const loginPages: readonly LabPage[] = [
  {
    path: '/account',
    answer: ({ reply, user }) =>
      user === null ? html(reply, '<p>Log in first.</p>', 401) : html(reply, `<h1>Hello ${user}</h1>`),
  },
  {
    path: '/admin/people',
    flaw: 'missing-login',
    answer: ({ reply }) => html(reply, '<table><tr><td>jane</td></tr></table>'),
  },
  {
    path: '/admin/safe',
    answer: ({ reply, user }) =>
      user === null ? led({ reply } as Ask, '/login') : html(reply, '<p>Of the house.</p>'),
  },
  {
    path: '/api/wages',
    isApi: 'json',
    flaw: 'missing-login',
    answer: ({ reply }) => json(reply, { wages: [1, 2] }),
  },
  {
    path: '/api/wages-safe',
    isApi: 'json',
    answer: ({ reply, user }) =>
      user === null ? json(reply, { error: 'log in' }, 401) : json(reply, { wages: [1, 2] }),
  },
  { path: '/vault', flaw: 'method-bypass', answer: ({ reply }) => html(reply, '<p>Not for you.</p>', 403) },
  { path: '/vault', method: 'POST', isHidden: true, answer: ({ reply }) => html(reply, '<p>The vault is open.</p>') },
  { path: '/vault-safe', answer: ({ reply }) => html(reply, '<p>Not for you.</p>', 403) },
];

export const sitePages: readonly LabPage[] = [
  ...headPages,
  ...corsPages,
  xmlPage('/api/orders', 'xxe', (body) => expand(body, true)),
  xmlPage('/api/orders-inner', 'xml-entities', (body) => expand(body, false)),
  xmlPage('/api/orders-safe', null, (body) => (body.includes('<!DOCTYPE') ? 'refused' : expand(body, false))),
  ...filePages,
  ...showsPages,
  ...loginPages,
];
