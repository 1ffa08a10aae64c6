// What people do about findings, in a real browser: a report becomes findings, findings become chains, somebody takes
// one and changes its state, a report is built and downloaded; who may not is not offered it.
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { attackable, sarifOf } from './reports-of-tools.js';
import { press } from './page-checks/keyboard.js';
import {
  arrive,
  askApi,
  chooseOwnPassword,
  go,
  logIn,
  settled,
  startStack,
  withoutBrowser,
  type Stack,
} from './stack.js';
import { chooseMany } from './vulnerabilities/choose-many.js';
import { chainPage, components, counts, developerSees, mappings, testOfLogin } from './vulnerabilities/stages.js';

const viewer = { email: 'viewer@example.org', password: 'first-word-of-many-77', own: 'second-word-of-many-88' };

/** What the server counts. */
const totalOf = (page: Page, path: string): Promise<number> =>
  page.evaluate(async (path) => ((await (await fetch(path)).json()) as { total: number }).total, path);

async function makeApplication(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/imports');
  await page.getByRole('link', { name: 'Make an application first' }).click(); // where there is none, it says so
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Picture shop');
  await dialog.getByLabel('Exposure').selectOption('internet');
  await dialog.getByLabel('Criticality').selectOption('critical');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('.table-row', { hasText: 'Picture shop' }).waitFor();
  t.same(complaints, []);
}

async function importReport(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/imports');
  await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Picture shop' });
  const send = (name: string, text: string): Promise<void> =>
    page
      .getByLabel('Report', { exact: true })
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  await send('nonsense.txt', 'this is no report');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('alert').getByText('is of no format that is known').waitFor();
  await send('report.sarif', sarifOf(attackable));
  await page.getByRole('button', { name: 'What would it do?' }).click();
  await page.getByText('Nothing was kept.').waitFor();
  t.equal(await totalOf(page, '/api/v1/findings'), 0, 'a preview keeps nothing');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const outcome = page.getByRole('status').filter({ hasText: 'Imported' });
  await outcome.waitFor();
  t.match(await outcome.innerText(), /Read\s+3\s+New\s+3\s/, 'the counts are shown');
  await page.locator('.table-row', { hasText: 'house checker' }).click();
  await page.getByRole('dialog').getByText('Unchanged').waitFor();
  await page.keyboard.press('Escape');
  await outcome.getByRole('link', { name: 'See the findings' }).click();
  await page.getByText('3 of 3 shown').waitFor();
  t.same(complaints, []);
}

async function triage(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities?cwe=78');
  await page.getByText('1 of 1 shown').waitFor();
  t.equal(await page.locator('.table-row').count(), 1, 'the address holds the filter');
  await settled(page);
  await page.locator('.table-row').press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('heading', { name: 'OS command injection in the converter' }).waitFor();
  t.match(
    await drawer.innerText(),
    /What it is about[^]*How to fix it\s+Give what[^]*Code\s+2\s+const one = given;\s+3\s+use\(one\);[^]*convert\.ts/,
    'what is wrong, how it is fixed and the code come first',
  );
  await drawer.getByRole('link', { name: 'CWE-78, OS command injection' }).waitFor();
  t.match(page.url(), /finding=\d+/, 'a finding has an address');
  await drawer.getByLabel('New state').selectOption('in_progress');
  await drawer.getByText('It needs an assignee first').waitFor();
  t.ok(await drawer.getByRole('button', { name: 'Change the state' }).isDisabled());
  await drawer.getByRole('button', { name: 'Assign to me' }).click();
  await drawer.getByText('you', { exact: true }).waitFor();
  const whom = drawer.getByLabel('Assigned to').locator('option:checked');
  t.match(await whom.textContent(), /admin@gatehouse\.local/, 'people are chosen by name');
  await drawer.getByText('Assigned.', { exact: true }).waitFor(); // a note lies above what is open, not below it
  await drawer.getByLabel('New state').selectOption('resolved');
  await drawer.getByRole('button', { name: 'Change the state' }).click();
  await drawer.getByRole('alert').getByText('is needed').waitFor(); // a reason is, and it says so
  await drawer.getByLabel('Why', { exact: true }).fill('the converter is gone');
  await drawer.getByRole('button', { name: 'Change the state' }).click();
  await drawer.getByText('new → resolved').waitFor();
  t.match(await drawer.innerText(), /the converter is gone/, 'the history has the reason');
  await page.keyboard.press('Escape');
  await page.getByText('0 of 0 shown').waitFor(); // only what is open is listed unless one asks
  await page.getByLabel('State', { exact: true }).selectOption('closed');
  await page.locator('.table-row').click();
  await drawer.getByLabel('New state').selectOption('reopened');
  await drawer.getByLabel('Why', { exact: true }).fill('it is back');
  await drawer.getByRole('button', { name: 'Change the state' }).click();
  await drawer.getByText('resolved → reopened').waitFor();
  await go(page, '/vulnerabilities?cwe=78');
  await page.locator('.table-row').getByText('admin@gatehouse.local').waitFor(); // the list says who works on it
  await page.getByLabel('Assigned to').selectOption({ label: 'unassigned' });
  await page.getByText('0 of 0 shown').waitFor();
  t.match(await page.locator('.filter-chip', { hasText: 'assignee' }).innerText(), /unassigned/, 'named');
  t.same(complaints, []);
}

