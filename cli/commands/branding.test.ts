// White label of the console: name, logo and colour as a browser gets them, what is refused, and that no colour makes
// text unreadable.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { colourOf, coloursOf, contrast, startConsole } from '#console/main';
import { variables, type Values } from '#settings/environment';
import { root } from '../environment/directories.js';
import { brandingOf } from './console.js';

const defaults = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;
const webDirectory = join(root, 'build/console/web-bundle');
const skip = existsSync(join(webDirectory, 'index.html')) ? false : 'the console is not built: node bin/build.mjs';
const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');

function fileOf(t: Test, name: string, content: string | Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-logo-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

async function consoleOf(t: Test, values: Partial<Values>) {
  const server = await startConsole({
    webDirectory,
    apiUrl: 'http://127.0.0.1:9',
    token: '',
    host: '127.0.0.1',
    port: 0,
    branding: brandingOf({ ...defaults, ...values }),
  });
  t.teardown(() => server.close());
  const get = async (path: string) => {
    const answer = await fetch(server.url + path);
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  return get;
}

t.test('without a brand of its own it is ours', { skip }, async (t) => {
  const get = await consoleOf(t, {});
  const page = await get('/');
  t.match(page.text, '<title>Gatehouse</title>');
  t.match(page.text, /<link rel="icon" href="\/favicon\.svg"/);
  t.notMatch(page.text, /\{\{|\/brand\//);
  for (const path of ['/brand/logo', '/brand/colours.css']) t.not((await get(path)).text, '', path);
  t.equal((await get('/brand/colours.css')).status, 404);
});

for (const [name, content, type] of [
  ['logo.svg', svg, 'image/svg+xml'],
  ['logo.PNG', png, 'image/png'],
] as const)
  t.test(`a brand of its own, with ${name}: our name is nowhere on the page`, { skip }, async (t) => {
    const get = await consoleOf(t, {
      APP_BRAND: 'Acme <Shield>',
      APP_BRAND_SUB: 'Edge',
      APP_TAGLINE: 'By "Acme"',
      APP_LOGO: fileOf(t, name, content),
      APP_ACCENT: '#3F51B5',
    });
    const page = await get('/');
    t.notMatch(page.text, /gatehouse/i);
    t.match(page.text, '<title>Acme &lt;Shield&gt;</title>');
    t.match(page.text, /<link rel="icon" href="\/brand\/logo" \/>/);
    t.match(page.text, /<meta name="app:logo" content="\/brand\/logo"/);
    t.match(
      page.text,
      /stylesheet"[^>]* href="\/assets[^]*<link rel="stylesheet" href="\/brand\/colours\.css" \/>\s*<\/head>/,
    );
    const logo = await get('/brand/logo');
    t.equal(logo.status, 200);
    t.equal(logo.type, type);
    const sheet = await get('/brand/colours.css');
    t.match(sheet.type, 'text/css');
    t.match(sheet.text, /--accent: #[0-9a-f]{6};/);
  });

t.test('what is no logo or no colour is refused in words', async (t) => {
  const huge = Buffer.alloc(256 * 1024 + 1, svg);
  const cases: [Partial<Values>, RegExp][] = [
    [{ APP_ACCENT: 'teal' }, /APP_ACCENT is "teal": write a colour as #rrggbb/],
    [{ APP_ACCENT: '#12345' }, /write a colour/],
    [{ APP_ACCENT: '#3f51b5;}' }, /write a colour/],
    [{ APP_LOGO: '/nonexistent/logo.svg' }, /APP_LOGO cannot be used: .*ENOENT/],
    [{ APP_LOGO: fileOf(t, 'logo.gif', 'GIF89a') }, /neither \.svg nor \.png/],
    [{ APP_LOGO: fileOf(t, 'logo.png', svg) }, /not what its name says/],
    [{ APP_LOGO: fileOf(t, 'logo.svg', png) }, /not what its name says/],
    [{ APP_LOGO: fileOf(t, 'logo.svg', '<html><svg/></html>') }, /not what its name says/],
    [{ APP_LOGO: fileOf(t, 'logo.svg', huge) }, /262144 at most/],
  ];
  for (const [values, words] of cases) t.throws(() => brandingOf({ ...defaults, ...values }), { message: words });
});

t.test('whatever the colour, text on it and in it can be read in both themes', async (t) => {
  const part = fc.integer({ min: 0, max: 255 });
  const grounds = [
    ['#0d1014', '#1a1f27', '#20262f'],
    ['#ffffff', '#f5f7f9', '#edf1f5'],
  ];
  const between = (one: string, other: string): number => {
    const [a, b] = [colourOf(one), colourOf(other)];
    return a === null || b === null ? 0 : contrast(a, b);
  };
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.tuple(part, part, part), (accent) => {
        const sheets = coloursOf(accent).split('}\n').slice(0, 2);
        return sheets.every((sheet, theme) => {
          const value = (name: string): string => new RegExp(`--${name}: (#\\w+);`).exec(sheet)?.[1] ?? '';
          const isSeen = (grounds[theme] ?? []).every(
            (ground) => between(value('accent'), ground) >= 3 && between(value('accent-ink'), ground) >= 4.5,
          );
          const isRead = between(value('accent-ink'), value('accent-ground')) >= 4.5;
          return isSeen && isRead && between(value('on-accent'), value('accent')) >= 4.5;
        });
      }),
      { numRuns: 2000, seed: Number(process.env['SEED'] ?? 7), endOnFailure: true },
    ),
  );
});
