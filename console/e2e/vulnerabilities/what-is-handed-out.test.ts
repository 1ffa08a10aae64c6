// What leaves the installation, in a real browser: evidence is built and verified, templates are written, the brand is
// changed.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from '../page-checks/checks.js';
import { arrive, askApi, chooseOwnPassword, startStack, withoutBrowser, type Stack } from '../stack.js';

/** No finding of axe, nothing wider than the window, in both widths; leaves the window wide. */
async function looksRight(t: Test, page: Page, name: string): Promise<void> {
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    t.same(await tooWide(page), [], `${name}: ${width} fits`);
    t.same(await seriousOn(page), [], `${name}: ${width} has no serious finding of axe`);
  }
}

async function evidence(t: Test, { page, complaints }: Awaited<ReturnType<Stack['open']>>): Promise<void> {
  await arrive(page, '/vulnerabilities/evidence?view=files');
  const file = { name: 'policy.md', mimeType: 'text/markdown', buffer: Buffer.from('# Policy') };
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByLabel('What it shows').fill('Who reviews code');
  await page.getByLabel('Controls', { exact: true }).fill('pci-dss:1');
  await page.getByRole('button', { name: 'Add a file' }).click();
  await page.getByText(/pci-dss:1, which no framework has/).waitFor();
  await page.getByLabel('Controls', { exact: true }).fill('pci-dss:6.2.4');
  await page.getByRole('button', { name: 'Add a file' }).click();
  const row = page.locator('.table-row', { hasText: 'policy.md' });
  await row.waitFor();
  await row.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The bytes are those that were added.').waitFor();
  await looksRight(t, page, 'evidence files');
  await arrive(page, '/vulnerabilities/evidence');
  await page.getByLabel('Title').fill('Audit of spring');
  await page.getByLabel('Framework').selectOption('pci-dss');
  await page.getByRole('button', { name: 'Build a pack' }).click();
  const drawer = page.getByRole('dialog', { name: 'Audit of spring' });
  await drawer.getByRole('link', { name: 'Download' }).waitFor();
  t.match(await drawer.innerText(), /files\/\d+-policy\.md/, 'the file is in it');
  await drawer.getByRole('button', { name: 'Verify' }).click();
  await drawer.getByText('The pack holds').waitFor();
  const waiting = page.waitForEvent('download');
  await drawer.getByRole('link', { name: 'Download' }).click();
  const downloaded = await waiting;
  t.match(downloaded.suggestedFilename(), /^evidence-\d+\.zip$/);
  await drawer.getByRole('button', { name: 'Hold', exact: true }).click();
  await drawer.getByRole('button', { name: 'End the hold' }).waitFor();
  await looksRight(t, page, 'evidence pack');
  t.equal(await askApi(page, 'POST', '/api/v1/applications', { name: 'shop' }), 201);
  await arrive(page, '/vulnerabilities/evidence');
  await page.getByLabel('Title').fill('Of the shop');
  await page.getByText('Sections', { exact: true }).click();
  await page.getByLabel('Audit log').waitFor();
  await page.getByLabel('Application', { exact: true }).selectOption('shop');
  t.equal(await page.getByLabel('Audit log').count(), 0, 'what is about the whole organisation is not offered');
  await page.getByLabel('Attack chains').uncheck();
  await page.getByRole('button', { name: 'Build a pack' }).click();
  const own = page.getByRole('dialog', { name: 'Of the shop' });
  await own.getByRole('link', { name: 'Download' }).waitFor();
  t.match(await own.innerText(), /items\/findings\.jsonl/);
  t.notMatch(await own.innerText(), /chains\.json/, 'without what was left out');
  await arrive(page, '/vulnerabilities/evidence?view=verification');
  await page.getByLabel('Pack', { exact: true }).setInputFiles(await downloaded.path());
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The pack holds').waitFor();
  await looksRight(t, page, 'evidence verification');
  t.same(complaints, []);
}

async function templates(t: Test, { page, complaints }: Awaited<ReturnType<Stack['open']>>): Promise<void> {
  await arrive(page, '/admin/templates');
  await page.locator('.table-row', { hasText: 'Tickets' }).first().click();
  const drawer = page.getByRole('dialog', { name: 'Default' });
  await drawer.getByLabel('Title', { exact: true }).fill('Fix {{tittle}}');
  await drawer.getByRole('button', { name: 'Check' }).click();
  await drawer.getByText(/title, line 1, column 5: .*which no finding has/).waitFor();
  await drawer.getByLabel('Title', { exact: true }).fill('Fix: {{title}}');
  await drawer.getByRole('button', { name: 'Preview' }).click();
  await drawer.getByText('Fix: SQL injection in the search of orders').waitFor();
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByRole('button', { name: 'Restore the text of the release' }).waitFor();
  await looksRight(t, page, 'template');
  await drawer.getByRole('button', { name: 'Restore the text of the release' }).click();
  await page.getByText('Restored as a new version.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Name', { exact: true }).fill('Pentest');
  await page.getByRole('button', { name: 'Create' }).click();
  const own = page.getByRole('dialog', { name: 'Pentest' });
  await own.getByRole('button', { name: 'Delete' }).click();
  await own.waitFor({ state: 'detached' });
  await looksRight(t, page, 'templates');
  t.same(complaints, []);
}

const svg = (inner: string): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inner}</svg>`);

async function branding(
  t: Test,
  stack: Stack,
  { page, complaints }: Awaited<ReturnType<Stack['open']>>,
): Promise<void> {
  await arrive(page, '/admin/branding');
  await page.getByLabel('Name', { exact: true }).fill('Acme <Shield>');
  await page.getByLabel('Tagline').fill('Seen on the login page');
  await page.getByLabel('Colour').fill('#ffee88');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('is too near to a ground', { exact: false }).waitFor();
  const choose = (inner: string) =>
    page
      .getByLabel('Logo', { exact: true })
      .setInputFiles({ name: 'l.svg', mimeType: 'image/svg+xml', buffer: svg(inner) });
  await choose('<script>alert(1)</script>');
  await page.getByRole('button', { name: 'Upload the logo' }).click();
  await page.getByText(/the element script in line 1/).waitFor();
  await choose('<rect width="8" height="8" fill="#ffee88"/>');
  await page.getByRole('button', { name: 'Upload the logo' }).click();
  await page.getByRole('button', { name: 'Remove the logo' }).waitFor();
  await looksRight(t, page, 'branding');
  const { page: login, complaints: others } = await stack.open();
  await prepareChecks(login);
  await until('the login page has the name', async () => {
    await login.goto('/');
    return (await login.title()) === 'Acme <Shield>';
  });
  await login.getByText('Seen on the login page').waitFor();
  const widthOfLogo = () => document.querySelector<HTMLImageElement>('img')?.naturalWidth ?? 0;
  await until('the logo is drawn', async () => (await login.evaluate(widthOfLogo)) > 0);
  t.same(await seriousOn(login), [], 'the colour is readable on the login page');
  t.same([...complaints, ...others], []);
}

t.setTimeout(testMsMax);
t.test('what leaves the installation', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const opened = await stack.open();
  await prepareChecks(opened.page);
  await chooseOwnPassword(opened.page);
  await t.test('evidence is built, verified and held; files are added', (t) => evidence(t, opened));
  await t.test('templates are checked, tried, saved and restored', (t) => templates(t, opened));
  await t.test('the login page has name, colour and logo as saved', (t) => branding(t, stack, opened));
});
