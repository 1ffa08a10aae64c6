// The events workbench in a real browser: the sentence, what a share link shows without a login, facets, the range,
// keys with undo, and what attackers write into all of it.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from './page-checks/checks.js';
import {
  askApi,
  chooseOwnPassword,
  go,
  logIn,
  password,
  settled,
  startStack,
  withoutBrowser,
  type Stack,
} from './stack.js';

const nodeToken = 'd'.repeat(40);
const hostile = `1' OR '1'='1<img src=x onerror="document.title=1">\u202e\u0007${'x'.repeat(100_000)}`;

function eventsNow(): object[] {
  const base = { request_id: 'r', site: 'shop', status: 403, verdict: 'block', method: 'GET', kind: 'waf' };
  const said = (rule_id: number, variable: string, value: string, severity = '2') => ({
    ...{ rule_id, message: `says <b>${rule_id}</b>`, data: `Matched Data: OR found within ${variable}: x`, severity },
    ...{ match: `Matched "Operator \`rx'" against variable \`${variable}' (Value: \`${value}')`, tags: [], line: 1 },
    file: 'rules/x.conf',
  });
  return Array.from({ length: 30 }, (_, n) => ({
    ...base,
    request_id: `r${n}`,
    at_ms: Date.now() - n * 60_000,
    client_ip: `203.0.113.${n % 3}`,
    uri: `/orders/${n}?q=1&password=hunter2`,
    rule_id: n % 2 === 0 ? 942_100 : 941_100,
    inbound_score: 13,
    details: {
      headers: [['Host', 'shop.example'], ['Cookie']],
      interruption: { ruleId: 949_110, phase: 2, status: 403 },
      phases: [1, 2],
      messages: [
        said(920_350, 'REQUEST_HEADERS:Host', '192.0.2.1', '4'),
        said(n % 2 === 0 ? 942_100 : 941_100, 'ARGS:q', n === 0 ? hostile : "1' OR '1'='1"),
      ],
    },
  }));
}

async function list(t: Test, page: Page, stack: Stack): Promise<void> {
  const body = JSON.stringify({ node: 'n1', batch_id: 'b1', requests: [], events: eventsNow() });
  const headers = { authorization: `Bearer ${nodeToken}`, 'content-type': 'application/json' };
  const sent = await fetch(`${stack.api}/api/dataplane/records`, { method: 'POST', headers, body });
  t.equal(sent.status, 200, await sent.text());
  await go(page, '/soc');
  await settled(page);
  const grid = page.getByRole('grid', { name: 'Security events' });
  await grid.getByText("1' ").first().waitFor();
  t.match(await grid.innerText(), /SQL injection in query parameter q: 1' OR '1'='1/);
  t.equal(await grid.locator('mark').first().innerText(), 'OR', 'what matched is marked');
  await page.getByText('30 events').waitFor();
  await page.getByText('Facets', { exact: true }).click();
  await page.getByRole('button', { name: 'Category SQL injection, 15 events' }).click();
  await until('the list is what is counted', async () => !(await grid.innerText()).includes('Cross-site'));
  await page.getByText('15 events', { exact: true }).waitFor();
  t.match(page.url(), /category=sqli/);
  await page.getByLabel('Time range', { exact: true }).and(page.locator('select')).selectOption('15m');
  await until('the range narrows counts and list', async () => (await grid.getAttribute('aria-rowcount')) === '9');
  await page.goto('/soc');
  await settled(page);
}

