// Threat models, the assistant, events at run time and dashboards, in a browser.
import t from 'tap';
import { arrive, askApi, chooseOwnPassword, startStack, withoutBrowser } from './stack.js';

t.test('threat models, assistant, run time and dashboards', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page, complaints } = await stack.open(1440);
  await chooseOwnPassword(page);
  t.equal(await askApi(page, 'POST', '/api/v1/applications', { name: 'Shop', environment: 'prod' }), 201);
  const application = { application_id: '1', severity: 'high', title: 'Forged requests', cwe: ['CWE-918'] };
  t.equal(await askApi(page, 'POST', '/api/v1/vulnerabilities', application), 201);

  await t.test('a threat model begins with what is known, and a threat is decided', async (t) => {
    await arrive(page, '/vulnerabilities/threat-models');
    await page.getByRole('button', { name: 'New threat model' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Shop and its clients');
    await form.getByLabel('Application').selectOption({ label: 'Shop' });
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop and its clients' }).waitFor();
    const picture = page.getByRole('img', { name: 'Data flows of Shop and its clients' });
    await picture.waitFor();
    const width = () => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await page.waitForFunction(
      () => (document.querySelector<HTMLImageElement>('.threat-picture img')?.naturalWidth ?? 0) > 0,
    );
    t.ok((await width()) > 200, 'the picture is drawn');
    await page
      .getByRole('row', { name: /Requests use it up/ })
      .first()
      .click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('State').selectOption('accepted');
    await drawer.getByLabel('Reason').fill('For a month.');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('For a month.').waitFor();
  });

  await t.test('the assistant says that it is off, and is switched on', async (t) => {
    await arrive(page, '/vulnerabilities/assistant');
    await page.getByText('The assistant is switched off; an administrator switches it on.').waitFor();
    await page.getByText('The assistant may be asked').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No model is configured.').first().waitFor();
    t.pass('it says what is missing next');
  });

  await t.test('a sensor is registered, and its key is shown once', async (t) => {
    await arrive(page, '/vulnerabilities/runtime?view=sensors');
    await page.getByRole('button', { name: 'Register a sensor' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Application').selectOption({ label: 'Shop' });
    await form.getByLabel('Name').fill('agent');
    await form.getByRole('button', { name: 'Register' }).click();
    t.match(await form.locator('code').textContent(), /^gs_/);
  });

  await t.test('the dashboard of the release is drawn', async (t) => {
    await arrive(page, '/vulnerabilities/dashboards');
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Open findings', exact: true }) });
    t.equal(await card.first().locator('.dashboard-number').textContent(), '1');
  });
  t.same(complaints, [], 'no page complained');
});
