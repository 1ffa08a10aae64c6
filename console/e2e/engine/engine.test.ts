// The detection engine in a real browser: an attack wave is sent and leads to a verdict that is explained, abuse of an
// API is found with both of its requests, and every figure opens the list that it counts.
import t, { type Test } from 'tap';
import type { Locator, Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { goByPalette, openRow, press, tabTo, typeInto } from '../page-checks/keyboard.js';
import { askApi, chooseOwnPassword, go, startStack, withoutBrowser, type Stack } from '../stack.js';

const hostile = '<img/src=x/onerror="document.title=1">';

const bearerOf = (person: string): string => {
  const claims = Buffer.from(JSON.stringify({ sub: person })).toString('base64url');
  return `Bearer eyJhbGciOiJIUzI1NiJ9.${claims}.c2ln`;
};

/** Somebody orders, and somebody else reads the order. */
async function stealOrder(t: Test, { waf }: Stack): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const made = await fetch(`${waf}/api/orders`, {
    method: 'POST',
    headers: { ...json, authorization: bearerOf('owner') },
    body: JSON.stringify({ items: [{ sku: 'SH-1000', qty: 1 }], customer: { name: 'Ada' } }),
  });
  const { id } = (await made.json()) as { id: string };
  t.equal(made.status, 201, 'an order was made');
  const got = await fetch(`${waf}/api/orders/${id}?from=${encodeURIComponent(hostile)}`, {
    headers: { authorization: bearerOf('thief') },
  });
  t.equal(got.status, 200, 'and was read by somebody else');
}

async function switchOn(t: Test, page: Page): Promise<void> {
  await go(page, '/engine');
  await page.getByText('The detection engine is switched off').waitFor();
  await page.getByText('No client has a risk').waitFor();
  // each client of a wave sends one request here: its risk is about 30
  t.equal(await askApi(page, 'PATCH', '/api/settings', { ai_enabled: true, ai_risk_threshold: 50 }), 200);
  t.equal(await askApi(page, 'POST', '/api/apply'), 200, 'nodes are told to count');
}

const numberIn = async (place: Locator): Promise<number> => Number((await place.innerText()).replaceAll(',', ''));

/** From the palette to a wave that is under way, by keys alone. */
async function simulate(t: Test, page: Page): Promise<void> {
  await goByPalette(page, 'simulation', 'Simulation');
  await page.getByText('No wave was sent yet').waitFor();
  await press(page, page.getByText('Bounds'));
  const requests = page.getByLabel('Requests', { exact: true });
  await typeInto(page, requests, '2.5');
  await page.getByText('Write a whole number from 1 to 2,000, or nothing.').waitFor();
  t.ok(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled(), 'what does not fit is not sent');
  await typeInto(page, requests, '20');
  await typeInto(page, page.getByLabel('Rate', { exact: true }), '200');
  await press(page, page.getByRole('button', { name: 'Start', exact: true }));
  const drawer = page.getByRole('dialog', { name: 'Attack wave' });
  await drawer.getByText('SQL injection against customer').waitFor();
  await tabTo(page, drawer.getByRole('button', { name: 'Stop it' }));
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
}