async function keys(t: Test, page: Page): Promise<void> {
  const row = page.getByRole('grid', { name: 'Security events' }).locator('[aria-rowindex="3"]');
  const bans = () =>
    page.evaluate(async () => (await (await fetch('/api/measures?limit=100')).text()).includes('203.0.113.1'));
  await row.focus();
  await page.keyboard.press('b');
  await page.getByText('203.0.113.1 is blocked for a day').waitFor();
  t.equal(await bans(), true);
  await page.getByRole('button', { name: 'Undo' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('203.0.113.1 is not blocked any more').waitFor();
  await row.focus();
  await page.keyboard.press('x');
  await page.getByRole('dialog', { name: 'Exclude from a rule' }).waitFor();
  await page.keyboard.press('Escape');
}

/** Two clicks from an open event: the dialog, and the button that makes and copies the link. */
async function share(t: Test, page: Page, stack: Stack): Promise<string> {
  await page.getByRole('grid', { name: 'Security events' }).locator('[aria-rowindex="2"]').focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Security event' });
  const shown = await drawer.innerText();
  t.match(shown, /critical[^]*SQL injection in query parameter q/, 'category and severity come first');
  t.match(shown, /Matches that the record does not list[^]*\+5[^]*Inbound score/, 'the score adds up');
  t.match(shown, /1 minor rule/, 'noise is folded');
  await drawer.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create and copy link' }).click();
  const field = page.getByLabel('Link', { exact: true });
  await field.waitFor();
  const link = await field.inputValue();
  t.ok(link.startsWith(`${stack.console}/shared#ges_`), link);
  return link;
}

async function shared(t: Test, stack: Stack, link: string): Promise<void> {
  for (const width of [1440, 390]) {
    const { page, complaints } = await stack.open(width);
    await prepareChecks(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const answer = await page.goto(link);
    const headers = answer?.headers() ?? {};
    t.match(headers['x-robots-tag'], /noindex/);
    t.equal(headers['referrer-policy'], 'no-referrer');
    t.match(headers['content-security-policy'], /default-src 'none'/);
    await page.getByRole('heading', { name: 'SQL injection' }).waitFor();
    const text = await page.locator('main').innerText();
    t.match(text, /Read-only, until/);
    t.match(text, /U\+202E/, 'a direction character is named, not obeyed');
    t.notMatch(text, /hunter2|203\.0\.113\.0\b(?!\/24)|n1,/, 'no secret, no address, no node');
    t.notOk(
      asked.some((url) => url.includes('ges_')),
      'the token is in no address that is asked for',
    );
    t.same(await seriousOn(page), [], `axe finds nothing at ${width}`);
    t.same(await tooWide(page), [], `${width} fits`);
    t.notMatch(await page.title(), /^1/);
    t.same(complaints, []);
    await page.context().close();
  }
}

async function revoke(t: Test, page: Page, stack: Stack, link: string): Promise<void> {
  await page.goto('/soc');
  await page.getByRole('button', { name: 'Share links' }).click();
  await page.getByRole('button', { name: /^Revoke the link to SQL injection/ }).click();
  await page.getByText('The link is revoked.').waitFor();
  const other = await stack.open();
  for (const address of [link, `${stack.console}/shared`, `${stack.console}/shared#nonsense`]) {
    await other.page.goto('about:blank');
    await other.page.goto(address);
    await other.page.getByText('This link does not open an event. It may have ended or been revoked').waitFor();
  }
  await other.page.context().close();
}

/** A wall that shows old numbers as if they were new is worse than a dark one. */
async function wall(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open(1920);
  await prepareChecks(page);
  await logIn(page);
  await page.clock.install();
  await go(page, '/soc/wall');
  const tile = (title: string) => page.locator('.wall .tile').filter({ hasText: title });
  await tile('Security events in 15 minutes')
    .getByText(/^[1-9]/)
    .first()
    .waitFor();
  await tile('Kinds of attack').locator('li .truncate').first().waitFor();
  await tile('Latest').locator('.sentence').first().waitFor();
  t.match(await tile('Attack mode').innerText(), /Calm|Off/);
  await settled(page);
  t.same(await seriousOn(page), []);
  t.same(await tooWide(page), []);
  await page.getByRole('button', { name: 'Full screen' }).click();
  await page.locator('.wall:fullscreen').waitFor();
  t.ok(
    await page.locator('.wall').evaluate((one) => one.scrollHeight <= one.clientHeight),
    'nothing has to be scrolled on a wall',
  );
  await page.route('**/api/events/stats*', (route) => route.abort());
  await page.clock.runFor(45_000);
  await page.getByText('No answer from the control plane since').waitFor();
  await page.unroute('**/api/events/stats*');
  await page.clock.runFor(11_000);
  await page.getByText('No answer from the control plane since').waitFor({ state: 'detached' });
  t.same(complaints, []);
  await page.context().close();
}

async function viewer(t: Test, page: Page, stack: Stack): Promise<void> {
  const body = { email: 'viewer@example.org', name: 'V', role: 'viewer', password, must_change_password: false };
  t.equal(await askApi(page, 'POST', '/api/users', body), 201);
  const other = await stack.open(390);
  await prepareChecks(other.page);
  await logIn(other.page, body.email);
  await go(other.page, '/soc');
  await settled(other.page);
  t.equal(await other.page.getByRole('button', { name: 'Share links' }).count(), 0);
  await other.page.getByText('m copies as Markdown').waitFor();
  t.same(await tooWide(other.page), []);
  t.same(await seriousOn(other.page), []);
  await other.page.context().close();
}

t.setTimeout(testMsMax);
t.test('27.2, 27.3: events', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t, { DATA_ADMIN_TOKEN: nodeToken });
  const { page, complaints } = await stack.open();
  await prepareChecks(page);
  await chooseOwnPassword(page);
  await list(t, page, stack);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    t.same(await seriousOn(page, theme === 'light' ? 'all' : 'colours'), [], theme);
  }
  await keys(t, page);
  const link = await share(t, page, stack);
  await shared(t, stack, link);
  await revoke(t, page, stack, link);
  await wall(t, stack);
  await viewer(t, page, stack);
  t.same(complaints, []);
});
