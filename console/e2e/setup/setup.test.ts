// The pages on which people set things up (sites, limits, connectors, authentication, bots), in a real browser. One
// installation for all of them; each goes on from what the one before has left.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { arrive, askApi, chooseOwnPassword, logIn, settled, startStack, withoutBrowser, type Stack } from '../stack.js';

const viewer = { email: 'viewer@gatehouse.local', first: 'first-word-of-many-77', own: 'another-word-of-mine-78' };

/** A viewer who has chosen a password. */
async function addViewer(t: Test, stack: Stack, admin: Page): Promise<void> {
  const body = { email: viewer.email, name: 'Viewer', role: 'viewer', password: viewer.first };
  t.equal(await askApi(admin, 'POST', '/api/users', body), 201);
  const { page } = await stack.open();
  await page.goto('/');
  await page.getByLabel('E-mail').fill(viewer.email);
  await page.getByLabel('Password').fill(viewer.first);
  await page.keyboard.press('Enter');
  await page.getByLabel('Current password').fill(viewer.first);
  await page.getByLabel('New password', { exact: true }).fill(viewer.own);
  await page.getByLabel('New password, again').fill(viewer.own);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  await page.context().close();
}

/** Counts what a mouse does: each click on the way to a result is one. */
function countClicks(page: Page) {
  let count = 0;
  return {
    count: () => count,
    async on(name: string, role: 'button' | 'link' | 'tab' = 'button'): Promise<void> {
      count += 1;
      await page.getByRole(role, { name, exact: true }).first().click();
    },
  };
}

