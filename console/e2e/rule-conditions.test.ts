// A rule put together of conditions, in a real browser: counted on recorded requests, recorded first, then in force.
import t, { type Test } from 'tap';
import { testMsMax, until } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from './page-checks/checks.js';
import { chooseOwnPassword, go, startStack, withoutBrowser, type Stack } from './stack.js';

const scripted = { headers: { 'user-agent': 'curl/8.1' } };

async function conditions(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await prepareChecks(page);
  await chooseOwnPassword(page);
  for (let at = 0; at < 5; at += 1) await fetch(`${stack.waf}/admin/x${at}`, scripted);
  t.equal((await fetch(`${stack.waf}/admin/x`, scripted)).status, 404, 'it reaches the application so far');
  await go(page, '/waf/rules/new');
  await page.getByLabel('Name', { exact: true }).first().fill('No scripts on the admin pages');
  const first = page.locator('.rule-condition').first();
  await first.getByLabel('Values').fill('/admin');
  await page.getByRole('button', { name: 'Add a condition' }).click();
  const second = page.locator('.rule-condition').nth(1);
  await second.getByLabel('Look at').selectOption({ label: 'User-Agent' });
  await second.getByLabel('Comparison').selectOption({ label: 'matches expression' });
  await second.getByLabel('Values').fill('(');
  await second.getByRole('alert').waitFor();
  t.match(await second.getByLabel('Values').getAttribute('aria-invalid'), 'true', 'a fault is where it was made');
  await second.getByLabel('Comparison').selectOption({ label: 'contains' });
  await second.getByLabel('Values').fill('curl\nwget');
  await page.getByRole('button', { name: 'Add another group' }).click();
  const third = page.locator('.rule-condition').nth(2);
  await third.getByLabel('Look at').selectOption({ label: 'API operation' });
  await third.getByLabel('Values').fill('DELETE /users/{id}');
  await page.getByText('It compiles; it has no tests yet').waitFor();
  await page.getByText(/recorded requests since|No requests are recorded yet/).waitFor();
  for (const [width, height] of [
    [1440, 900],
    [1024, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    t.same(await tooWide(page), [], `${width}: nothing sticks out`);
    t.same(await seriousOn(page), [], `${width}: axe finds nothing`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'No scripts on the admin pages' }).waitFor();
  t.match(
    await page.locator('main').innerText(),
    /Path begins with \/admin and User-Agent contains curl, wget or API operation is DELETE/,
    'the list says it in words',
  );
  await page.getByRole('link', { name: 'No scripts on the admin pages' }).click();
  await page.getByLabel('What a match does').selectOption({ label: 'Block (follows the mode of the site)' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: /Not active/ }).click();
  await page.getByText('+ any.0.all.0.values').waitFor(); // the change is shown member by member
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText('Everything that is saved is in force').waitFor();
  t.equal((await fetch(`${stack.waf}/%61dmin/x`, scripted)).status, 403, 'refused, in another spelling as well');
  t.equal((await fetch(`${stack.waf}/users/7`, { method: 'DELETE' })).status, 403, 'the other group');
  t.equal((await fetch(`${stack.waf}/admin/x`)).status, 404, 'a person reaches it');
  await until('hits are counted', async () => {
    await go(page, '/waf/rules');
    const row = page.getByRole('row').filter({ hasText: 'No scripts on' });
    await row.getByRole('link', { name: /^\d+$/ }).waitFor();
    return Number(await row.getByRole('link', { name: /^\d+$/ }).innerText()) >= 2;
  });
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('a rule of conditions', { skip: withoutBrowser }, async (t) => conditions(t, await startStack(t)));
