// What an organisation keeps beside its findings, by hand in a browser: targets and groups, policies, assessments, and
// who may do what. Stages of governance.test.ts, whose installation has the application Ledger with three findings.
import type { Test } from 'tap';
import type { Locator, Page } from 'playwright-core';
import { arrive, askApi, logIn, type Stack } from '../stack.js';

const answerOf = <T>(page: Page, path: string): Promise<T> =>
  page.evaluate(async (path) => (await (await fetch(path)).json()) as T, path);

const button = (place: Page | Locator, name: string): Locator => place.getByRole('button', { name, exact: true });

/** Closes the drawer and the toasts above it stay: the next step looks at the list. */
const close = (page: Page): Promise<void> => page.keyboard.press('Escape');

async function deleteOpened(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await button(dialog, 'Delete').first().click();
  await dialog.filter({ hasText: '?' }).last().getByRole('button', { name: 'Delete', exact: true }).last().click();
  await page.getByText('Deleted.').first().waitFor();
}

export async function targets(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/targets');
  await button(page, 'New target').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Application').selectOption({ label: 'Ledger' });
  t.ok(await button(dialog, 'Save').isDisabled(), 'an address is needed');
  await dialog.getByLabel('Address').fill('https://ann:secret@ledger.example/');
  await button(dialog, 'Save').click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Address').fill('https://ledger.example/');
  await button(dialog, 'Save').click();
  await button(dialog, 'Edit').waitFor();
  t.match(page.url(), /target=\d+/, 'what was made is open, and has an address');
  await button(dialog, 'Edit').click();
  await dialog.getByLabel('Kind').selectOption('api');
  t.equal(await dialog.getByLabel('Application').count(), 0, 'what cannot be changed is not asked for');
  await button(dialog, 'Save').click();
  await button(dialog, 'Edit').waitFor();
  t.match(await dialog.locator('dl').innerText(), /Kind\s+API/);
  await close(page);
  await arrive(page, '/vulnerabilities/targets?kind=web');
  await page.getByText('0 of 0 shown').waitFor({ state: 'attached' });
  await page.getByRole('tab', { name: 'Groups' }).click();
  await button(page, 'New group').click();
  await dialog.getByLabel('Name').fill('Each quarter');
  await button(dialog, 'Save').click();
  await dialog.getByRole('checkbox', { name: /ledger\.example/ }).check();
  await button(dialog, 'Save its targets').click();
  await page.getByText('1 targets are in the group.').waitFor();
  await close(page);
  const row = page.locator('.table-row', { hasText: 'Each quarter' });
  await row.click();
  t.ok(await dialog.getByRole('checkbox', { name: /ledger\.example/ }).isChecked(), 'and still is');
  await deleteOpened(page);
  await row.waitFor({ state: 'detached' });
  t.same(complaints, []);
}

export async function policies(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/policies?add=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ledger is clean');
  await dialog.getByLabel('Field').selectOption('application_id');
  await dialog.getByLabel('Value').selectOption({ label: 'Ledger' });
  await dialog.getByLabel('What follows').selectOption({ label: 'is noted as a violation' });
  await button(dialog, 'Save').click();
  const count = dialog.getByText(/It holds for \d+ open findings\./);
  await count.waitFor();
  const { items } = await answerOf<{ items: { id: string }[] }>(page, '/api/v1/findings?status=open');
  t.match(await count.innerText(), `for ${items.length} open`, 'as many as the list of findings has');
  const heading = page.getByRole('heading', { name: 'Open findings that it holds for' });
  const held = dialog.locator('section', { has: heading });
  t.equal(await held.locator('.table-row').count(), items.length, 'each of them is listed');
  await dialog.getByRole('heading', { name: 'Violations' }).waitFor();
  t.match(await dialog.locator('dl').innerText(), /application is Ledger/, 'said by name');
  const row = page.locator('.table-row', { hasText: 'Ledger is clean' });
  // somebody else changes it meanwhile
  const id = new URL(page.url()).searchParams.get('policy') ?? '';
  await button(dialog, 'Edit').click();
  t.equal(await askApi(page, 'PATCH', `/api/v1/policies/${id}`, { enabled: false }), 200);
  await dialog.getByLabel('Name').fill('Written over');
  await button(dialog, 'Save').click();
  await dialog.getByRole('alert').waitFor();
  t.equal(await dialog.getByLabel('Name').inputValue(), 'Written over', 'what was typed stays');
  await close(page);
  await arrive(page, `/vulnerabilities/policies?policy=${id}`);
  await dialog.getByText('It is not in force').waitFor();
  await deleteOpened(page);
  await row.waitFor({ state: 'detached' });
  t.same(complaints, []);
}