/** What the risk is made of, where it was seen, a risk by hand, and what people say. */
async function look(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities?cwe=78');
  await page.locator('.table-row').click();
  const drawer = page.getByRole('dialog');
  await settled(page); // what arrives moves what is below it
  await drawer.getByText('What the risk is made of').click();
  await drawer.getByText('severity (CVSS)').waitFor();
  await drawer.getByText('Where it was seen').click();
  await drawer.getByText(/house checker, last/).waitFor();
  await drawer.locator('summary', { hasText: 'Set the risk by hand' }).click();
  await drawer.getByLabel('Risk by hand').fill('101');
  await drawer.getByText('Write a whole number from 0 to 100.').waitFor();
  await drawer.getByLabel('Risk by hand').fill('7');
  const set = drawer.getByRole('button', { name: 'Set the risk by hand' });
  t.ok(await set.isDisabled(), 'a reason is needed');
  await drawer.getByLabel('Why is it so').fill('nobody reaches it');
  await set.click();
  await drawer.getByText('7 of 100, set by hand').waitFor();
  await drawer.getByLabel('Comment').fill('The new converter\ncomes in May.');
  await drawer.getByRole('button', { name: 'Add the comment' }).click();
  const said = drawer.locator('li', { hasText: 'comes in May.' });
  t.match(await said.innerText(), /The new converter\ncomes in May\./, 'a line break is one, and no sign of it');
  await drawer.getByRole('button', { name: 'Take back' }).click();
  await drawer.getByText('taken back').waitFor();
  await page.keyboard.press('Escape');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ]);
  const lines = (await readFile((await download.path()) ?? '', 'utf8')).trim().split('\n');
  t.equal(lines.length, 2, 'a heading and the one finding that the filters show');
  t.same(complaints, []);
}

async function numbersAgree(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/applications');
  await page.locator('.table-row', { hasText: 'Picture shop' }).click();
  const figures = page.getByRole('dialog').locator('a.figure', { hasText: ', open' });
  await figures.first().waitFor();
  const told = await figures.evaluateAll((all) =>
    all.map((one) => [one.getAttribute('href') ?? '', one.querySelector('.value')?.textContent ?? ''] as const),
  );
  t.equal(told.length, 5);
  for (const [href, value] of told) {
    await go(page, href);
    await page.getByText(`${value} of ${value} shown`).waitFor();
    t.pass(`${href}: the list has the ${value} that the number says`);
  }
  t.same(complaints, []);
}

