// The JSON interface of the second lab, which only the scripts of its pages name.
import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { json, text } from '../page.js';
import type { Deck } from './deck.js';
import { matches } from './store.js';

const run = promisify(exec);
type Body = Readonly<Record<string, unknown>>;
const within = (body: Body, ...names: readonly string[]): unknown => {
  let at: unknown = body;
  for (const name of names) at = typeof at === 'object' && at !== null ? (at as Body)[name] : undefined;
  return at;
};
const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const quoted = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** A template language with double braces, whose expressions are programs. */
const rendered = (layout: string): string =>
  layout.replaceAll(/\{\{(.{1,80}?)\}\}/g, (_, code: string) => String(runInNewContext(code, {}, { timeout: 50 })));

export const restPlaces: Deck = {
  'GET /rest/books': async ({ reply, value, store }) => {
    try {
      json(reply, { books: await store.run(`select id, title from books where genre = '${value('genre')}'`) });
    } catch (error) {
      json(reply, { error: said(error) }, 500);
    }
  },
  'GET /rest/genres': async ({ reply, value, store }) =>
    json(reply, { books: await store.ask('select id, title from books where genre = $1', [value('genre')]) }),
  'POST /rest/search': async ({ reply, sent, store }) => {
    const term = quoted(within(sent, 'filter', 'term'));
    const rows = await store.run(`select title from books where title = '${term}' and not hidden`).catch(() => []);
    json(reply, { hits: rows });
  },
  'POST /rest/find': async ({ reply, sent, store }) =>
    json(reply, {
      hits: await store.ask('select title from books where title = $1', [quoted(within(sent, 'filter', 'term'))]),
    }),
  'POST /rest/auth/signin': async ({ reply, sent, store }) => {
    const [login, word] = [quoted(sent['login']), quoted(sent['secret'])];
    const rows = await store
      .run(`select login from people where login = '${login}' and word = '${word.replaceAll("'", "''")}'`)
      .catch(() => []);
    if (rows.length === 0) json(reply, { ok: false }, 401);
    else json(reply, { ok: true, as: rows[0]?.['login'] });
  },
  'POST /rest/auth/enter': async ({ reply, sent, store }) => {
    const rows = await store.ask('select login from people where login = $1 and word = $2', [
      quoted(sent['login']),
      quoted(sent['secret']),
    ]);
    json(reply, { ok: rows.length > 0 }, rows.length > 0 ? 200 : 401);
  },
  'POST /rest/accounts/lookup': ({ reply, sent }) =>
    json(reply, { known: ['mara', 'finn'].filter((one) => matches(one, sent['nick'])).length }),
  'POST /rest/accounts/check': ({ reply, sent }) =>
    json(reply, { known: ['mara', 'finn'].filter((one) => one === String(sent['nick'])).length }),
  'GET /rest/preview': async ({ reply, value }) => {
    const there = await fetch(value('address'), { signal: AbortSignal.timeout(1500) }).catch(() => null);
    json(reply, { length: (await there?.text())?.length ?? null });
  },
  'GET /rest/preview-listed': ({ reply }) => json(reply, { length: null }),
  'POST /rest/render': ({ reply, sent }) => {
    try {
      json(reply, { card: rendered(quoted(sent['layout'])) });
    } catch {
      json(reply, { card: null }, 400);
    }
  },
  'POST /rest/card': ({ reply, sent }) => json(reply, { card: quoted(sent['layout']) }),
  'GET /rest/calc': ({ reply, value }) => {
    try {
      json(reply, { result: String(runInNewContext(value('formula'), {}, { timeout: 50 })) });
    } catch {
      json(reply, { result: null }, 400);
    }
  },
  'GET /rest/sum': ({ reply, value }) => {
    const [, left = '0', sign = '+', right = '0'] = /^(\d+)\s*([+*])\s*(\d+)$/.exec(value('formula')) ?? [];
    json(reply, { result: String(sign === '*' ? Number(left) * Number(right) : Number(left) + Number(right)) });
  },
  'POST /rest/tools/reach': async ({ reply, sent }) => {
    const { stdout } = await run(`echo reaching ${quoted(sent['box']).slice(0, 200)}`, { timeout: 8000 }).catch(() => ({
      stdout: '',
    }));
    json(reply, { log: stdout });
  },
  'POST /rest/tools/name': ({ reply, sent }) => json(reply, { log: `naming ${quoted(sent['box'])}` }),
  'GET /rest/export': async ({ reply, value }) => {
    const file = await readFile(`/usr/share/${value('sheet')}`, 'utf8').catch(() => null);
    if (file === null) json(reply, { error: 'no such sheet' }, 404);
    else text(reply, file.slice(0, 2000));
  },
  'GET /rest/export-safe': ({ reply, value }) => text(reply, value('sheet') === 'stock.csv' ? 'id;title' : 'none'),
  'GET /rest/me': ({ reply, request }) => {
    const { origin } = request.headers;
    const allowed = origin === undefined ? {} : { 'access-control-allow-origin': origin };
    json(reply, { login: 'guest' }, 200, { ...allowed, 'access-control-allow-credentials': 'true' });
  },
  'GET /rest/us': ({ reply }) => json(reply, { login: 'guest' }, 200, { 'access-control-allow-origin': '*' }),
  'POST /rest/orders': ({ reply, request }, body) => {
    try {
      json(reply, { taken: Object.keys(JSON.parse(body) as object).length });
    } catch (error) {
      const trace = error instanceof Error ? (error.stack ?? '') : '';
      text(reply, `${request.url ?? ''}: ${trace}`, 500);
    }
  },
  'POST /rest/baskets': ({ reply }, body) => {
    try {
      json(reply, { taken: Object.keys(JSON.parse(body) as object).length });
    } catch {
      json(reply, { error: 'This is no JSON.' }, 400);
    }
  },
  'POST /rest/wall': ({ reply, sent, wall }) => {
    wall.push(quoted(sent['note']).slice(0, 300));
    json(reply, { ok: true });
  },
  'POST /rest/session/end': ({ reply, harm }) => {
    harm.push('session ended');
    json(reply, { ok: true });
  },
  'POST /rest/books/wipe': ({ reply, harm }) => {
    harm.push('wiped');
    json(reply, { ok: true });
  },
};

/** Where the last part of the path is a value. */
export const restPaths: readonly (readonly [RegExp, Deck[string]])[] = [
  [
    /^GET \/rest\/book\/([^/]+)$/,
    async ({ reply, store, url }) => {
      const id = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
      const rows = await store.run(`select title, price from books where id = ${id}`).catch(() => []);
      if (rows.length === 0) json(reply, { error: 'none' }, 404);
      else json(reply, rows[0]);
    },
  ],
  [
    /^GET \/rest\/volume\/([^/]+)$/,
    async ({ reply, store, url }) => {
      const id = Number.parseInt(url.pathname.split('/').at(-1) ?? '', 10) || 0;
      const rows = await store.ask('select title, price from books where id = $1', [id]);
      if (rows.length === 0) json(reply, { error: 'none' }, 404);
      else json(reply, rows[0]);
    },
  ],
];