export async function triageRules(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/rules?add=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ledger is old');
  await dialog.getByLabel('Field').selectOption('application_id');
  await dialog.getByLabel('Value').selectOption({ label: 'Ledger' });
  await dialog.getByLabel('Tag').fill('legacy code');
  await button(dialog, 'Add an effect').click();
  const second = dialog.getByRole('group', { name: 'Effect 2' });
  await second.getByLabel('Effect', { exact: true }).selectOption({ label: 'set the severity' });
  await second.getByLabel('Why').fill('it is switched off soon');
  await button(dialog, 'Save').click();
  await dialog.getByRole('heading', { name: 'What it would do now' }).waitFor();
  const said = await dialog.getByText(/It holds for \d+ open findings and would change \d+ of them\./).innerText();
  const { items } = await answerOf<{ items: { id: string }[] }>(page, '/api/v1/findings?status=open');
  t.match(said, `for ${items.length} open findings and would change ${items.length}`, 'as many as the list has');
  t.match(await dialog.locator('dl').innerText(), /adds the tag legacy code; makes it low/);
  t.equal(await dialog.locator('.table-row').count(), items.length, 'each change is shown');
  await close(page);
  const tagged = async (): Promise<number> =>
    (await answerOf<{ total: number }>(page, '/api/v1/findings?tag=legacy%20code')).total;
  t.equal(await tagged(), 0, 'nothing was done yet');
  await button(page, 'Apply to all open findings').click();
  await dialog.getByRole('button', { name: 'Apply to all open findings' }).click();
  const run = page.locator('.table-row', { hasText: 'all open findings' }).first();
  await run.getByText('done', { exact: true }).waitFor();
  t.equal(await tagged(), items.length);
  await run.getByRole('button', { name: /^Undo the run of/ }).click();
  await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
  await run.getByText('undone', { exact: true }).waitFor();
  t.equal(await tagged(), 0, 'it is taken back');
  const row = page.locator('.table-row', { hasText: 'Ledger is old' });
  await row.click();
  await deleteOpened(page);
  await row.waitFor({ state: 'detached' });
  t.same(complaints, []);
}

export async function assessments(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/assessments?add=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Autumn test');
  await dialog.getByLabel('Application').selectOption({ label: 'Ledger' });
  await dialog.getByLabel('Led by').selectOption({ label: 'S, operator@example.org' });
  await dialog.getByLabel('Checklist').fill('Sessions end\n\nUploads are checked');
  await button(dialog, 'Save').click();
  await dialog.getByText('0 of 2').waitFor();
  await dialog.getByLabel('Result of Sessions end').selectOption('pass');
  await dialog.getByText('1 of 2').waitFor();
  await button(dialog, 'Edit').click();
  t.equal(await dialog.getByLabel('Led by').inputValue(), 'operator@example.org', 'who leads it was chosen');
  for (const [next, offered] of [
    ['active', ['planned', 'active']],
    ['review', ['planned', 'active', 'review']],
  ] as const) {
    const values = dialog.getByLabel('State').locator('option');
    t.same(await values.evaluateAll((all) => all.map((one) => (one as { value?: string }).value)), offered);
    await dialog.getByLabel('State').selectOption(next);
    await button(dialog, 'Save').click();
    await button(dialog, 'Edit').click();
  }
  await dialog.getByLabel('State').selectOption('closed');
  await button(dialog, 'Save').click();
  await dialog.getByRole('alert').filter({ hasText: 'nobody has answered' }).waitFor();
  await close(page);
  const row = page.locator('.table-row', { hasText: 'Autumn test' });
  await row.click();
  await dialog.getByLabel('Result of Uploads are checked').selectOption('fail');
  await dialog.getByLabel('Note on Uploads are checked').fill('by name only');
  await dialog.getByLabel('Add to the checklist').click(); // the note is stored when it is left
  await dialog.getByText('2 of 2').waitFor();
  await button(dialog, 'Edit').click();
  await dialog.getByLabel('State').selectOption('closed');
  await button(dialog, 'Save').click();
  await button(dialog, 'Edit').waitFor();
  t.equal(await dialog.getByLabel('Note on Uploads are checked').inputValue(), 'by name only', 'answers are kept');
  await close(page);
  await row.getByText('closed').waitFor();
  t.match(await row.innerText(), /closed[^]*2 of 2[^]*1 failed/);
  t.same(complaints, []);
}

export async function roles(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/admin/users?view=roles&add=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('gate-keeper');
  await dialog.getByRole('searchbox').fill('gate');
  await button(dialog, 'Choose all shown').click();
  await button(dialog, 'Save').click();
  await dialog.getByText(/view gates, manage gates, override gate/).waitFor();
  await close(page);
  await page.getByRole('tab', { name: 'Users' }).click();
  const person = page.locator('.table-row', { hasText: 'reader@example.org' });
  await person.locator('td').first().click();
  await dialog.getByText('The role of the account counts everywhere: viewer.').waitFor();
  await dialog.getByRole('table', { name: 'Sessions' }).getByText('127.0.0.1').first().waitFor(); // where they are in
  await button(dialog, 'Give a role').click();
  await dialog.getByLabel('Role', { exact: true }).selectOption('gate-keeper');
  await dialog.getByLabel('Where').selectOption('application');
  t.ok(await button(dialog, 'Save the roles').isDisabled(), 'in which one is not said yet');
  await dialog.getByLabel('Which').selectOption({ label: 'Ledger' });
  await button(dialog, 'Save the roles').click();
  await page.getByText('The roles count from the next request on.').waitFor();
  await close(page);
  await page.getByRole('tab', { name: 'What each role may do' }).click();
  const manager = page.getByRole('table', { name: 'Vulnerability manager' });
  await manager.getByRole('columnheader', { name: 'gate-keeper' }).waitFor();
  await page.getByLabel('Words of a permission or an operation').fill('POST apply');
  const right = page.getByRole('grid', { name: 'Firewall, APIs and administration' }).locator('.table-row');
  await right.first().click();
  await dialog.getByText('POST /api/apply', { exact: true }).waitFor();
  await close(page);
  await page.getByRole('tab', { name: 'Roles of your own' }).click();
  await page.locator('.table-row', { hasText: 'gate-keeper' }).click();
  await button(dialog, 'Delete').click();
  await dialog.filter({ hasText: 'Delete the role?' }).last().getByRole('button', { name: 'Delete' }).last().click();
  await page.getByRole('alert').filter({ hasText: 'granted to somebody' }).waitFor();
  t.same(complaints, []);
}