async function chains(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/chains');
  const chain = page.locator('.chain').first();
  await chain.waitFor();
  const hops = await chain.locator('.hop-title').allInnerTexts();
  t.ok(hops.length >= 2 && hops.every((title) => attackable.some((one) => one.title === title)), hops.join(' → '));
  t.match(await chain.innerText(), /not proven/, 'whether it is proven is said');
  const boxes = await chain.locator('.hop').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  t.same(
    boxes,
    [...boxes].sort((one, other) => one - other),
    'the hops go from left to right',
  );
  const stats = await page.evaluate(
    async () =>
      ((await (await fetch('/api/v1/graph/attack-chains')).json()) as { stats: { chains: number } }).stats.chains,
  );
  t.equal(await page.locator('.chain').count(), stats, 'as many pictures as chains');
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.locator('.table-row').first().waitFor();
  t.equal(await page.locator('.table-row').count(), stats, 'as many rows as chains');
  await page.locator('.table-row').first().click();
  await page.locator('.table .chain').waitFor(); // its picture, below its row
  await page.getByRole('tab', { name: 'Fix first' }).click();
  await page.locator('.table-row').first().getByRole('link').click();
  await page.getByRole('dialog').getByText('Risk', { exact: true }).waitFor();
  t.same(complaints, []);
}

async function reports(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/reports');
  for (const [format, begins] of [
    ['csv', /chain/i],
    ['pdf', /^%PDF-/],
    ['html', /<!doctype html>/i],
  ] as const) {
    await page.getByLabel('Title', { exact: true }).fill(`of ${format}`);
    await page.getByLabel('Format', { exact: true }).selectOption(format);
    await press(page, page.getByRole('button', { name: 'Build a report' }));
    const row = page.locator('.table-row', { hasText: `of ${format}` });
    await row.waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page, row.getByRole('link', { name: 'Download' })), // by keyboard
    ]);
    t.match(download.suggestedFilename(), new RegExp(`^report-\\d+\\.${format}$`));
    t.match(await readFile((await download.path()) ?? '', 'latin1'), begins, `${format} is what it says`);
  }
  await page.getByLabel(/^Open Findings/).uncheck();
  await page.getByLabel(/^Attacks and Decisions/).uncheck();
  await page.getByLabel('Title', { exact: true }).fill('of one section');
  await page.getByRole('button', { name: 'Build a report' }).click();
  const one = page.locator('.table-row', { hasText: 'of one section' });
  await one.waitFor();
  t.match(await one.innerText(), /attack chains/, 'the list says what a report holds');
  t.notMatch(await one.innerText(), /open findings/, 'what was left out is not in it');
  t.match(await page.locator('.table-row', { hasText: 'of html' }).innerText(), /attack chains, open findings/);
  await page.getByLabel(/^Attack Chains/).uncheck();
  t.ok(await page.getByRole('button', { name: 'Build a report' }).isDisabled(), 'a report of nothing is none');
  await page.locator('.table-row', { hasText: 'of csv' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('.table-row', { hasText: 'of csv' }).waitFor({ state: 'detached' });
  t.same(complaints, []);
}

/** A repository says what was pushed, and everybody may see the last verdict. */
async function hooks(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/gates?view=hooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('pictures');
  await dialog.getByLabel('Repository').fill('shop/pictures');
  await dialog.getByLabel('Application').selectOption({ label: 'Picture shop' });
  t.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'a secret is needed');
  await dialog.getByRole('button', { name: 'Make one' }).click();
  t.match(await dialog.getByLabel('Secret').inputValue(), /^[0-9a-f]{48}$/);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('.table-row', { hasText: 'shop/pictures' }).waitFor();
  await go(page, '/vulnerabilities/gates?view=connect');
  await page.getByLabel('Application').selectOption({ label: 'Picture shop' });
  await page.getByRole('button', { name: 'Make an address' }).click();
  const address = await page.locator('.notice code').innerText();
  const seen = await fetch(address);
  t.match(seen.headers.get('content-type') ?? '', /svg/, 'without a login, too');
  await page.getByRole('button', { name: 'End the address' }).click();
  await page.getByText('The address shows nothing any more.').waitFor();
  t.equal((await fetch(address)).status, 404);
  t.same(complaints, []);
}

