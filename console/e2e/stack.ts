// The whole of `gatehouse up` on free ports, with a small rule set of our own, and a real browser in front of it.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { copyMigratedTemplate } from '#api/testing/database-templates';
import { freePorts, isUp, makeHome, startUp } from '#api/testing/processes/up';
import { writeRuleSet } from '#api/testing/rule-set';
import { shareAutomata } from '#api/testing/temporary';
import { launchChromium, leavingRequests, logInAs, settled, watchRequests } from './browser.js';

export { settled, withoutBrowser } from './browser.js';

export const email = 'admin@gatehouse.local';
export const password = 'correct-horse-battery-staple-9';
export const firstPassword = 'the-first-password-4-tests';

export interface Stack {
  readonly console: string;
  readonly waf: string;
  readonly api: string;
  readonly browser: Browser;
  /** A page in a session of its own. `complaints` fill with errors and refused content. */
  open(width?: number): Promise<{ readonly page: Page; readonly complaints: string[] }>;
}

/** `more`: variables of the environment beside the usual ones. */
export async function startStack(t: Test, more: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const home = await makeHome(t);
  const ports = await freePorts();
  const envFile = join(home, '.env');
  const data = join(home, 'data');
  // the first start of an installation makes one, which is for the tests of `up` to see and takes some seconds
  await rename(await copyMigratedTemplate(t), join(data, 'db'));
  await shareAutomata(data);
  await writeFile(envFile, `GATEHOUSE_DATA=${data}\nCRS_DIR=${await writeRuleSet(t)}\n`);
  const up = startUp(t, {
    ...ports,
    GATEHOUSE_ENV_FILE: envFile,
    WAF_BIND: '127.0.0.1',
    DATA_WORKERS: '1',
    ADMIN_INITIAL_PASSWORD: firstPassword,
    APP_BRAND: 'Rampart & "Sons"',
    ...more,
  });
  await up.until(isUp);
  const browser = await launchChromium();
  t.teardown(() => browser.close());
  const url = `http://127.0.0.1:${ports.UI_PORT}`;
  return {
    console: url,
    waf: `http://127.0.0.1:${ports.WAF_PORT}`,
    api: `http://127.0.0.1:${ports.API_PORT}`,
    browser,
    async open(width = 1440) {
      const context = await browser.newContext({
        baseURL: url,
        viewport: { width, height: 900 },
        // colours that are still changing have no contrast to measure
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      watchRequests(page);
      page.setDefaultTimeout(45_000);
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/.test(message.text())) complaints.push(message.text());
      });
      return { page, complaints };
    },
  };
}

/** The first login of an installation, up to a password of one's own. */
export async function chooseOwnPassword(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(firstPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Choose your own password' }).waitFor();
  await page.getByLabel('Current password').fill(firstPassword);
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('New password, again').fill(password);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
}

/** Asks the control plane with the session of the page. */
export const askApi = (page: Page, method: string, path: string, body?: unknown): Promise<number> =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
      return (await fetch(path, { method, headers, ...(body === null ? {} : { body }) })).status;
    },
    [method, path, body === undefined ? null : JSON.stringify(body)] as const,
  );

export const logIn = (page: Page, as = email, secret = password): Promise<void> => logInAs(page, as, secret);

/**
 * Follows a link to another page of the console as a click would, in the document that is there: to load one costs most
 * of a second. False where it did not: no document, the page that is open, or one that asks before it is left.
 */
const follow = (page: Page, path: string): Promise<boolean> =>
  page.evaluate(async (path) => {
    const shell = document.querySelector('.shell');
    const heading = document.querySelector('main h1');
    const isAsking = (): boolean => document.querySelector('dialog[open]') !== null;
    const isOtherPage = new URL(path, location.origin).pathname !== location.pathname;
    if (shell === null || heading === null || !isOtherPage || isAsking()) return false;
    const link = document.createElement('a');
    link.href = path;
    shell.append(link);
    link.click();
    link.remove();
    const atMost = performance.now() + 5000;
    while (heading.isConnected && !isAsking() && performance.now() < atMost)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return !heading.isConnected;
  }, path);

/** Opens a page of the console by its path, within the running application where it can. */
export async function go(page: Page, path: string): Promise<void> {
  if (!(await leavingRequests(page, () => follow(page, path)))) await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Opens a page and waits for its answers. */
export async function arrive(page: Page, path: string): Promise<void> {
  await go(page, path);
  await settled(page);
}
