// Scans of a running application in a real browser: a target that is verified, a scan in three clicks, what it found,
// a finding that is proved again, and the switch for all scans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from '../page-checks/checks.js';
import { chooseOwnPassword, go, settled, startStack, withoutBrowser } from '../stack.js';

/** A shop with one flaw: its page repeats the search term without encoding. */
async function startShop(t: Test) {
  const shop = { token: '', url: '' };
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '/', 'http://shop.example');
    const page = (body: string) => void reply.writeHead(200, { 'content-type': 'text/html' }).end(body);
    if (url.pathname === '/.well-known/gatehouse-scan.txt') return void reply.end(shop.token);
    if (url.pathname === '/')
      return page('<form action="/find"><input name="term" value="shoe"></form><script src="/a.js"></script>');
    if (url.pathname === '/find') return page(`<p>Found for ${url.searchParams.get('term') ?? ''}</p>`);
    reply.writeHead(404).end('nothing here');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  shop.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return shop;
}

const ask = (page: Page, method: string, path: string, body: unknown = null): Promise<Record<string, any>> =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
      const reply = await fetch(path, { method, headers, ...(body === 'null' ? {} : { body }) });
      return (await reply.json()) as Record<string, unknown>;
    },
    [method, path, JSON.stringify(body)] as const,
  );

async function looksRight(t: Test, page: Page, what: string): Promise<void> {
  await settled(page);
  t.same(await tooWide(page), [], `${what}: nothing is cut off`);
  t.same(await seriousOn(page, 'all'), [], `${what}: axe finds nothing`);
}

/** From the finding of the scan to a run that has proven it, with its requests and answers. */
async function proveByExploit(t: Test, page: Page, shop: string): Promise<void> {
  const { items } = await ask(page, 'GET', '/api/v1/findings?limit=100');
  const finding = (items as { id: string; rule_id?: string; title: string }[]).find(({ title }) =>
    /script/i.test(title),
  );
  await go(page, `/vulnerabilities/exploit-runs?finding=${finding?.id ?? ''}`);
  await page.getByLabel('Target', { exact: true }).selectOption({ label: `${shop}/` });
  await page.getByLabel('Technique', { exact: true }).selectOption('reflected-marker');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const run = page.getByRole('dialog', { name: /^Run \d+$/ });
  await run.getByText('proven', { exact: true }).waitFor({ timeout: 60_000 });
  await run.getByText('owner: the attack → 200').waitFor();
  await looksRight(t, page, 'run');
  await page.keyboard.press('Escape');
}

async function makeSchedule(t: Test, page: Page, shop: string): Promise<void> {
  await go(page, '/vulnerabilities/schedules');
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  const drawer = page.getByRole('dialog');
  await drawer.getByLabel('Name').fill('every night');
  await drawer.getByLabel('Target', { exact: true }).selectOption({ label: `${shop}/` });
  await drawer.getByLabel('Profile').selectOption('quick');
  await drawer.getByLabel('When').fill('0 3 * * *');
  await looksRight(t, page, 'form of a schedule');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByRole('button', { name: 'Pause' }).click();
  await drawer.getByRole('button', { name: 'Resume' }).waitFor();
  await looksRight(t, page, 'schedule');
}

t.setTimeout(testMsMax);
t.test('scans of a running application', { skip: withoutBrowser }, async (t) => {
  const shop = await startShop(t);
  const stack = await startStack(t, { OUTBOUND_ALLOW: '127.0.0.0/8', CHROMIUM: 'none' });
  const { page, complaints } = await stack.open();
  await prepareChecks(page);
  await chooseOwnPassword(page);
  const view = '/vulnerabilities/scans?view=active';
  await go(page, view);
  await page.getByText('No target yet').waitFor();
  const { id: application } = await ask(page, 'POST', '/api/v1/applications', { name: 'Shop', environment: 'prod' });
  const body = { application_id: application, url: `${shop.url}/`, waf_url: shop.url, requests_per_second: 500 };
  const { id: target } = await ask(page, 'POST', '/api/v1/targets', body);
  await page.reload();
  await page.getByLabel('Target', { exact: true }).selectOption({ label: `${shop.url}/` });
  await page.getByText('This target is not verified').waitFor();
  t.ok(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled(), 'nothing is begun there');
  await page.getByRole('link', { name: 'Verify it' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Look for it: File' }).click();
  await drawer.getByText('gatehouse-scan.txt answers 200').waitFor();
  shop.token = String((await ask(page, 'GET', `/api/v1/targets/${target}/verification`))['file'].contents);
  await drawer.getByRole('button', { name: 'Look for it: File' }).click();
  await drawer.getByText('Verified by file').waitFor();
  await go(page, view);
  await page.getByLabel('Target', { exact: true }).selectOption({ label: `${shop.url}/` });
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const scan = page.getByRole('dialog', { name: /^Scan \d+$/ });
  await scan.getByText(/^1 page that needs a browser was not looked at in one\. .* CHROMIUM .* says none\.$/).waitFor();
  const card = scan.locator('section', { hasText: '[term]' }).first();
  await card.getByText('exploitable behind the firewall').waitFor({ timeout: 150_000 });
  await card.getByRole('button', { name: 'Prove again' }).click();
  await page.getByText('It is still there.').waitFor();
  // the rule was tried with the request of the evidence before the card says that it fits
  await card.getByText('A virtual patch fits').waitFor();
  await settled(page);
  for (const [name, width, scheme] of [
    ['light', 1440, 'light'],
    ['dark', 1440, 'dark'],
    ['narrow', 390, 'light'],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    t.same(await tooWide(page), [], `${name}: nothing is cut off`);
    t.equal(await scan.locator('.body').evaluate((body) => body.scrollWidth > body.clientWidth), false, name);
    t.same(await seriousOn(page, name === 'light' ? 'all' : 'colours'), [], `${name}: axe finds nothing`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await card.getByRole('link', { name: 'Propose a virtual patch' }).click();
  const form = page.getByRole('dialog', { name: /^Virtual patch for finding/ });
  await form.getByRole('button', { name: 'Propose a virtual patch' }).click();
  await page.getByText('The patch is a draft. Look at it, then put it in force.').waitFor();
  await go(page, view);
  await page.getByRole('button', { name: 'Stop all scans' }).click();
  const question = page.getByRole('dialog', { name: 'Stop all scans?' });
  await question.getByLabel('Reason').fill('maintenance');
  await question.getByRole('button', { name: 'Stop all scans' }).click();
  await page.getByText(/maintenance/).waitFor();
  t.equal(await page.getByRole('button', { name: 'Start', exact: true }).count(), 0, 'nothing begins meanwhile');
  await page.getByRole('button', { name: 'Let scans run again' }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  await proveByExploit(t, page, shop.url);
  await makeSchedule(t, page, shop.url);
  t.same(complaints, []);
});
