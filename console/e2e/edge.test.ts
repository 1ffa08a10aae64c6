// What users see and do at the edge, in a real browser: attack mode, measures against clients, threat feeds.
import t, { type Test } from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { askApi, chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

async function measures(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/protection/addresses');
  await page.getByText('No client is blocked, challenged or slowed down').waitFor();
  await page.getByRole('button', { name: 'Block a client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Addresses and networks').fill('not an address');
  await dialog.getByRole('button', { name: 'Block', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Addresses and networks').fill('127.0.0.0/8');
  await dialog.getByRole('button', { name: 'Block', exact: true }).click();
  await dialog.getByText('covers your own address').waitFor(); // nobody locks themselves out unasked
  await dialog.getByText('Do it all the same').waitFor();
  await dialog.getByLabel('Addresses and networks').fill('198.51.100.7');
  await dialog.getByLabel('Action').selectOption('throttle');
  await dialog.getByLabel('Why').fill('<b>too many</b>');
  await dialog.getByRole('button', { name: 'Slow down' }).click();
  const row = page.locator('.table-row', { hasText: '198.51.100.7' });
  await row.waitFor();
  t.match(await row.innerText(), /slowed down[^]*<b>too many<\/b>/, 'what was decided, and why, as text');
  await row.getByRole('button', { name: 'Unblock' }).click();
  await row.waitFor({ state: 'detached' });
  for (const body of [
    { network: '198.51.100.8', action: 'deny', reason: 'a denial' },
    { network: 'jwt:0123456789abcdef', action: 'challenge', reason: 'of a principal' },
  ])
    t.equal(await askApi(page, 'POST', '/api/bans', body), 200);
  const rows = page.locator('.table-row', { hasText: 'operator' });
  const shows = (count: number) =>
    page.waitForFunction(
      (wanted) => document.querySelectorAll('[aria-label="Client measures"] .table-row').length === wanted,
      count,
    );
  await page.reload();
  await shows(2);
  for (const [label, value, text] of [
    ['Action', 'deny', 'a denial'],
    ['Kind', 'principal', 'of a principal'],
    ['State', 'lifted', 'too many'],
  ] as const) {
    const filter = page.getByRole('search').getByLabel(label, { exact: true });
    await filter.selectOption(value);
    await page.locator('.table-row', { hasText: text }).waitFor();
    await shows(1);
    t.match(page.url(), new RegExp(value), 'the filter stands in the address');
    await filter.selectOption(label === 'State' ? 'active' : '');
  }
  await shows(2);
  await page.getByRole('search').getByLabel('Client').fill('198.51.');
  await shows(1);
  await rows.first().getByRole('button', { name: 'Unblock' }).click();
  await shows(0);
  t.same(complaints, []);
}

async function attackMode(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/protection/gates?view=attack'); // as links had it
  await page.waitForURL('**/protection/attack-mode');
  await page.getByText('There was no attack yet').waitFor();
  await page.locator('.table-row').first().waitFor();
  t.match(await page.locator('.table-row').first().innerText(), /calm/, 'the node says how it is');
  t.same(complaints, []);
}

async function feeds(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/protection/feeds');
  await page.getByText('No feed is on').waitFor();
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('the edge in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('G1: a client is slowed down and let go again, measures are found by filters', (t) =>
    measures(t, stack),
  );
  await t.test('G2: attack mode, node by node', (t) => attackMode(t, stack));
  await t.test('G3: the state of the threat feeds', (t) => feeds(t, stack));
});
