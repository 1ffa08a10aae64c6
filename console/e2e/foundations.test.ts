// What every page of the console shares, in a real browser.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { URI, type TOTP } from 'otpauth';
import { press, typeInto } from './page-checks/keyboard.js';
import {
  askApi,
  chooseOwnPassword,
  email,
  go,
  logIn,
  password,
  startStack,
  withoutBrowser,
  type Stack,
} from './stack.js';

const addressesMax = 400;

const namesOf = (page: Page): Promise<string[]> => page.locator('.table-row td:first-child').allInnerTexts();

async function tables(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/protection/addresses');
  await page.getByText('No client is blocked, challenged or slowed down').waitFor();
  const addresses = [...Array(addressesMax).keys()].map((at) => `198.18.${at >> 8}.${at & 255}`);
  t.equal(await askApi(page, 'POST', '/api/threat-intel', { addresses, reason: 'a test' }), 200);
  await page.reload();
  const table = page.getByRole('table', { name: 'Client measures' });
  await table.waitFor();
  const sort = table.getByRole('button', { name: 'Client' });
  await sort.click();
  t.equal(await table.getByRole('columnheader', { name: 'Client' }).getAttribute('aria-sort'), 'ascending');
  const first = (await namesOf(page))[0];
  await sort.click();
  t.equal(await table.getByRole('columnheader', { name: 'Client' }).getAttribute('aria-sort'), 'descending');
  t.not((await namesOf(page))[0], first, 'the order is turned');
  await sort.click();
  await page.locator('.table-row').first().focus();
  for (let at = 1; at <= addressesMax; at += 100) {
    await page.keyboard.press('End'); // the end is near: the next page is read
    await page.waitForFunction(
      (count) => Number(document.querySelector('.table')?.getAttribute('aria-rowcount')) > count,
      Math.min(addressesMax, at + 98),
    );
  }
  await page.keyboard.press('End');
  const last = page.locator(`.table-row[aria-rowindex="${addressesMax + 1}"]`);
  await last.waitFor();
  await page.waitForFunction(() => document.activeElement?.classList.contains('table-row'));
  t.ok((await page.locator('.table-row').count()) < 120, 'only what is seen is drawn');
  await page.keyboard.press('Home');
  await page.locator('.table-row[aria-rowindex="2"]:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('.table-row[aria-rowindex="3"]:focus').waitFor();
  t.equal(await page.locator('.table-row[tabindex="0"]').count(), 1, 'Tab reaches one row');
  await page.route('**/api/tokens*', (route) => route.fulfill({ status: 503, json: { detail: 'Not now.' } }));
  await go(page, '/admin/tokens');
  await page.getByText('This could not be read').waitFor();
  await page.unroute('**/api/tokens*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('There are no tokens').waitFor();
  t.same(complaints, []);
}

async function palette(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Commands' });
  await page.keyboard.type('rl_trusted');
  await dialog.getByRole('option', { name: /Trusted proxies/i }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('#rl_trusted_proxies').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('#rl_trusted_proxies') !== null);
  t.match(page.url(), /settings\/\w+#rl_trusted_proxies$/, 'a setting by its name, where it is edited');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('block a');
  await dialog.getByRole('option', { name: /Block a client/ }).waitFor();
  await page.keyboard.press('Enter');
  await typeInto(page, page.getByLabel('Addresses and networks'), '192.0.2.99 # by keys\n192.0.2.128/25');
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }));
  await page.getByText('2 clients: blocked on all nodes.').waitFor();
  for (const client of ['192.0.2.128/25', '192.0.2.99']) {
    const row = page.locator('.table-row', { hasText: client });
    await press(page, row.getByRole('button', { name: 'Unblock' }));
    await row.waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zzz');
  await dialog.getByText('Nothing is called that.').waitFor();
  await page.keyboard.press('Escape');
  t.equal(await askApi(page, 'POST', '/api/v1/applications', { name: 'Walrus shop' }), 201);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('walrus');
  await dialog.getByRole('option', { name: /^Walrus shop.*Application$/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /Walrus shop|Application/ }).waitFor();
  t.match(page.url(), /applications\?application=\d+$/, 'what is protected, by its name');
  await page.keyboard.press('Escape');
  await page.locator('body').click({ position: { x: 700, y: 400 } });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard help' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  const filter = page.getByLabel('Filter');
  await filter.fill('');
  await filter.pressSequentially('ga?');
  t.equal(await filter.inputValue(), 'ga?', 'what is typed into a field is no command');
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  t.same(complaints, []);
}

async function unsaved(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await go(page, '/admin/settings/limits');
  await page.getByRole('link', { name: 'Rules', exact: true }).click();
  await go(page, '/waf');
  await page.getByLabel('Inbound threshold').fill('8');
  await page.getByRole('link', { name: 'System' }).click();
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
  await dialog.getByRole('button', { name: 'Stay here' }).click();
  t.equal(await page.getByLabel('Inbound threshold').inputValue(), '8', 'staying keeps what was typed');
  let asked = 0;
  page.on('dialog', (browsers) => {
    asked += 1;
    void browsers.accept();
  });
  await page.reload();
  t.equal(asked, 1, 'the browser asks before the window goes');
  await page.getByLabel('Inbound threshold').fill('8');
  await page.getByRole('link', { name: 'System' }).click();
  await dialog.getByRole('button', { name: 'Leave and discard' }).click();
  await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor();
  await go(page, '/waf/rules/new');
  await page.getByLabel('Name').fill('half a rule');
  await page.getByRole('link', { name: 'System' }).click();
  await dialog.getByRole('button', { name: 'Leave and discard' }).click();
  await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor();
  t.equal(asked, 1);
}

async function sessionEnds(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/waf');
  await page.getByLabel('Inbound threshold').fill('6');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('E-mail').fill(email);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await dialog.waitFor({ state: 'hidden' });
  t.equal(await page.getByLabel('Inbound threshold').inputValue(), '6', 'what was typed is still there');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Saved\./).waitFor();
  await go(page, '/soc');
  await page.getByText('live', { exact: true }).waitFor();
  t.same(complaints, []);
}