/** From the list of waves to the verdict on one client, and what an analyst says of it, by keys alone. */
async function readReport(t: Test, page: Page): Promise<void> {
  await openRow(page, page.locator('.table-row', { hasText: 'SQL injection' }).first());
  const drawer = page.getByRole('dialog', { name: 'Attack wave' });
  const verdicts = drawer.getByRole('table', { name: 'Verdicts of the detection engine' });
  await verdicts.locator('.table-row').first().waitFor();
  const figure = (name: string): Promise<number> =>
    numberIn(drawer.locator('.figure', { hasText: name }).locator('.value'));
  t.equal(await figure('Sent'), 20);
  t.equal((await figure('Stopped')) + (await figure('Passed')) + (await figure('Failed')), 20, 'the numbers add up');
  const stages = await drawer.getByRole('table', { name: 'What stopped it' }).locator('.table-row').allInnerTexts();
  t.equal(
    stages.reduce((sum, row) => sum + Number(/(\d+)\s*$/.exec(row)?.[1]), 0),
    await figure('Stopped'),
    'what stopped them is counted once each',
  );
  t.match(stages.join(), /rules\s+942100/);
  const attacks = drawer.getByRole('table', { name: 'Attack by attack' }).locator('.table-row');
  t.equal(await attacks.filter({ hasText: 'passed' }).count(), await figure('Passed'), 'so are those that passed');
  await press(page, verdicts.getByRole('link').first());
  const verdict = page.getByRole('dialog', { name: 'Verdict' });
  await verdict.getByRole('heading', { name: 'Why not less' }).waitFor();
  t.match(
    await verdict.innerText(),
    /198\.18\.1\.\d+[^]*SQL injection[^]*A03:2021[^]*942100/,
    'signals with their rules',
  );
  t.match(await verdict.innerText(), /more points of risk lead to|It is the highest there is/);
  await verdict.getByText('GET /search?q=').first().waitFor();
  await press(page, verdict.getByRole('button', { name: 'Score it again' }));
  await verdict.getByText(/The same, bit for bit/).waitFor();
  await press(page, verdict.getByRole('button', { name: 'It was an attack' }));
  await verdict.getByText(/called attack by admin/).waitFor();
  await page.keyboard.press('Escape');
}

async function threat(t: Test, page: Page): Promise<void> {
  await until('the abuse is found', async () => {
    await go(page, '/inventory/threats');
    await page.locator('main .table-row, main .state strong').first().waitFor();
    return (await page.locator('.table-row').count()) === 1;
  });
  await page.getByText('Findings only: no client is banned for them.').waitFor();
  await page.locator('.table-row').first().focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Finding' });
  const cards = drawer.locator('.evidence');
  await cards.nth(1).getByText('POST /api/orders').waitFor();
  await cards
    .first()
    .getByText(/GET \/api\/orders\/.*onerror/)
    .waitFor();
  t.match(await drawer.innerText(), /API1:2023 Broken object level authorization/);
  t.equal(await page.locator('main img, dialog img').count(), 0, 'no markup');
  for (const index of [0, 1]) {
    const link = cards.nth(index).getByRole('link', { name: /^Open / });
    const href = (await link.getAttribute('href')) ?? '';
    const other = await page.context().newPage();
    await other.goto(href);
    await other.locator('dialog[open], .table-row').first().waitFor();
    t.match(await other.locator('body').innerText(), /\/api\/orders/, 'each request opens');
    await other.close();
  }
  await drawer.getByRole('button', { name: 'False positive' }).click();
  const question = page.getByRole('dialog', { name: 'A false positive?' });
  await question.getByLabel('Why (optional)').fill(hostile);
  await question.getByRole('button', { name: 'False positive' }).click();
  await drawer.getByRole('button', { name: 'Open it again' }).waitFor();
  t.match(await drawer.innerText(), /false positive[^]*onerror/, 'what was decided stays open');
  await page.keyboard.press('Escape');
  await page.getByText('Nothing fits these filters').waitFor();
  await go(page, '/inventory/threats?status=all');
  await page.locator('.table-row').first().click();
  await drawer.getByRole('button', { name: 'Open it again' }).click();
  await drawer.getByRole('button', { name: 'Acknowledge' }).waitFor();
}

/** A figure and the list that it opens, until both are of the same moment: rounds of the engine come meanwhile. */
async function sameCount(t: Test, page: Page, from: string, name: RegExp): Promise<number> {
  const seen: (readonly [number, number])[] = [];
  await until(`${from}, ${name.source}: the list is what was counted`, async () => {
    await go(page, from);
    const figure = page.locator('a.figure', { hasText: name });
    await figure.locator('.value', { hasText: /\d/ }).waitFor();
    const counted = await numberIn(figure.locator('.value'));
    await figure.click();
    const sum = page.locator('main .table-count');
    await sum.waitFor({ state: 'attached' });
    const told = (await sum.textContent()) ?? '';
    const listed = await page.locator('main .table-row').count();
    t.ok(told.startsWith(`${listed} `), told);
    seen.push([counted, listed]);
    return counted === listed;
  });
  t.comment(`${name.source}: ${JSON.stringify(seen)}`);
  return seen.at(-1)?.[0] ?? 0;
}

