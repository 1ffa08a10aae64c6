// What an organisation decides about findings, in a real browser: many are changed at once, filters are kept, risks are
// accepted by somebody else than who asks, noise is muted, deadlines get terms, and gates answer pipelines.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { attackable, sarifOf } from './reports-of-tools.js';
import { tickets } from './resources/ticket-stage.js';
import { assessments, policies, roles, targets, triageRules } from './resources/stages.js';
import { arrive, askApi, chooseOwnPassword, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

const second = { email: 'operator@example.org', password: 'first-word-of-many-77', own: 'second-word-of-many-88' };
const reader = { email: 'reader@example.org', password: 'first-word-of-many-79', own: 'second-word-of-many-89' };
type Account = typeof second;

const totalOf = (page: Page, path: string): Promise<number> =>
  page.evaluate(async (path) => ((await (await fetch(path)).json()) as { total: number }).total, path);

/** An application with three findings of one commit; returns its number. */
const storeFindings = (page: Page, commit: string): Promise<string> =>
  page.evaluate(
    async ([report, commit]) => {
      const headers = { 'x-gatehouse-request': '1' };
      const json = { ...headers, 'content-type': 'application/json' };
      const post = async (path: string, body: unknown): Promise<{ id: string }> =>
        (await (await fetch(path, { method: 'POST', headers: json, body: JSON.stringify(body) })).json()) as {
          id: string;
        };
      const { id } = await post('/api/v1/applications', { name: 'Ledger', exposure: 'internet' });
      const run = await post('/api/v1/ci/runs', { application_id: id, commit, branch: 'main', provider: 'a pipeline' });
      const form = new FormData();
      form.set('file', new File([report], 'report.sarif'));
      await fetch(`/api/v1/ci/runs/${run.id}/artifacts`, { method: 'POST', headers, body: form });
      await fetch(`/api/v1/ci/runs/${run.id}/complete`, { method: 'POST', headers });
      return id;
    },
    [sarifOf(attackable), commit] as const,
  );

/** Makes an account and logs it in with a password of its own. */
async function openAs(stack: Stack, role: string, who: Account): Promise<{ page: Page; complaints: string[] }> {
  const admin = await stack.open();
  await logIn(admin.page);
  await askApi(admin.page, 'POST', '/api/users', { email: who.email, name: 'S', role, password: who.password });
  const opened = await stack.open();
  const { page } = opened;
  await page.goto('/');
  await page.getByLabel('E-mail').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Current password').fill(who.password);
  await page.getByLabel('New password', { exact: true }).fill(who.own);
  await page.getByLabel('New password, again').fill(who.own);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.locator('.shell').waitFor();
  return opened;
}

async function savedFilters(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities?cwe=78&status=open');
  await page.getByText('1 of 1 shown').waitFor();
  await page.getByRole('button', { name: 'Save this filter' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the filter').fill('Commands');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const saved = page.getByLabel('Saved filters');
  await saved.waitFor();
  await arrive(page, '/vulnerabilities');
  await page.getByText('3 of 3 shown').waitFor();
  await saved.selectOption({ label: 'Commands' });
  await page.getByText('1 of 1 shown').waitFor();
  t.match(page.url(), /view=\d+/, 'a saved filter has an address');
  await page.getByLabel('Severity', { exact: true }).selectOption('low');
  await page.getByText('0 of 0 shown').waitFor();
  await page.getByLabel('Severity', { exact: true }).selectOption('');
  await page.getByText('1 of 1 shown').waitFor();
  await page.getByRole('button', { name: 'Delete this filter' }).click();
  await page.getByText('3 of 3 shown').waitFor();
  await arrive(page, '/vulnerabilities?sla_state=breached');
  await page.getByRole('button', { name: 'Save this filter' }).click();
  await page.getByText('A saved filter cannot hold sla_state').waitFor();
  t.same(complaints, []);
}

async function bulk(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities');
  await page.getByRole('checkbox', { name: /OS command injection/ }).check();
  const bar = page.getByRole('region', { name: 'Chosen findings' });
  await bar.getByText('1 chosen').waitFor();
  await bar.getByRole('button', { name: 'Choose all 3 that match' }).click();
  await bar.getByText('3 chosen').waitFor();
  await bar.getByRole('button', { name: 'Change them' }).click();
  await page.keyboard.press('Escape');
  await bar.getByText('3 chosen').waitFor(); // what was chosen stays so until something is done about it
  await bar.getByRole('button', { name: 'Change them' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This changes 3 findings').waitFor();
  t.match(await dialog.innerText(), /3 new/, 'their states are counted before');
  t.equal(await totalOf(page, '/api/v1/findings?status=triaged'), 0, 'nothing is changed by looking');
  await dialog.getByLabel('New state').selectOption('reopened'); // none of them can
  await dialog.getByRole('button', { name: 'Change 3 findings' }).click();
  await dialog.getByText('0 changed, 3 not').waitFor();
  t.match(await dialog.innerText(), /OS command injection in the converter: \S/, 'and why not');
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: /OS command injection/ }).check();
  await page.getByRole('checkbox', { name: /Hard-coded password/ }).check();
  await bar.getByRole('button', { name: 'Change them' }).click();
  await dialog.getByLabel('New state').selectOption('triaged');
  await dialog.getByRole('button', { name: 'Change 2 findings' }).click();
  await dialog.getByText('2 changed, 0 not').waitFor();
  t.equal(await totalOf(page, '/api/v1/findings?status=triaged'), 2);
  await page.keyboard.press('Escape');
  t.equal(await bar.count(), 0, 'nothing stays chosen');
  t.same(complaints, []);
}

async function ask(page: Page, finding: RegExp, title: string): Promise<void> {
  await arrive(page, '/vulnerabilities');
  await page.getByRole('checkbox', { name: finding }).check();
  await page.getByRole('button', { name: 'Ask for acceptance' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill(title);
  await dialog.getByLabel('Why it is tolerable').fill('nobody reaches that host');
  await dialog.getByRole('button', { name: 'Ask for acceptance' }).click();
  await page.getByText('It waits for the decision of another user.').waitFor();
}

async function acceptances(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await ask(page, /Hard-coded password/, 'My own question');
  await arrive(page, '/vulnerabilities/acceptances');
  await page.locator('.table-row', { hasText: 'My own question' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Another user has to decide').waitFor();
  t.ok(await dialog.getByRole('button', { name: 'Approve' }).isDisabled(), 'who asks does not decide');
  const other = await openAs(stack, 'operator', second);
  await ask(other.page, /OS command injection/, 'The old ledger goes in spring');
  await arrive(other.page, '/vulnerabilities/acceptances');
  await other.page.locator('.table-row', { hasText: 'My own question' }).click();
  await other.page.getByRole('dialog').getByText('nobody reaches that host').waitFor();
  t.equal(
    await other.page.getByRole('button', { name: 'Approve' }).count(),
    0,
    'an operator asks, and does not decide',
  );
  await arrive(page, '/vulnerabilities/acceptances?status=pending');
  await page.locator('.table-row', { hasText: 'The old ledger' }).click();
  await dialog.getByLabel('Reason').fill('agreed until spring');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The acceptance is approved.').waitFor();
  t.equal(await totalOf(page, '/api/v1/findings?status=risk_accepted'), 1);
  await arrive(page, '/vulnerabilities/acceptances?status=approved');
  await page.locator('.table-row', { hasText: 'The old ledger' }).click();
  await dialog.getByText('agreed until spring').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The acceptance is revoked.').waitFor();
  t.equal(await totalOf(page, '/api/v1/findings?status=risk_accepted'), 0, 'its finding is open again');
  t.same([...complaints, ...other.complaints], []);
}

async function mutes(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/acceptances?view=mutes');
  await page.getByRole('button', { name: 'New mute' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Converter');
  await dialog.getByLabel('Reason').fill('only in tests');
  await dialog.getByLabel('Field').selectOption('title');
  await dialog.getByLabel('Comparison').selectOption('contains');
  await dialog.getByLabel('Value').fill('converter');
  t.ok(await dialog.getByRole('button', { name: 'Mute', exact: true }).isDisabled(), 'it is counted before');
  await dialog.getByRole('button', { name: 'How many?' }).click();
  await dialog.getByText('It mutes 1 open findings now').waitFor();
  await dialog.getByLabel('Value').fill('nothing like this');
  t.ok(await dialog.getByRole('button', { name: 'Mute', exact: true }).isDisabled(), 'another one is counted anew');
  await dialog.getByLabel('Value').fill('converter');
  await dialog.getByRole('button', { name: 'How many?' }).click();
  await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
  const row = page.locator('.table-row', { hasText: 'Converter' });
  await row.waitFor();
  t.match(await row.innerText(), /title has converter/, 'a predicate is a sentence');
  t.equal(await totalOf(page, '/api/v1/findings?status=muted'), 1);
  await row.getByRole('button', { name: 'Change', exact: true }).click();
  t.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing is changed');
  await dialog.getByLabel('Reason').fill('only in tests of pictures');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('only in tests of pictures').waitFor();
  t.equal(await totalOf(page, '/api/v1/findings?status=muted'), 1, 'it mutes as before');
  await row.getByRole('button', { name: 'End the mute' }).click();
  await dialog.getByRole('button', { name: 'End the mute' }).click();
  await row.waitFor({ state: 'detached' });
  t.equal(await totalOf(page, '/api/v1/findings?status=muted'), 0);
  t.same(complaints, []);
}

async function terms(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/deadlines?view=terms');
  await page.getByRole('button', { name: 'New terms' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Strict');
  await dialog.getByLabel('Days to fix high').fill('-3');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  t.match(await dialog.getByRole('alert').innerText(), /high/, 'what is refused is named');
  await dialog.getByLabel('Days to fix high').fill('3');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.locator('.table-row', { hasText: 'Strict' });
  await row.waitFor();
  t.match(await row.innerText(), /3 days/);
  await row.getByRole('button', { name: 'Edit' }).click();
  t.equal(await dialog.getByLabel('Days to fix high').inputValue(), '3', 'it opens with what it is');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'What is due' }).click();
  await page.getByText('3 of 3 shown').waitFor();
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByRole('heading', { name: 'History' }).waitFor();
  t.same(complaints, []);
}

async function gates(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/gates');
  const row = page.locator('.table-row', { hasText: 'c0ffee' });
  await row.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Conditions' }).waitFor();
  t.match(await dialog.innerText(), /is stopped[^]*new high[^]*broken/, 'each condition with its number');
  await dialog.getByLabel('Why may it go on?').fill('a release that cannot wait');
  await dialog.getByRole('button', { name: 'Let it through' }).click();
  await dialog.getByText(/Let through by/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Pipeline runs' }).click();
  await page.locator('.table-row', { hasText: 'a pipeline' }).click();
  await dialog.getByText('house checker').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Gates', exact: true }).click();
  await page.getByRole('button', { name: 'New gate' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Few');
  await dialog.getByLabel('What is counted').first().selectOption('own');
  await dialog.getByLabel('Number').first().fill('5');
  await dialog.getByRole('button', { name: 'Remove condition 2' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  const gate = page.locator('.table-row', { hasText: 'Few' });
  await gate.waitFor();
  t.match(await gate.innerText(), /severity is at least high at most 5/, 'what it asks is a sentence');
  await page.getByRole('tab', { name: 'Connect a pipeline' }).click();
  await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Ledger' });
  await page.getByRole('button', { name: 'Make a token for it' }).click();
  const token = await page.locator('.notice code').innerText();
  t.match(token, /^apt_/, 'a token, shown once');
  // as in a page that came over plain HTTP from another machine
  await page.evaluate(() => void Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await page.getByRole('button', { name: 'Copy the token' }).click();
  await page.getByText('Copied.', { exact: true }).waitFor();
  await page.getByLabel('Commit').press('Control+v');
  t.equal(await page.getByLabel('Commit').inputValue(), token, 'it can be pasted');
  await page.getByLabel('Commit').fill('c0ffee');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await dialog.getByText('Few', { exact: true }).waitFor(); // the gate that was written answers
  t.same(complaints, []);
}

async function viewerCannot(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await openAs(stack, 'viewer', reader);
  await arrive(page, '/vulnerabilities');
  await page.locator('.table-row').first().waitFor();
  t.equal(await page.getByRole('checkbox').count(), 0, 'nothing can be chosen');
  for (const [path, offered] of [
    ['/vulnerabilities/acceptances?view=mutes', 'New mute'],
    ['/vulnerabilities/deadlines?view=terms', 'New terms'],
    ['/vulnerabilities/gates?view=gates', 'New gate'],
    ['/vulnerabilities/targets', 'New target'],
    ['/vulnerabilities/targets?view=groups', 'New group'],
    ['/vulnerabilities/policies', 'New policy'],
    ['/vulnerabilities/rules', 'New rule'],
    ['/vulnerabilities/assessments', 'New assessment'],
    ['/vulnerabilities/integrations', 'New integration'],
  ] as const) {
    await arrive(page, path);
    t.equal(await page.getByRole('button', { name: offered }).count(), 0, `${offered} is not offered`);
  }
  await arrive(page, '/vulnerabilities/acceptances');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByText('nobody reaches that host').waitFor();
  t.equal(await page.getByRole('button', { name: /Approve|Reject|Revoke/ }).count(), 0, 'no decision is offered');
  const mute = {
    name: 'x',
    predicate: { field: 'kev', op: 'eq', value: false },
    reason: 'x',
    expires_at: '2030-01-01',
  };
  t.equal(await askApi(page, 'POST', '/api/v1/mutes', mute), 403, 'the server refuses anyway');
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('decisions about findings in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t, { OUTBOUND_ALLOW: '127.0.0.1' });
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await storeFindings(page, 'c0ffee');
  await t.test('V8: a filter is saved, chosen, narrowed and deleted', (t) => savedFilters(t, stack));
  await t.test('V9: many are changed at once, counted before', (t) => bulk(t, stack));
  await t.test('V10: a risk is accepted by somebody else, and that ends', (t) => acceptances(t, stack));
  await t.test('V11: noise is muted, counted before', (t) => mutes(t, stack));
  await t.test('V12: deadlines have terms', (t) => terms(t, stack));
  await t.test('V13: gates answer, are overruled, written and asked', (t) => gates(t, stack));
  await t.test('L3: targets are written, gathered in groups and deleted', (t) => targets(t, stack));
  await t.test('L3: a policy says which findings it holds for, and is not written over', (t) => policies(t, stack));
  await t.test('L3: a rule says what it would do, does it, and is undone', (t) => triageRules(t, stack));
  await t.test('L3: an assessment is led, answered item by item, and closed', (t) => assessments(t, stack));
  await t.test('L3: tickets are made of findings, in a tracker that was tested', (t) => tickets(t, stack));
  await t.test('V14: a viewer reads, and is offered nothing else', (t) => viewerCannot(t, stack));
  await t.test('L3: roles are made, given where they count, and told in full', (t) => roles(t, stack));
});
