// What was seen of APIs, between services, and who is told of what, in a real browser; with hostile names in all of it.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
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

const hostile = '<img/src=x/onerror="document.title=1">';

const entry = (path: string) => ({
  startedDateTime: new Date().toISOString(),
  time: 5,
  request: { method: 'GET', url: `http://shop.example${path}`, headers: [], queryString: [] },
  response: { status: 200, headers: [], content: { mimeType: 'application/json', size: 10 } },
});

async function store(t: Test, page: Page): Promise<void> {
  const paths = [...Array(40).keys()].map((at) => `/orders/${1000 + at * 37}`);
  const entries = [...paths, `/notes/${encodeURIComponent(hostile)}`].map(entry);
  t.equal(await askApi(page, 'POST', '/api/ingest', { log: { version: '1.2', entries } }), 200, 'requests are told');
  const hops = [
    { caller: 'shop', callee: 'orders', path: '/a', method: 'GET', status: 200, mtls: true },
    { caller: 'orders', callee: hostile, path: '/b', method: 'GET', status: 200 },
  ];
  t.equal(await askApi(page, 'POST', '/api/ingest/mesh', hops), 200, 'hops are told');
  await until('the inventory has them', () =>
    page.evaluate(async () => {
      const { items } = (await (await fetch('/api/inventory')).json()) as { items: { template: string }[] };
      return items.some(({ template }) => template.startsWith('/orders/'));
    }),
  );
}

async function isSound(t: Test, page: Page, name: string): Promise<void> {
  t.notMatch(await page.title(), /^\d$/, `${name}: nothing ran`);
  t.equal(await page.locator('main img, dialog img').count(), 0, `${name}: no markup`);
}