async function counts(t: Test, page: Page): Promise<void> {
  t.equal(await sameCount(t, page, '/', /^API threats open/), 1);
  t.ok((await sameCount(t, page, '/', /^Verdict: slow down/)) > 0);
  await sameCount(t, page, '/engine', /^Verdict: block/);
  await sameCount(t, page, '/inventory/threats', /^False positives/);
}

async function whatIf(t: Test, page: Page): Promise<void> {
  await go(page, '/engine?view=what-if');
  const table = page.getByRole('table', { name: 'What would have been decided' });
  const sumOf = async (column: number): Promise<number> => {
    const cells = await table.locator(`tbody tr td:nth-child(${column})`).allInnerTexts();
    return cells.reduce((sum, cell) => sum + Number(cell.replaceAll(',', '')), 0);
  };
  await table.waitFor();
  const all = await sumOf(2);
  t.ok(all > 0, 'there are verdicts');
  await page.getByLabel('Signatures').focus();
  await page.keyboard.press('Home'); // to 0, by keyboard
  await page.waitForURL(/signature=0/);
  await page.getByRole('table', { name: 'Verdicts that would change' }).locator('.table-row').first().waitFor();
  t.same([await sumOf(2), await sumOf(3), await sumOf(4)], [all, all, all], 'every verdict is in each column');
  await page.reload();
  await table.waitFor();
  t.equal(await page.getByLabel('Signatures').inputValue(), '0', 'the sliders are in the address');
  await page.getByRole('button', { name: 'As in the settings' }).click();
  await page.getByText('No verdict would change').waitFor();
}

async function viewerCannot(t: Test, stack: Stack, admin: Page): Promise<void> {
  const [email, first, own] = ['reader@example.org', 'first-word-of-many-79', 'second-word-of-many-89'];
  await askApi(admin, 'POST', '/api/users', { email, name: 'R', role: 'viewer', password: first });
  const { page } = await stack.open(390);
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(first);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Current password').fill(first);
  await page.getByLabel('New password', { exact: true }).fill(own);
  await page.getByLabel('New password, again').fill(own);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.locator('.shell').waitFor();
  await go(page, '/engine/simulation');
  await page.getByText('Operators start waves; you can read what they found.').waitFor();
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByText('What stopped it').waitFor();
  t.equal(await page.getByRole('button', { name: /^(Start|Send it again|Stop it)$/ }).count(), 0);
  await go(page, '/engine?view=history');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Why not less' }).waitFor();
  t.equal(await page.getByRole('button', { name: /^(It was an attack|False positive)$/ }).count(), 0);
  await go(page, '/inventory/threats');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Evidence' }).waitFor();
  t.equal(await page.getByRole('button', { name: /^(Acknowledge|False positive)$/ }).count(), 0);
}

t.setTimeout(testMsMax);
t.test('the detection engine in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await stealOrder(t, stack); // it is looked for every fifteen seconds: meanwhile other things are tried
  const { page, complaints } = await stack.open();
  await chooseOwnPassword(page);
  await t.test('E1: it is off, and says how it is switched on', (t) => switchOn(t, page));
  await t.test('E2, A2: by keyboard alone: a wave is started', (t) => simulate(t, page));
  await t.test('E3, A2: by keyboard alone: the wave leads to a verdict that is explained and made again', (t) =>
    readReport(t, page),
  );
  await t.test('E4: other weights would decide otherwise', (t) => whatIf(t, page));
  await t.test('E5: abuse of an API is found with both requests, and decided over', (t) => threat(t, page));
  await t.test('E6: a viewer reads, and is offered nothing else', (t) => viewerCannot(t, stack, page));
  await t.test('E7: each figure is the number of its list', (t) => counts(t, page));
  t.match(await page.title(), /\D/, 'nothing that is stored ran');
  t.same(complaints, []);
});