/** The files that a page began with are gone; `isGone` false: the server answers nothing in their place. */
async function losePartsOf(page: Page, isGone: boolean): Promise<void> {
  await page.route('**/assets/**', (route) => {
    if (isGone) return route.fulfill({ status: 404, body: 'There is nothing here.' });
    return route.abort('connectionrefused');
  });
}

async function upgraded(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await go(page, '/admin/nodes');
  await go(page, '/waf/rules/new');
  const notice = page.locator('.notice', { hasText: 'A newer version is here' });
  await page.getByLabel('Name').fill('half a rule');
  await losePartsOf(page, true);
  await page.getByRole('tab', { name: 'Seclang' }).click();
  await notice.waitFor();
  await page.getByLabel('Seclang', { exact: true }).fill('SecAction "id:1,phase:1,pass"');
  t.equal(await page.getByLabel('Name').inputValue(), 'half a rule', 'what was typed stays');
  page.once('dialog', (browsers) => void browsers.dismiss());
  const asked = page.waitForEvent('dialog');
  await notice.getByRole('button', { name: 'Load it again' }).click();
  await asked;
  t.match(
    await page.getByLabel('Seclang', { exact: true }).inputValue(),
    /SecAction/,
    'the browser asks before it goes',
  );
  await page.keyboard.type('ga'); // to the audit log
  await page.getByRole('button', { name: 'Leave and discard' }).click();
  await page.getByLabel('Name').waitFor({ state: 'detached' });
  t.equal(await notice.count(), 1);
  t.equal(await page.locator('.notice').count(), 1, 'nothing says that the page has failed');
  await page.unroute('**/assets/**');
  await notice.getByRole('button', { name: 'Load it again' }).click();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  t.equal(await notice.count(), 0);
  await losePartsOf(page, false);
  await page.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByText('A part of the console could not be loaded').waitFor();
  t.equal(await notice.count(), 0, 'a server that is away has replaced nothing');
  await page.keyboard.type('ga'); // to the audit log
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  t.equal(await page.locator('.notice').count(), 0, 'another page is not the one that failed');
}

/** Modules of the drawn code that are dark. */
const darkModules = (page: Page): Promise<Set<string>> =>
  page
    .getByRole('img', { name: 'QR code of the key' })
    .locator('path')
    .getAttribute('d')
    .then((d) => new Set([...(d ?? '').matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => `${x} ${y}`)));

async function secondFactor(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/account');
  await typeInto(page, page.getByLabel('Your password'), 'not the password');
  await press(page, page.getByRole('button', { name: 'Set up' }));
  await page.getByText('The current password is wrong.').waitFor();
  t.equal(await page.getByText('Your session has ended').count(), 0, 'L2: a wrong password ends no session');
  await typeInto(page, page.getByLabel('Your password'), password);
  await press(page, page.getByRole('button', { name: 'Set up' }));
  const dark = await darkModules(page);
  const size = Math.max(...[...dark].map((place) => Number(place.split(' ')[0]))) + 5;
  for (const [x, y] of [
    [4, 4],
    [size - 11, 4],
    [4, size - 11],
  ] as const) {
    t.ok(dark.has(`${x} ${y}`) && dark.has(`${x + 6} ${y + 6}`) && dark.has(`${x + 3} ${y + 3}`), 'a finder pattern');
    t.notOk(dark.has(`${x + 1} ${y + 1}`), 'with its light ring');
  }
  const uri = (await page.getByRole('link', { name: /Open in an app/ }).getAttribute('href')) ?? '';
  const totp = URI.parse(uri) as TOTP;
  const code = page.getByLabel('Code', { exact: true });
  await typeInto(page, code, totp.generate({ timestamp: 0 })); // of long ago
  await press(page, page.getByRole('button', { name: 'Turn on' }));
  await page.getByRole('alert').waitFor();
  t.equal(await page.getByText('Your session has ended').count(), 0, 'L2: nor does a wrong code');
  await typeInto(page, code, totp.generate());
  await press(page, page.getByRole('button', { name: 'Turn on' }));
  await page.getByText(/Recovery codes: shown once/).waitFor();
  const codes = await page.locator('.notice li').allInnerTexts();
  await press(page, page.getByRole('button', { name: 'I have kept them' }));
  await page.getByRole('button', { name: 'Turn off' }).waitFor();
  t.equal(await page.locator('.notice li').count(), 0, 'L2: codes that are kept are not shown any more');
  const other = await stack.open();
  await other.page.goto('/');
  await other.page.getByLabel('E-mail').fill(email);
  await other.page.getByLabel('Password').fill(password);
  await other.page.keyboard.press('Enter');
  await other.page.getByLabel('One-time code').fill(codes[0] ?? '');
  await other.page.keyboard.press('Enter');
  await other.page.locator('.shell').waitFor();
  t.pass('a recovery code is a second factor');
  t.same(complaints, []);
}

