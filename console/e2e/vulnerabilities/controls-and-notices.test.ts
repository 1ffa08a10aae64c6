// Compliance by findings, and Notifications, in a real browser: a control is attested and the attestation withdrawn, a
// gap is accepted and the exception ended; a channel is refused, made and tested, and a route delivers to it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Locator, Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from '../page-checks/checks.js';
import { attackable, sarifOf, type Told } from '../reports-of-tools.js';
import {
  arrive,
  askApi,
  chooseOwnPassword,
  logIn,
  password,
  startStack,
  withoutBrowser,
  type Stack,
} from '../stack.js';

const viewer = { email: 'viewer@example.org', name: 'V', role: 'viewer', password, must_change_password: false };
const organisation = '/compliance?view=organisation';
const notifications = '/vulnerabilities/notifications';

const rowOf = (page: Page, text: string): Locator => page.locator('.table-row', { hasText: text });

/** The drawer of a control, once its result is the given one. */
async function openControl(page: Page, title: string): Promise<Locator> {
  await rowOf(page, title).click();
  const drawer = page.getByRole('dialog', { name: 'Control', exact: true });
  await drawer.getByRole('heading', { name: title }).waitFor();
  return drawer;
}

const result = (drawer: Locator, name: string): Promise<void> =>
  drawer.locator('.badge').getByText(name, { exact: true }).first().waitFor();

async function importFindings(t: Test, page: Page, application: string, findings: readonly Told[]): Promise<void> {
  const status = await page.evaluate(
    async ([application, report]) => {
      const body = new FormData();
      body.append('application_id', application);
      body.append('file', new Blob([report], { type: 'application/json' }), 'report.sarif');
      const headers = { 'x-gatehouse-request': '1' };
      return (await fetch('/api/v1/imports', { method: 'POST', headers, body })).status;
    },
    [application, sarifOf(findings)] as const,
  );
  t.equal(status, 202, 'findings are imported');
}

async function makeApplication(t: Test, page: Page): Promise<string> {
  const body = { name: 'Shop', environment: 'prod' };
  t.equal(await askApi(page, 'POST', '/api/v1/applications', body), 201);
  return page.evaluate(async () => {
    const { items } = (await (await fetch('/api/v1/applications')).json()) as { items: { id: string }[] };
    return items[0]?.id ?? '';
  });
}

/** No finding of axe, nothing wider than the window, in both widths; leaves the window wide. */
async function looksRight(t: Test, page: Page, name: string): Promise<void> {
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    t.same(await tooWide(page), [], `${name}: ${width} fits`);
    const isCut = await page.evaluate(() =>
      [...document.querySelectorAll('dialog[open] .body')].some((body) => body.scrollWidth > body.clientWidth),
    );
    t.equal(isCut, false, `${name}: what is open fits ${width}`);
  }
  t.same(await seriousOn(page), [], `${name}: axe finds nothing`);
}

async function compliance(t: Test, page: Page): Promise<void> {
  const handled = 'Mishandling of exceptional conditions';
  await arrive(page, organisation);
  t.match(await rowOf(page, handled).innerText(), /met/, 'a scan left nothing open');
  await looksRight(t, page, 'controls');
  const drawer = await openControl(page, handled);
  await drawer.getByLabel('Answer', { exact: true }).selectOption('not_met');
  await drawer.getByLabel('Reason').fill('no error handler is tested');
  await drawer.getByLabel('Owner').fill('Ada');
  await drawer.getByRole('button', { name: 'Attest', exact: true }).click();
  await result(drawer, 'gap');
  t.match(await drawer.innerText(), /Ada attested that it is not met[^]*not met by Ada, until/);
  await looksRight(t, page, 'attested');
  await page.keyboard.press('Escape');
  await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Shop' });
  await openControl(page, handled);
  await drawer.getByText('It is for the whole organisation', { exact: false }).waitFor();
  t.equal(await drawer.getByRole('button', { name: 'Withdraw the attestation' }).count(), 0, 'not from an application');
  await page.keyboard.press('Escape');
  await page.getByLabel('Application', { exact: true }).selectOption('');
  await openControl(page, handled);
  await drawer.getByRole('button', { name: 'Withdraw the attestation' }).click();
  await result(drawer, 'met');
  t.notMatch(await drawer.innerText(), /Ada/, 'the attestation counts no longer');
  await page.keyboard.press('Escape');
  t.match(await rowOf(page, 'A05').innerText(), /Injection[^]*1[^]*high[^]*gap/);
  await openControl(page, 'Injection');
  await drawer.getByRole('link', { name: 'OS command injection in the converter' }).waitFor();
  await drawer.getByRole('button', { name: 'Accept the gap until then' }).click();
  await drawer.getByRole('alert').waitFor(); // neither reason nor owner is given yet
  await drawer.getByLabel('Reason').fill('the converter goes in spring');
  await drawer.getByLabel('Owner').fill('Grace');
  await drawer.getByRole('button', { name: 'Accept the gap until then' }).click();
  await result(drawer, 'excepted');
  t.match(await drawer.innerText(), /Exception\s+accepted by Grace, until [^]*: the converter goes in spring/);
  await drawer.getByRole('button', { name: 'End the exception now' }).click();
  await result(drawer, 'gap');
}

/** Takes notices; `received` holds their bodies. */
async function startReceiver(t: Test) {
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
  return { received, url: `http://localhost:${(server.address() as AddressInfo).port}/hook` };
}

