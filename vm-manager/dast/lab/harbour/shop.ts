// The shop of the second lab, in the manner of PHP: a file for each page, values in the query, words in German.
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { escape, text } from '../page.js';
import type { Berth, Deck } from './deck.js';
import type { Rows } from './store.js';

export function page(
  { reply }: Pick<Berth, 'reply'>,
  body: string,
  status = 200,
  head: Record<string, string> = {},
): void {
  reply.writeHead(status, { 'content-type': 'text/html; charset=iso-8859-1', ...head });
  reply.end(`<html><head><title>Laden</title></head><body>${body}</body></html>`);
}

const titleOf = ([first]: Rows): string => (typeof first?.['title'] === 'string' ? first['title'] : 'Nichts');
const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const mysql = (near: string): string =>
  `You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the ` +
  `right syntax to use near '${near}' at line 1`;

/** A statement with this value in quotes would wait so long; it has to close them to be read. */
const waits = (value: string): number => {
  const found = /^[^']*'.*\bSLEEP\((\d+)\)/i.exec(value);
  return found !== null && (value.match(/'/g) ?? []).length % 2 === 0 ? Number(found[1]) : 0;
};

const listings: Readonly<Record<string, string>> = { preis: 'price', titel: 'title' };

export const shopPlaces: Deck = {
  'GET /laden/artikel.php': async (berth) => {
    const { store, value } = berth;
    try {
      const rows = await store.run(`select title from books where isbn = '${value('art')}'`);
      page(berth, `<h1>${escape(titleOf(rows))}</h1>`);
    } catch {
      page(berth, `<p>Query failed: ${escape(mysql(value('art').slice(-10)))}</p>`, 200);
    }
  },
  'GET /laden/artikel2.php': async (berth) => {
    const rows = await berth.store.ask('select title from books where isbn = $1', [berth.value('art')]);
    page(berth, `<h1>${escape(titleOf(rows))}</h1>`);
  },
  'GET /laden/liste.php': async (berth) => {
    try {
      const rows = await berth.store.run(`select title from books order by ${berth.value('ordnung')}`);
      page(berth, rows.map(({ title }) => `<p>${escape(String(title))}</p>`).join(''));
    } catch (error) {
      page(berth, `<p>pg_query(): Query failed: ERROR: ${escape(said(error))}</p>`, 500);
    }
  },
  'GET /laden/liste2.php': async (berth) => {
    const rows = await berth.store.run(`select title from books order by ${listings[berth.value('ordnung')] ?? 'id'}`);
    page(berth, rows.map(({ title }) => `<p>${escape(String(title))}</p>`).join(''));
  },
  'GET /laden/suche.php': (berth) =>
    page(
      berth,
      `<form action="suche.php"><input name="wort" value="${berth.value('wort').replaceAll('<', '')}"></form>`,
    ),
  'GET /laden/suche2.php': (berth) =>
    page(berth, `<form action="suche2.php"><input name="wort" value="${escape(berth.value('wort'))}"></form>`),
  'GET /laden/sprache.php': (berth) =>
    page(berth, `<script>var lang = '${berth.value('l').replaceAll(/[<>]/g, '')}';</script><p>Sprache</p>`),
  'GET /laden/sprache2.php': (berth) =>
    page(
      berth,
      `<script>var lang = ${JSON.stringify(berth.value('l')).replaceAll('<', '\\u003c')};</script><p>Sprache</p>`,
    ),
  'GET /laden/bewertung.php': (berth) =>
    page(
      berth,
      '<form method="post" action="bewertung.php"><textarea name="meinung">gut</textarea>' +
        '<input name="sterne" value="5">' +
        '</form>',
    ),
  'POST /laden/bewertung.php': (berth) => page(berth, `<p>Danke: ${berth.value('meinung')}</p>`),
  'GET /laden/bewertung2.php': (berth) =>
    page(
      berth,
      '<form method="post" action="bewertung2.php"><input type="hidden" name="csrf_token" value="7f">' +
        '<textarea name="meinung">gut</textarea></form>',
    ),
  'POST /laden/bewertung2.php': (berth) => page(berth, `<p>Danke: ${escape(berth.value('meinung'))}</p>`),
  'GET /laden/weiter.php': ({ reply, value }) =>
    reply.writeHead(302, { location: value('ziel').replaceAll(/[\r\n]/g, '') || '/laden/' }).end(),
  'GET /laden/weiter2.php': ({ reply, value }) =>
    reply.writeHead(302, { location: `/laden/${encodeURIComponent(value('ziel'))}` }).end(),
  'GET /laden/seite.php': async (berth) => {
    const file = await readFile(`/usr/share/${berth.value('name')}`, 'utf8').catch(() => null);
    page(berth, file === null ? '<p>Warning: include(): failed opening</p>' : `<pre>\n${file.slice(0, 2000)}</pre>`);
  },
  'GET /laden/seite2.php': (berth) =>
    page(berth, ['kontakt', 'agb'].includes(berth.value('name')) ? '<p>Kontakt</p>' : '<p>Keine Seite</p>'),
  'GET /laden/brief.php': (berth) =>
    page(berth, '<form method="post" action="brief.php"><input name="adresse" type="email"></form>'),
  'POST /laden/brief.php': async (berth) => {
    await pause(waits(berth.value('adresse')) * 1000);
    page(berth, '<p>Angemeldet</p>');
  },
  'GET /laden/brief2.php': (berth) =>
    page(berth, '<form method="post" action="brief2.php"><input name="adresse" type="email"></form>'),
  'POST /laden/brief2.php': (berth) => page(berth, '<p>Angemeldet</p>'),
  'GET /laden/vergessen.php': (berth) => {
    const host = berth.request.headers['x-forwarded-host'] ?? berth.request.headers.host ?? '';
    page(berth, `<a href="http://${escape(String(host))}/laden/neu.php?k=1">Link</a>`);
  },
  'GET /laden/vergessen2.php': (berth) => page(berth, '<a href="/laden/neu.php?k=1">Link</a>'),
  'GET /laden/einlesen.php': (berth) =>
    page(
      berth,
      '<form method="post" action="einlesen.php"><textarea name="xml"><bestand><buch>Tides</buch></bestand>' +
        '</textarea>' +
        '</form><form method="post" action="einlesen2.php"><textarea name="xml"><bestand><buch>Tides</buch></bestand>' +
        '</textarea></form>',
    ),
  'POST /laden/einlesen.php': async (berth) => {
    const given = berth.value('xml');
    const [, name = '', file = ''] = /<!ENTITY (\w+) SYSTEM "file:\/\/([^"]+)"/.exec(given) ?? [];
    const own = /<!ENTITY (\w+) "([^"]*)"/.exec(given);
    let shown = given.replace(/<!DOCTYPE.*?\]>/s, '').replaceAll(/<[^>]*>/g, ' ');
    if (name !== '') shown = shown.replaceAll(`&${name};`, await readFile(file, 'utf8').catch(() => ''));
    if (own !== null) shown = shown.replaceAll(`&${own[1]};`, own[2] ?? '');
    page(berth, `<pre>\n${escape(shown.trim())}</pre>`);
  },
  'POST /laden/einlesen2.php': (berth) =>
    page(berth, `<pre>${escape(berth.value('xml').replaceAll(/<[^>]*>/g, ' '))}</pre>`),
  'GET /laden/konfiguration.php': (berth) => page(berth, '<p>Nichts zu sehen</p><img src="/bilder/a.png">'),
  'GET /laden/konfiguration.php.bak': ({ reply }) => text(reply, "<?php\nclass Db { const WORT = 'x'; }\n"),
  'GET /.env.production': ({ reply }) => text(reply, 'APP_KEY=base64:abc\nDB_PASSWORD=kelp\n'),
  'GET /db.sql': ({ reply }) => text(reply, '-- MySQL dump 10.13\nCREATE TABLE `kunden` (id int);\n'),
  'GET /info.php': (berth) => page(berth, '<h1>PHP Version 7.4.3</h1><title>phpinfo()</title>'),
  'GET /bilder/': (berth) => page(berth, '<h1>Index of /bilder</h1><a href="a.png">a.png</a>'),
};

