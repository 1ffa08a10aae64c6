// The browser of tests and of the programs that look at a running console.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import { findPrograms, required, skipWithout, type Wanted } from '#api/testing/servers/programs';

const wanted: Wanted = {
  server: 'Chromium',
  untested: 'the console in a browser',
  install: 'apt-get install chromium',
  variable: 'GATEHOUSE_TEST_WITHOUT_BROWSER',
};
const settledMsMax = 45_000;
// the shell without windows does the same work for a fifth less of the processor where a machine has it
const shellFound = findPrograms(['chromium-headless-shell']);
const directoryFound = shellFound ?? findPrograms(['chromium']);

const program = shellFound === null ? 'chromium' : 'chromium-headless-shell';

/** Why tests with a browser are skipped. */
export const withoutBrowser = skipWithout(directoryFound, wanted);

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: join(required(directoryFound, wanted), program),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
  });

/** Flags of programs that look at a running console. */
export const consoleFlags = {
  url: { type: 'string', default: 'http://127.0.0.1:3010' },
  email: { type: 'string', default: 'admin@gatehouse.local' },
  'password-file': { type: 'string' },
} as const;

/** Throws Error that says how to give one. */
export function passwordIn(flags: { readonly 'password-file'?: string | undefined }): string {
  const file = flags['password-file'];
  if (file === undefined) throw new Error('Say with --password-file which file holds the password of --email.');
  return readFileSync(file, 'utf8').trim();
}

export async function logInAs(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.shell').waitFor();
}

/**
 * Requests of a page that have not been answered; streams, which never are, questions that wait for work of the server
 * as long as somebody looks, and pictures do not count.
 */
const unanswered = new WeakMap<Page, Set<Request>>();

const isAwaited = (request: Request): boolean =>
  ['fetch', 'xhr', 'script', 'document'].includes(request.resourceType()) &&
  !/\/stream$|[?&]budget_ms=/.test(request.url());

/** To be called before the page goes anywhere, so that `settled` knows what it waits for. */
export function watchRequests(page: Page): void {
  const open = new Set<Request>();
  unanswered.set(page, open);
  page.on('request', (request) => void (isAwaited(request) && open.add(request)));
  page.on('requestfinished', (request) => void open.delete(request));
  page.on('requestfailed', (request) => void open.delete(request));
}

/**
 * What has been asked so far belongs to a page that is left within the document: it is given up there, and Chromium
 * does not always say so. `leave` says whether it was left.
 */
export async function leavingRequests(page: Page, leave: () => Promise<boolean>): Promise<boolean> {
  const open = unanswered.get(page);
  const before = [...(open ?? [])];
  const isLeft = await leave();
  if (isLeft) for (const request of before) open?.delete(request);
  return isLeft;
}

/** Two frames: what was answered is drawn, and has asked what it asks next. */
const drawn = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

const isBusy = (): boolean => document.querySelector('main .state .spinner, main [aria-busy="true"]') !== null;

/**
 * Resolves when a page shows its answers: nothing is asked for, and no part of it says that it waits. Playwright's
 * `networkidle` would add half a second to each page, and never come on pages with a stream.
 */
export async function settled(page: Page): Promise<void> {
  const open = unanswered.get(page);
  if (open === undefined) throw new Error('watchRequests(page) has to be called when the page is opened.');
  const atMost = Date.now() + settledMsMax;
  for (;;) {
    await drawn(page);
    if (open.size === 0 && !(await page.evaluate(isBusy))) return;
    if (Date.now() > atMost) throw new Error(`${page.url()} waits: ${[...open].map((one) => one.url()).join(' ')}`);
  }
}
