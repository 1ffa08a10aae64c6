// More of what people do about findings, as stages of `vulnerabilities.test.ts`: they share its installation, and find
// the application and the three findings that its first stages have made.
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { billOf } from '../reports-of-tools.js';
import { arrive, askApi, go, logIn, settled, type Stack } from '../stack.js';

const application = 'Picture shop';

/** Every count beside the filters is the length of the list that it opens. */
export async function counts(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities');
  await page.locator('summary', { hasText: 'Counts' }).click();
  const bars = page.locator('.bar');
  await bars.first().waitFor();
  t.match(page.url(), /counts=1/, 'the address says that they are open');
  const told = await bars.evaluateAll((all) => all.map((one) => one.textContent.trim()));
  t.ok(told.length >= 5, told.join('; '));
  for (const label of told) {
    const count = / (\d+)$/.exec(label)?.[1] ?? '';
    const bar = page.getByRole('button', { name: label, exact: true });
    await bar.click();
    await page.getByText(`${count} of ${count} shown`).waitFor();
    await settled(page);
    t.equal(await bar.getAttribute('aria-pressed'), 'true', `${label}: the list has as many`);
    await bar.click();
    await page.getByText('3 of 3 shown').waitFor();
  }
  t.same(complaints, []);
}

/** A format that nobody knows: its names are taken from a report, and the report is tried with them. */
export async function mappings(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/imports?view=mappings');
  await page.getByText('No mapping', { exact: true }).waitFor();
  const report = JSON.stringify({
    found: { all: [{ what: { name: 'Open port' }, level: 'blocker' }, { level: 'x' }] },
  });
  const file = { name: 'report.json', mimeType: 'application/json', buffer: Buffer.from(report) };
  await page.getByRole('button', { name: 'New mapping' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('house');
  await dialog.getByLabel('Take names from a report').setInputFiles(file);
  await dialog.getByRole('alert').getByText('There is no list of rows at its top.').waitFor();
  await dialog.getByLabel('Where the list is').fill('found.all');
  await dialog.getByText('2 names were found').waitFor();
  t.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'a title is needed');
  await dialog.getByLabel('Title', { exact: true }).fill('what.name');
  await dialog.getByText('First row: Open port').waitFor();
  await dialog.getByLabel('Severity', { exact: true }).fill('level');
  await dialog.getByLabel('Words for severities').fill('blocker = gravest');
  await dialog.getByRole('alert').getByText('Line 1').waitFor();
  await dialog.getByLabel('Words for severities').fill('blocker = critical');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.locator('.table-row', { hasText: 'house' });
  await row.getByRole('button', { name: 'Change' }).click();
  t.ok(await dialog.getByLabel('Name', { exact: true }).isDisabled(), 'its name stays');
  t.equal(await dialog.getByLabel('Words for severities').inputValue(), 'blocker = critical');
  await dialog.getByLabel('Rule of the tool').fill('level');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('Rule of the tool').waitFor();
  await row.getByRole('link', { name: 'Try on a file' }).click();
  await page.getByLabel('Application', { exact: true }).selectOption({ label: application });
  await page.getByLabel('Report', { exact: true }).setInputFiles(file);
  await page.getByRole('button', { name: 'What would it do?' }).click();
  const outcome = page.getByRole('status').filter({ hasText: 'Nothing was kept.' });
  await outcome.waitFor();
  t.match(await outcome.innerText(), /Read\s+2\s+New\s+1\s[^]*Dropped\s+1\s[^]*has no title: 1/);
  await go(page, '/vulnerabilities/imports?view=mappings');
  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No mapping', { exact: true }).waitFor();
  t.same(complaints, []);
}

/** What a bill of materials lists is found, opened and matched. */
export async function components(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/components');
  await page.getByRole('link', { name: 'Import a bill of materials' }).click();
  await page.getByLabel('Application', { exact: true }).selectOption({ label: application });
  const buffer = Buffer.from(billOf(['left', 'right', 'left-pad']));
  const bill = { name: 'bom.json', mimeType: 'application/json', buffer };
  await page.getByLabel('Report', { exact: true }).setInputFiles(bill);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Imported' }).waitFor();
  await go(page, '/vulnerabilities/components?q=left');
  await page.getByText('2 of 2 shown').waitFor();
  await page.getByLabel('Needed').selectOption({ label: 'directly' });
  await page.getByText('1 of 1 shown').waitFor();
  await page.locator('.table-row').press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByText('pkg:npm/left@1.0.0').waitFor();
  await drawer.getByText('No open finding names it').waitFor();
  await page.keyboard.press('Escape');
  const match = page.getByRole('button', { name: 'Match with advisories' });
  t.ok(await match.isDisabled(), 'an application is chosen first');
  await page.getByLabel('Application', { exact: true }).selectOption({ label: application });
  await match.click();
  await page.getByText('3 components compared: 0 matches').waitFor();
  t.same(complaints, []);
}

/** A chain has an address; what counts for one is listed; what is none says so. */
export async function chainPage(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities/chains');
  await page.locator('.chain h3 a').first().click();
  await page.getByRole('heading', { name: 'Why this is a chain' }).waitFor();
  t.match(page.url(), /\/vulnerabilities\/chains\/chain[%:]/);
  await page.reload(); // the address alone is enough
  await page.getByText(/^Entry on Picture shop by /).waitFor();
  t.equal(
    await page.locator('.hop').count(),
    await page.getByText('Gives the attacker', { exact: true }).count(),
    'every hop says what it rests on',
  );
  await page.getByRole('button', { name: 'Describe it in words' }).click();
  await page.getByText('There is no description. No model is configured.').waitFor();
  await page.getByRole('link', { name: 'What counts' }).click();
  await page.getByText('4 of 22 rules are on.').waitFor();
  await page.getByLabel('Find', { exact: true }).fill('cwe-78');
  await page.getByText(/^1 of \d+ shown$/).waitFor();
  await arrive(page, '/vulnerabilities/chains/chain:1:kill-none');
  await page.getByText('This is no attack chain now').waitFor();
  t.same(complaints, []);
}

/** Single sign-on is tested beside its settings, and says what is wrong in words. */
export async function testOfLogin(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/admin/settings/logins');
  await page.getByRole('button', { name: 'Test the provider' }).click();
  await page.getByText('No provider is named.').waitFor();
  t.same(complaints, []);
}

/** Grants take away what a role has: who is given one application's findings is offered no page that is refused. */
export async function developerSees(t: Test, admin: Page, page: Page): Promise<void> {
  const read = (path: string) => page.evaluate(async (at) => (await (await fetch(at)).json()) as unknown, path);
  const { id } = (await read('/api/account')) as { id: string };
  const { items } = (await read('/api/v1/applications')) as { items: { id: string }[] };
  const grant = { scope: 'application', scope_id: items[0]?.id, role: 'developer' };
  t.equal(await askApi(admin, 'PUT', `/api/v1/rbac/grants/${id}`, { items: [grant], confined: true }), 200);
  await page.goto('/vulnerabilities'); // what a person may is read with the document
  const link = (bar: string, name: string) =>
    page.getByRole('navigation', { name: bar, exact: true }).getByRole('link', { name, exact: true });
  await link('Pages', 'Governance').waitFor();
  await go(page, '/compliance');
  await link('Compliance', 'Reports').waitFor({ state: 'detached' });
  t.equal(await link('Compliance', 'Audit log').count(), 1);
  await link('Pages', 'Governance').click();
  await page.getByRole('heading', { level: 1, name: 'Accepted risks' }).waitFor();
  t.equal(await link('Governance', 'Policies').count(), 0, 'an entry leads to the first tab that may be opened');
}