async function channel(t: Test, page: Page, url: string): Promise<void> {
  await arrive(page, `${notifications}?view=routes`);
  await page.getByRole('button', { name: 'New route' }).click();
  await page.getByRole('dialog', { name: 'New route' }).getByText('Add a channel first').waitFor();
  await arrive(page, notifications);
  await page.getByRole('button', { name: 'New channel' }).click();
  const form = page.getByRole('dialog', { name: 'New channel' });
  await form.getByLabel('Name', { exact: true }).fill('security team');
  await form.getByLabel('Kind').selectOption({ label: 'Webhook' });
  await form.getByLabel('Secret', { exact: true }).fill('k'.repeat(32));
  await form.getByLabel('Address', { exact: true }).fill('https://10.1.2.3/hook');
  await form.getByRole('button', { name: 'Save' }).click();
  const refusal = form.getByRole('alert').getByText(/may not be asked[^]*OUTBOUND_ALLOW/);
  await refusal.waitFor();
  const isInSight = (element: Element): boolean => element.getBoundingClientRect().bottom <= window.innerHeight;
  t.ok(await refusal.evaluate(isInSight), 'and that is in sight, however long the form is');
  await looksRight(t, page, 'channel-refused');
  await form.getByLabel('Address', { exact: true }).fill(url);
  await form.getByRole('button', { name: 'Save' }).click();
  const drawer = page.getByRole('dialog', { name: 'Channel', exact: true });
  await drawer.getByText('not tested').waitFor();
  await drawer.getByRole('button', { name: 'Send a test' }).click();
  await drawer.getByText('The receiver accepted it').waitFor();
  await result(drawer, 'works');
  await looksRight(t, page, 'channel');
}

async function route(t: Test, page: Page): Promise<void> {
  await arrive(page, `${notifications}?view=routes`);
  await page.getByRole('button', { name: 'New route' }).click();
  const form = page.getByRole('dialog', { name: 'New route' });
  await form.getByLabel('Name', { exact: true }).fill('all that is severe');
  t.equal(await form.getByLabel('Channel').locator('option:checked').textContent(), 'security team');
  await form.getByLabel('Minimum severity').selectOption('high');
  await form.getByRole('button', { name: 'Save' }).click();
  const drawer = page.getByRole('dialog', { name: 'Route', exact: true });
  await drawer.getByText('security team').waitFor();
  t.match(await drawer.innerText(), /all that is severe[^]*high/);
  await looksRight(t, page, 'route');
}

/** Returns the secret that was shown. */
async function webhook(t: Test, page: Page, url: string): Promise<string> {
  await arrive(page, `${notifications}?view=webhooks`);
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('Address', { exact: true }).fill(url);
  await form.getByLabel('Events', { exact: true }).fill('finding.created');
  await form.getByRole('button', { name: 'Save' }).click();
  const drawer = page.getByRole('dialog', { name: 'Webhook', exact: true });
  const secret = await drawer.locator('code', { hasText: 'whsec_' }).innerText();
  await drawer.getByRole('button', { name: 'Send a test' }).click();
  await result(drawer, 'works');
  await looksRight(t, page, 'webhook');
  return secret;
}

async function seenByViewer(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page, viewer.email);
  const offered = (of: Page | Locator): Promise<number> =>
    of.getByRole('button', { name: /^(Attest|Accept|Withdraw|End|New |Edit|Delete|Send)/ }).count();
  await arrive(page, organisation);
  const control = await openControl(page, 'Injection');
  await result(control, 'gap');
  t.equal(await offered(control), 0, 'a viewer reads a control');
  await arrive(page, notifications);
  await rowOf(page, 'security team').click();
  const drawer = page.getByRole('dialog', { name: 'Channel', exact: true });
  await drawer.getByText('Written by').waitFor();
  t.equal(await offered(page), 0, 'and a channel');
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('controls are answered, and notices are sent', { skip: withoutBrowser }, async (t) => {
  const { received, url } = await startReceiver(t);
  const stack = await startStack(t, { OUTBOUND_ALLOW: 'localhost' });
  const { page, complaints } = await stack.open();
  await prepareChecks(page);
  await chooseOwnPassword(page);
  t.equal(await askApi(page, 'POST', '/api/users', viewer), 201);
  const application = await makeApplication(t, page);
  await importFindings(t, page, application, attackable.slice(1, 2));
  await compliance(t, page);
  await channel(t, page, url);
  t.equal(received.length, 1, 'the test message is the only one so far');
  const secret = await webhook(t, page, url);
  await route(t, page);
  const finding = { application_id: application, title: 'Hard-coded password', severity: 'high', cwe: ['CWE-798'] };
  t.equal(await askApi(page, 'POST', '/api/v1/vulnerabilities', finding), 201);
  await until('the route delivers', () => received.some((body) => body.includes('Hard-coded password')));
  await arrive(page, `${notifications}?view=deliveries`);
  t.match(await rowOf(page, 'Hard-coded password').first().innerText(), /sent/);
  await looksRight(t, page, 'notices');
  await until('the webhook delivers', () => received.some((body) => body.includes('"type":"finding.created"')));
  await arrive(page, `${notifications}?view=webhooks`);
  await page.locator('.table-row').first().click();
  const drawer = page.getByRole('dialog', { name: 'Webhook', exact: true });
  await drawer.getByRole('button', { name: 'Send again' }).waitFor();
  t.notOk((await page.content()).includes(secret), 'the secret is shown once');
  await seenByViewer(t, stack);
  t.same(complaints, []);
});
