// The browser of tests and of the programs that look at a running console.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { findPrograms, required, skipWithout, type Wanted } from '#api/testing/servers/programs';

const wanted: Wanted = {
  server: 'Chromium',
  untested: 'the console in a browser',
  install: 'apt-get install chromium',
  variable: 'GATEHOUSE_TEST_WITHOUT_BROWSER',
};
const directoryFound = findPrograms(['chromium']);

/** Why tests with a browser are skipped. */
export const withoutBrowser = skipWithout(directoryFound, wanted);

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: join(required(directoryFound, wanted), 'chromium'),
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