async function demo(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/demo');
  await page.getByRole('heading', { name: 'Try to attack it' }).waitFor();
  await page.getByRole('button', { name: 'SQL injection in a search' }).click();
  await page.getByText('Blocked with status 403').waitFor();
  t.match(await page.locator('main').innerText(), /942100[^]*ARGS:q/, 'the rule, and where it looked');
  await page.getByRole('button', { name: 'A harmless search' }).click();
  await page.getByText('No rule has anything to say about it.').waitFor();
  await page.getByLabel('Headers').fill('no header at all');
  await page.getByRole('button', { name: 'Send it' }).click();
  await page.getByText('This is no header: no header at all').waitFor();
  await page.getByLabel('Headers').fill('');
  await page.getByLabel('Path and query').fill(`/?q=<img src=x onerror=document.title=1>\u202e' OR '1'='1`);
  await page.getByRole('button', { name: 'Send it' }).click();
  await page.locator('.odd-byte').first().waitFor();
  t.notMatch(await page.title(), /^1$/, 'what is shown is text');
  const data = asked.filter((path) => path.startsWith('/api/'));
  t.same([...new Set(data)], ['/api/demo'], 'nothing else is asked for');
  await page.getByRole('link', { name: 'Log in to the console' }).click();
  await page.getByLabel('Password').waitFor();
  t.same(complaints, []);
}

/** An application of somebody's own. */
async function startApplication(t: Test): Promise<string> {
  const server = createServer((_, reply) => reply.end('the application of the test'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function firstSteps(t: Test, stack: Stack): Promise<void> {
  const application = await startApplication(t);
  const { page, complaints } = await stack.open();
  await logIn(page);
  // `up` tries an attack when it starts, which nobody has seen
  await page.locator('.steps').getByText('Waiting for').waitFor();
  const seen = page.locator('.steps .notice.good');
  t.equal(await seen.count(), 0, 'L4: what `up` sent itself is not the first attack');
  t.equal((await fetch(`${stack.waf}/search?before=1&q=1'%20OR%20'1'='1`)).status, 403);
  await seen.getByText('before=1').waitFor(); // A3: whoever attacked before naming an application does not wait again
  const upstream = page.getByLabel('Address of your application');
  await typeInto(page, upstream, 'not an address');
  await press(page, page.getByRole('button', { name: 'Protect it' }));
  await page.locator('.steps').getByRole('alert').waitFor(); // it says what is wrong, where it was typed
  await typeInto(page, upstream, application);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('button', { name: 'Apply', exact: true }));
  await until('the application answers', async () =>
    (await (await fetch(stack.waf)).text()).includes('the application of the test'),
  );
  t.equal((await fetch(`${stack.waf}/search?mine=1&q=1'%20OR%20'1'='1`)).status, 403);
  await seen.getByText('mine=1').waitFor(); // the newest
  // each step asks for itself: the event may be seen before the answer of what is in force
  await page.locator('.steps .badge.good').nth(2).waitFor();
  t.equal(await page.locator('.steps .badge.good').count(), 3, 'all three are done');
  await press(page, page.getByRole('link', { name: 'See which rules saw it, and why' }));
  await page.getByRole('dialog').getByRole('heading', { name: 'What the rules saw' }).waitFor();
  await go(page, '/');
  await page.getByText('Traffic', { exact: true }).waitFor();
  t.equal(await page.getByText('Three steps to start').count(), 0, 'done is done');
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('what every page shares', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('C2, A2: three steps by keyboard: an application is named, protected, and its first attack seen', (t) =>
    firstSteps(t, stack),
  );
  await t.test('C1: a table is put in order, walked by keys, drawn in parts; it says when it fails', (t) =>
    tables(t, stack),
  );
  await t.test('C3: the palette knows pages, settings and actions; keys', (t) => palette(t, stack));
  await t.test('C3: nothing unsaved is left behind unasked', (t) => unsaved(t, stack));
  await t.test('C3: a session that ends takes nothing along', (t) => sessionEnds(t, stack));
  await t.test('L1: an upgrade under an open page is told calmly, and takes nothing along', (t) => upgraded(t, stack));
  await t.test('C1: a second factor is enrolled by its QR code', (t) => secondFactor(t, stack));
  await t.test('C4: anybody may try an attack, without a login', (t) => demo(t, stack));
});