/** A published list is imported by hand, and one vulnerability is looked up. */
async function exploits(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/exploits?view=lists');
  const list = [
    '#model_version:v2025.03.14,score_date:2026-11-20T00:00:00+0000',
    'cve,epss,percentile',
    'CVE-2021-44228,0.94358,0.99957',
  ];
  const buffer = Buffer.from(`${list.join('\n')}\n`);
  await page.getByLabel('File').setInputFiles({ name: 'epss.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.locator('.table-row', { hasText: 'EPSS' }).getByText('imported', { exact: true }).waitFor();
  await go(page, '/vulnerabilities/exploits?view=look-up');
  await page.getByLabel('CVE').fill('cve-2021-44228');
  await page.keyboard.press('Enter');
  await page.getByText('94.4 %').waitFor();
  t.match(page.url(), /cve=CVE-2021-44228/, 'the address holds what was looked up');
  t.same(complaints, []);
}

async function viewerCannot(t: Test, stack: Stack): Promise<void> {
  const admin = await stack.open();
  await logIn(admin.page);
  const user = { email: viewer.email, name: 'V', role: 'viewer', password: viewer.password };
  t.equal(await askApi(admin.page, 'POST', '/api/users', user), 201);
  const { page, complaints } = await stack.open();
  await page.goto('/');
  await page.getByLabel('E-mail').fill(viewer.email);
  await page.getByLabel('Password').fill(viewer.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Current password').fill(viewer.password);
  await page.getByLabel('New password', { exact: true }).fill(viewer.own);
  await page.getByLabel('New password, again').fill(viewer.own);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.locator('.shell').waitFor();
  await arrive(page, '/vulnerabilities?cwe=78');
  await page.locator('.table-row').click();
  await page.getByRole('dialog').getByRole('heading', { name: 'History' }).waitFor();
  t.equal(await page.getByLabel('New state').count(), 0, 'no change of state is offered');
  await arrive(page, '/vulnerabilities/imports');
  t.equal(await page.getByLabel('Report', { exact: true }).count(), 0, 'no import');
  await arrive(page, '/vulnerabilities/imports?view=mappings');
  t.equal(await page.getByRole('button', { name: 'New mapping' }).count(), 0, 'no mapping');
  await arrive(page, '/vulnerabilities/components');
  t.equal(await page.getByRole('button', { name: 'Match with advisories' }).count(), 0, 'no match by hand');
  await arrive(page, '/vulnerabilities/applications');
  t.equal(await page.getByRole('button', { name: 'New application' }).count(), 0, 'no new application');
  await arrive(page, '/vulnerabilities/reports');
  t.equal(await page.getByRole('button', { name: 'Build a report' }).count(), 0, 'no report is built');
  t.equal(await askApi(page, 'POST', '/api/v1/applications', { name: 'mine' }), 403, 'the server refuses anyway');
  await developerSees(t, admin.page, page);
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('vulnerabilities in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('V1: an application is made where there is none', (t) => makeApplication(t, stack));
  await t.test('V2: a report is tried, imported and counted; what is none is refused', (t) => importReport(t, stack));
  await t.test('V2b: some findings, a range and all that are shown are chosen', (t) => chooseMany(t, stack));
  await t.test('V3: a finding is found, taken and moved, with its history', (t) => triage(t, stack));
  await t.test('V3b: a finding shows what its risk is made of, where it was seen, and what people say', (t) =>
    look(t, stack),
  );
  await t.test('V4: each number of an application is the count of its list', (t) => numbersAgree(t, stack));
  await t.test('V4b: each count beside the filters is the length of its list', (t) => counts(t, stack));
  await t.test('V5: chains are pictures, a table, and what to fix first', (t) => chains(t, stack));
  await t.test('V5b: a chain has an address, and says why it is one', (t) => chainPage(t, stack));
  await t.test('V5c: a report of another format is tried with a mapping', (t) => mappings(t, stack));
  await t.test('V5d: components are listed, opened and matched', (t) => components(t, stack));
  await t.test('V6: reports are built, downloaded and deleted', (t) => reports(t, stack));
  await t.test('V6b: a repository is heard, and its verdict has an address', (t) => hooks(t, stack));
  await t.test('V6c: a list of what is exploited is imported and asked', (t) => exploits(t, stack));
  await t.test('V6d: the provider of the login is tested beside its settings', (t) => testOfLogin(t, stack));
  await t.test('V7: a viewer reads, and is offered nothing else', (t) => viewerCannot(t, stack));
});
