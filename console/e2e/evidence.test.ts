// What is shown to those who ask for proof, in a real browser: compliance with its evidence, the posture of
// applications, and what leaves as a file.
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import type { Locator, Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { attackable, sarifOf } from './reports-of-tools.js';
import { chooseOwnPassword, go, logIn, settled, startStack, withoutBrowser, type Stack } from './stack.js';

/** The text of what a click downloads, with its name. */
async function downloaded(page: Page, link: Locator): Promise<readonly [string, string]> {
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return [download.suggestedFilename(), await readFile((await download.path()) ?? '', 'utf8')];
}

async function compliance(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/compliance');
  const figure = page.getByRole('link', { name: /^PCI DSS/ });
  const [satisfied, all] = (await figure.locator('.value').innerText()).split(' of ').map(Number);
  await figure.click();
  const rows = page.getByRole('grid', { name: 'Controls' }).locator('.table-row');
  await until('only its controls are listed', async () => (await rows.count()) === all);
  t.equal(await rows.filter({ hasNotText: /no evidence|not satisfied/ }).count(), satisfied, 'the figure is the list');
  await page.getByRole('switch', { name: 'Only what is not satisfied' }).focus();
  await page.keyboard.press('Space');
  await until('those are left out', async () => (await rows.count()) === (all ?? 0) - (satisfied ?? 0));
  await page.keyboard.press('Space');
  await until('all are back', async () => (await rows.count()) === all);
  await rows.filter({ hasText: '6.4.2' }).focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Control' });
  await drawer.getByRole('heading', { name: 'Settings it rests on' }).first().waitFor();
  t.match(await drawer.innerText(), /mode[^]*enforced by/, 'a setting, its value, and what enforces it');
  await page.keyboard.press('Escape');
  for (const [name, file, begins] of [
    ['CSV', /^compliance-[\d-]+\.csv$/, /^[^\n]*,/],
    ['HTML', /^compliance-[\d-]+\.html$/, /^<!doctype html>/i],
    ['OSCAL', /^compliance-[\d-]+\.json$/, /"assessment-results"/],
  ] as const) {
    const [given, text] = await downloaded(page, page.getByRole('link', { name: `Download as ${name}` }));
    t.match(given, file);
    t.match(text, begins, `${name} is what it says`);
    t.notMatch(text, /SOC 2/, 'of this framework only');
  }
  t.same(complaints, []);
}

/** An application with findings of a report, as the API takes them. */
const importFindings = (page: Page): Promise<string> =>
  page.evaluate(async (report) => {
    const headers = { 'x-gatehouse-request': '1' };
    const made = await fetch('/api/v1/applications', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: '<b>Shop</b>', exposure: 'internet', business_criticality: 'high' }),
    });
    const { id } = (await made.json()) as { id: string };
    const form = new FormData();
    form.set('application_id', id);
    form.set('file', new File([report], 'r.sarif'));
    await fetch('/api/v1/imports', { method: 'POST', headers, body: form });
    return id;
  }, sarifOf(attackable));

async function posture(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/posture');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await importFindings(page);
  const figure = page.getByRole('link', { name: /^Open findings/ });
  await until('they are counted', async () => {
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
    return (await figure.count()) > 0 && Number(await figure.locator('.value').innerText()) === attackable.length;
  });
  await page.locator('.chart canvas').first().waitFor();
  await page.getByText('As a table').focus();
  await page.keyboard.press('Enter'); // the same for those who do not see lines
  t.equal(await page.getByRole('table', { name: 'As a table' }).locator('.table-row').count(), 1, 'one day so far');
  const cell = page.getByRole('table', { name: 'Applications by source' }).locator('a.heat').first();
  const counted = Number(await cell.innerText());
  await cell.click();
  await page.getByText(`${counted} of ${counted} shown`).waitFor();
  for (const factor of ['open critical findings', 'open high findings', 'findings past their due date']) {
    await go(page, '/vulnerabilities/posture');
    const row = page.locator('.table-row', { has: page.getByRole('link', { name: factor, exact: true }) });
    const count = Number(await row.locator('td').nth(1).innerText());
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Findings', level: 1 }).waitFor();
    await page
      .getByText(count === 0 ? /No finding|Nothing/ : `${count} of ${count} shown`)
      .first()
      .waitFor();
  }
  t.equal(await page.locator('main b').count(), 0, 'names are text');
  t.same(complaints, []);
}

async function vex(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/reports');
  t.ok(await page.getByRole('button', { name: 'Download', exact: true }).isDisabled(), 'first an application');
  const card = page.locator('section').filter({ hasText: 'VEX: what affects you' });
  await card.getByLabel('Application', { exact: true }).selectOption({ index: 1 });
  for (const [format, begins] of [
    ['OpenVEX', /openvex/],
    ['CSAF 2.0', /csaf_vex|"category"/],
    ['CycloneDX', /"CycloneDX"/],
  ] as const) {
    await page.getByLabel('VEX format').selectOption({ label: format });
    const [name, text] = await downloaded(page, page.getByRole('link', { name: 'Download', exact: true }));
    t.match(name, /^application-\d+\.\w+\.json$/);
    t.match(text, begins, `${format} is what it says`);
    t.doesNotThrow(() => JSON.parse(text) as unknown);
  }
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('evidence in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await t.test('P1: controls are answered, opened and downloaded', (t) => compliance(t, stack));
  await t.test('P2: the posture counts what its lists show', (t) => posture(t, stack));
  await t.test('P3: VEX leaves as a file', (t) => vex(t, stack));
});