async function startApplication(t: Test, says: string): Promise<string> {
  const server = createServer((_, reply) => reply.end(says));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const rowOf = (page: Page, text: string) => page.locator('.table-row', { hasText: text }).first();

/** A viewer sees the page (`shows`: a text of it, or of what the address opens), and is offered nothing to change. */
async function seenByViewer(
  t: Test,
  stack: Stack,
  path: string,
  shows: RegExp,
  controls: readonly string[],
): Promise<void> {
  const { page } = await stack.open();
  await logIn(page, viewer.email, viewer.own);
  await arrive(page, path);
  const part = path.includes('?') ? page.getByRole('dialog') : page.getByRole('main');
  await part.getByText(shows).first().waitFor();
  for (const name of controls)
    t.equal(await page.getByRole('button', { name, exact: true }).count(), 0, `a viewer is not offered "${name}"`);
  const typed = 'main :is(input, select, textarea):enabled, dialog[open] :is(input, select, textarea):enabled';
  t.equal(await page.locator(typed).count(), 0, 'nor a field to type into');
  await page.context().close();
}

async function sites(t: Test, stack: Stack): Promise<void> {
  const application = await startApplication(t, 'the application');
  const { page, complaints } = await stack.open();
  await logIn(page);
  const clicks = countClicks(page);
  await clicks.on('Sites', 'link');
  await settled(page);
  t.match(await rowOf(page, 'customer').innerText(), /On[^]*any host/, 'those of the environment');
  await clicks.on('Add a site');
  await page.keyboard.type(application); // the first field has the focus
  await page.getByLabel('Host name').fill('no host');
  await page.getByText('customer, payment are not served any more').waitFor(); // the trial licence covers one site
  await page.keyboard.press('Enter');
  const problem = page.getByRole('alert').filter({ hasText: 'write the name only' });
  await problem.waitFor();
  t.notMatch(await problem.innerText(), /must be null/, 'one reason');
  await page.getByLabel('Host name').fill('shop.example');
  await clicks.on('Save and apply');
  await page.getByText(/^Saved and in force/).waitFor();
  t.ok(clicks.count() <= 4, `a site is protected with ${clicks.count()} clicks`);
  const row = rowOf(page, 'shop.example');
  await row.waitFor();
  t.match(await row.innerText(), /On[^]*shop\.example \/[^]*not checked[^]*none/);
  t.equal(await rowOf(page, 'customer').count(), 0);
  const host = { headers: { host: 'shop.example' } };
  const { request } = page;
  t.equal(await (await request.get(stack.waf, host)).text(), 'the application');
  t.equal((await request.get(`${stack.waf}/?q=1'%20OR%20'1'='1`, host)).status(), 403, 'and it is protected');
  await row.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Edit' }).click();
  await drawer.getByLabel('State', { exact: true }).selectOption('DetectionOnly');
  await drawer.getByText('Policy of this site').click();
  await drawer.getByLabel('Paranoia level').selectOption('2');
  await drawer.getByLabel('PHP').selectOption('off');
  await drawer.getByRole('button', { name: 'Save and apply' }).click();
  await drawer.getByText('Monitor', { exact: true }).waitFor();
  t.match(await drawer.innerText(), /its own policy; without PHP[^]*Paranoia level\s+2/);
  t.equal((await request.get(`${stack.waf}/?q=1'%20OR%20'1'='1`, host)).status(), 200, 'only watched from now on');
  await seenByViewer(t, stack, '/sites?site=shop.example', /Upstream health/, ['Add a site', 'Edit', 'Remove site']);
  await drawer.getByRole('button', { name: 'Remove site' }).click();
  await page.getByRole('dialog', { name: 'Remove this site?' }).getByRole('button', { name: 'Remove site' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByText('Not active').waitFor(); // removed from what is saved; the header says that it is not applied
  t.same(complaints, []);
}

async function limits(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  const post = async (times: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let at = 0; at < times; at += 1) statuses.push((await page.request.post(`${stack.waf}/login`)).status());
    return statuses;
  };
  await post(5);
  const clicks = countClicks(page);
  await clicks.on('Limits and bots', 'link');
  await page.getByText('Rate limits are off').waitFor();
  await clicks.on('Add a limit');
  await page.keyboard.type('/login');
  await page.getByLabel('Method').selectOption('POST');
  await page.getByLabel('Requests').fill('none');
  await page.getByText('Type a path and a number').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('dialog[open] .problem').first().waitFor(); // the API says what is wrong, at the field
  t.equal(await page.getByLabel('Requests').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Requests').fill('2');
  const effect = page.locator('dialog[open] [role="status"]', { hasText: 'would have limited' });
  await effect.getByText(/would have limited 3 of 5 requests of the last hour \(1 client\)/).waitFor();
  t.match(await effect.innerText(), /Every request to protected sites of that hour is recorded/);
  await clicks.on('Save and apply');
  await page.getByText(/^Saved and in force/).waitFor();
  t.ok(clicks.count() <= 5, `a limit on /login takes ${clicks.count()} clicks`);
  const row = rowOf(page, 'POST /login');
  await row.getByText('3 of 5').waitFor();
  t.same(await post(3).then((all) => all.map((status) => status === 429)), [false, false, true], 'and it limits');
  await row.focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Beyond it').selectOption('record');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await row.getByText('record only').waitFor();
  await clicks.on('On the nodes', 'tab');
  await page
    .locator('.card', { hasText: /remembered/ })
    .getByText(/login/)
    .first()
    .waitFor();
  await seenByViewer(t, stack, '/protection/limits', /POST \/login/, ['Add a limit', 'Switch off']);
  t.same(complaints, []);
}

async function connectors(t: Test, stack: Stack): Promise<void> {
  const received: string[] = [];
  const server = createServer((request, reply) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      received.push(body);
      reply.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  t.teardown(() => server.close());
  const { page, complaints } = await stack.open();
  await logIn(page);
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await page.getByRole('link', { name: 'Connectors', exact: true }).click();
  await page.getByText('Security events stay in this installation').waitFor();
  await page.getByText('No alert rule sends notifications').waitFor();
  await page.getByRole('button', { name: 'Add a connector' }).click();
  await page.getByLabel('Name').fill('soc');
  await page.getByLabel('Address').fill('https://10.1.2.3/hook');
  const field = page.locator('dialog[open] .field', { has: page.getByLabel('Address') });
  for (const name of ['Send a test event', 'Save']) {
    await page.getByRole('button', { name, exact: true }).click();
    await field.getByText(/set OUTBOUND_ALLOW=10\.1\.2\.3 in the environment/).waitFor();
    await page.getByLabel('Address').fill(`https://10.1.2.3/${name === 'Save' ? 'x' : 'y'}`);
  }
  const { port } = server.address() as AddressInfo;
  await page.getByLabel('Address').fill(`http://localhost:${port}/hook`);
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText(/^Delivered: event /).waitFor();
  t.match(received, [/Test event/], 'what was typed is tried');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const row = rowOf(page, 'soc');
  await row.waitFor();
  await row.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Edit' }).click();
  await drawer.getByText('Switched on').click();
  await drawer.getByRole('button', { name: 'Save', exact: true }).click();
  await row.getByText('Off', { exact: true }).waitFor();
  await seenByViewer(t, stack, '/connectors?connector=soc', /Switched on/, [
    'Add a connector',
    'Edit',
    'Send a test event',
  ]);
  t.same(complaints, []);
}

async function siteAuth(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await page.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByRole('link', { name: 'Site authentication', exact: true }).click();
  await page.getByText('Site authentication is off').waitFor();
  await page.getByLabel('Protected paths').fill('members');
  await page.getByLabel('Signature algorithm').selectOption('RS256');
  t.equal(await page.getByLabel('Shared key of HS256').count(), 0, 'a key set in place of a shared key');
  await page.getByLabel('Signature algorithm').selectOption('HS256');
  await page.getByLabel('Shared key of HS256').fill('a-shared-key-of-thirty-two-letters');
  await page.getByText('Ask for credentials').click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/write a path that begins with/).waitFor(); // what the API says, at the field
  await page.getByLabel('Protected paths').fill('/members');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/^Saved\./).waitFor();
  t.equal(await askApi(page, 'POST', '/api/apply'), 200);
  t.equal((await page.request.get(`${stack.waf}/members`)).status(), 401);
  await seenByViewer(t, stack, '/protection/authentication', /Ask for credentials/, ['Save']);
  const { page: other } = await stack.open();
  await logIn(other, viewer.email, viewer.own);
  await arrive(other, '/protection/authentication');
  t.match(await other.getByRole('main').innerText(), /Ask for credentials\s+On[^]*\/members/, 'and reads the values');
  t.notMatch(await other.content(), /thirty-two-letters/, 'but no secret');
  await arrive(other, '/protection/bots?view=settings');
  t.match(await other.getByRole('main').innerText(), /What happens to bots[^]*monitor/);
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('pages on which things are set up', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t, { OUTBOUND_ALLOW: 'localhost' });
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await addViewer(t, stack, page);
  await t.test('sites: one is protected in one step, changed and removed', (t) => sites(t, stack));
  t.equal(await askApi(page, 'PATCH', '/api/settings', { sites: [] }), 200);
  t.equal(await askApi(page, 'POST', '/api/apply'), 200);
  await t.test('limits: one on /login, with what it would have limited', (t) => limits(t, stack));
  await t.test('connectors: one is tried before it is saved, a private address is refused', (t) =>
    connectors(t, stack),
  );
  await t.test('site authentication and bots', (t) => siteAuth(t, stack));
});