/** Parts of a body of files, by name. */
function partsOf(body: string, type: string): Map<string, { file: string; type: string; text: string }> {
  const boundary = /boundary=("?)([^";]+)\1/.exec(type)?.[2] ?? ' ';
  const parts = new Map<string, { file: string; type: string; text: string }>();
  for (const part of body.split(`--${boundary}`)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const name = /name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) continue;
    const file = /filename="([^"]*)"/.exec(head)?.[1] ?? '';
    const own = /content-type:\s*(\S+)/i.exec(head)?.[1] ?? 'text/plain';
    parts.set(name, { file, type: own, text: rest.join('\r\n\r\n').replace(/\r\n$/, '') });
  }
  return parts;
}

const typeOf = (name: string): string =>
  /\.html?$/.test(name) ? 'text/html' : name.endsWith('.svg') ? 'image/svg+xml' : 'application/octet-stream';

export const uploadPlaces: Deck = {
  'GET /laden/bild.php': (berth) =>
    page(
      berth,
      ['bild.php', 'bild2.php']
        .map(
          (one) =>
            `<form method="post" action="${one}" enctype="multipart/form-data"><input name="titel" value="Boot">` +
            '<input type="file" name="datei"></form>',
        )
        .join(''),
    ),
  'POST /laden/bild.php': (berth, body) => {
    const given = partsOf(body, berth.request.headers['content-type'] ?? '').get('datei');
    if (given === undefined || given.file === '') return page(berth, '<p>Keine Datei</p>', 400);
    const name = given.file.replaceAll(/[^\w.-]/g, '');
    if (berth.uploads.size < 500) berth.uploads.set(name, { type: typeOf(name), text: given.text });
    return page(berth, `<p>Da: <a href="/bilder/${name}">${escape(name)}</a></p>`);
  },
  'POST /laden/bild2.php': (berth, body) => {
    const given = partsOf(body, berth.request.headers['content-type'] ?? '').get('datei');
    if (given === undefined || !/\.(?:png|jpe?g)$/.test(given.file)) return page(berth, '<p>Nur Bilder</p>', 400);
    const name = `sicher-${given.file.replaceAll(/[^\w.-]/g, '')}`;
    if (berth.uploads.size < 500) berth.uploads.set(name, { type: 'image/png', text: given.text });
    return page(berth, `<p>Da: <a href="/bilder/${name}">${escape(name)}</a></p>`);
  },
};