async function inventory(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/inventory?q=orders');
  const row = page.locator('.table-row').first();
  await row.waitFor();
  const listed = await page.locator('.table-row').count();
  await page.getByText(`${listed} shown, all there are`).waitFor();
  await row.click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('heading', { name: 'What the risk is made of' }).waitFor();
  t.match(await drawer.innerText(), /GET \/orders\//);
  const split = drawer.getByRole('button', { name: 'Tell the values apart' });
  if ((await split.count()) > 0) {
    await split.first().click();
    await page.getByText('The values are told apart.').waitFor();
  }
  await go(page, '/inventory');
  await page.locator('.table-row').first().waitFor();
  const figure = page.getByRole('link', { name: /^Endpoints/ }).locator('.value');
  t.equal(Number(await figure.innerText()), await page.locator('.table-row').count(), 'the figure is what is listed');
  await isSound(t, page, 'inventory');
  await go(page, '/inventory?view=east-west');
  await page.locator('.hop-picture .node').first().waitFor();
  t.equal(await page.locator('.hop-picture .node').count(), 3, 'three services');
  t.equal(await page.locator('.hop-picture .edge.is-open').count(), 1, 'one hop without an identity stands out');
  await isSound(t, page, 'between services');
  t.same(complaints, []);
}

/** What an answer gives away, and to whom: the picture, the table and the figures say the same. */
async function dataFlow(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  const of = (path: string, body: object, headers: object[]) => ({
    startedDateTime: new Date().toISOString(),
    time: 5,
    request: { method: 'GET', url: `http://people.example${path}`, headers, queryString: [] },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', text: JSON.stringify(body) } },
  });
  const key = [{ name: 'Authorization', value: 'Bearer abcdefgh' }];
  const entries = [
    of('/people', { [hostile]: 'canary@people.example', pan: '4111111111111111' }, []),
    of('/staff', { mail: 'other@people.example' }, key),
  ];
  t.equal(await askApi(page, 'POST', '/api/ingest', { log: { version: '1.2', entries } }), 200);
  await until('the flows are known', async () => {
    await go(page, '/inventory?view=data-flow');
    await settled(page);
    return (await page.locator('.table-row').count()) === 2;
  });
  t.equal(await page.locator('.hop-picture .node').count(), 2 + 2 + 1, 'kinds of data, endpoints, their site');
  t.equal(await page.locator('.hop-picture .edge.is-open').count(), 2, 'what anybody may have stands out');
  t.notMatch(await page.locator('main').innerText(), /canary@|4111/, 'no value is shown');
  const figure = page.getByRole('link', { name: /^Given to anybody/ });
  const counted = Number(await figure.locator('.value').innerText());
  await figure.click();
  await until('what is listed is what was counted', async () => (await page.locator('.table-row').count()) === counted);
  await page.locator('.table-row').first().focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Endpoint' });
  await drawer.getByRole('table', { name: 'Where in the messages' }).waitFor();
  t.match(await drawer.innerText(), /answer[^]*payment card \(1\)/);
  await page.keyboard.press('Escape');
  await page.getByLabel('Data', { exact: true }).selectOption('iban');
  await page.getByText('No personal data and no secret was seen').waitFor();
  await isSound(t, page, 'data flow');
  await arrive(page, '/inventory');
  const sensitive = page.getByRole('link', { name: /^Sensitive without a login/ });
  const open = Number(await sensitive.locator('.value').innerText());
  t.ok(open > 0, 'L4: there is something to list');
  await sensitive.click();
  await until('L4: its list is what was counted', async () => (await page.locator('.table-row').count()) === open);
  await page.getByRole('tab', { name: 'Endpoints' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('[role="tab"][aria-selected="true"]:focus', { hasText: 'Data flow' }).waitFor();
  t.match(page.url(), /view=data-flow/, 'L2: the arrow keys choose, and the focus goes along');
  t.same(complaints, []);
}

async function alerts(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/alerts');
  await page.getByText('Nobody is told of anything').waitFor();
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Many are blocked');
  await dialog.getByLabel('Address, or routing key').fill('no address');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor(); // what is wrong is said where it was typed
  await dialog.getByLabel('Address, or routing key').fill('https://hooks.example.org/told');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.locator('.table-row', { hasText: 'Many are blocked' });
  await row.waitFor();
  t.match(await row.innerText(), /share of blocked requests \(%\) above 20, over 5 min/, 'a rule is a sentence');
  await row.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Threshold').fill('35');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/above 35/).waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  for (const label of ['Threshold', 'Measured over', 'Has to hold for', 'Then silent for']) {
    const field = dialog.getByLabel(label);
    const before = await field.inputValue();
    await field.fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    t.ok(await field.evaluate((element) => element.matches(':invalid')), `${label}: an empty field is not saved as 0`);
    t.ok(await dialog.isVisible(), 'and the form stays');
    await field.fill(before);
  }
  await dialog.getByLabel('Number').selectOption('missing_data');
  t.same(await dialog.getByLabel('Is', { exact: true }).locator('option').allInnerTexts(), ['at most']);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('requests, where there were some before at most 0, over 5 min').waitFor();
  await row.click();
  await dialog.getByRole('heading', { name: 'History' }).waitFor();
  await page.keyboard.press('Escape');
  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Connectors (SIEM)' }).click();
  await page.getByText('No connector is set up').waitFor();
  t.same(complaints, []);
}

async function viewerCannot(t: Test, stack: Stack): Promise<void> {
  const admin = await stack.open();
  await logIn(admin.page);
  const [email, first, own] = ['reader@example.org', 'first-word-of-many-79', 'second-word-of-many-89'];
  await askApi(admin.page, 'POST', '/api/users', { email, name: 'R', role: 'viewer', password: first });
  const { page } = await stack.open();
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(first);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Current password').fill(first);
  await page.getByLabel('New password', { exact: true }).fill(own);
  await page.getByLabel('New password, again').fill(own);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.locator('.shell').waitFor();
  await go(page, '/alerts');
  await settled(page);
  t.equal(await page.getByRole('button', { name: 'New rule' }).count(), 0, 'no rule is offered');
  await go(page, '/inventory');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByRole('heading', { name: 'What the risk is made of' }).waitFor();
  t.equal(await page.getByRole('button', { name: 'Tell the values apart' }).count(), 0, 'nothing is changed');
}

t.setTimeout(testMsMax);
t.test('APIs and alerts in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await store(t, page);
  await t.test('A1: endpoints with their evidence, and who asks whom', (t) => inventory(t, stack));
  await t.test('A2: an alert is written, fixed, explained and deleted', (t) => alerts(t, stack));
  await t.test('A4: where personal data goes, and who may have it', (t) => dataFlow(t, stack));
  await t.test('A3: a viewer reads, and is offered nothing else', (t) => viewerCannot(t, stack));
});
