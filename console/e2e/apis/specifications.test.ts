// Specifications of APIs in a real browser: a mistake with its line, versions, what breaks, what is in force, and what
// the protected port does then.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { choose, goByPalette, openRow, press, typeInto } from '../page-checks/keyboard.js';
import { askApi, chooseOwnPassword, go, logIn, settled, startStack, withoutBrowser, type Stack } from '../stack.js';

const hostile = '<img/src=x/onerror="document.title=1">';

const documentOf = (queryMax: number, more = ''): string =>
  `openapi: 3.1.0
info: { title: '${hostile}', version: '1.${queryMax}' }
servers: [{ url: / }]
paths:
  /search:
    get:
      summary: '${hostile}'
      parameters:
        - { name: q, in: query, required: true, schema: { type: string, maxLength: ${queryMax} } }
      responses: { '200': { description: found } }
${more}`;

const other = `  /about:
    get:
      responses: { '200': { description: about } }
`;

const areaOf = (page: Page) => page.getByLabel('or the document itself');

async function mistakes(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/inventory/specifications');
  await page.getByText('No specification was uploaded yet').waitFor();
  await areaOf(page).fill(`openapi: 3.1.0\ninfo: { title: a, version: '1' }\npaths:\n  orders:\n    get: 7\n`);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const problem = page.getByRole('alert');
  await problem.waitFor();
  t.match(await problem.innerText(), /line 4[^]*orders/, 'the mistake has its line, and the line is shown');
  t.notMatch(await problem.innerText(), /\(line/, 'once');
  await areaOf(page).fill('{ "openapi": "3.1.0", ');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText(/It was not taken: one mistake/).waitFor();
  t.same(complaints, []);
}

async function versions(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await goByPalette(page, 'specifications', 'Specifications');
  await typeInto(page, areaOf(page), documentOf(20, other));
  await press(page, page.getByRole('button', { name: 'Upload', exact: true }));
  await page.getByText('Version 1 is stored, with 2 operations').waitFor();
  // which file is chosen in a dialog of the system, which a page does not see
  await page.getByLabel('File').setInputFiles({
    name: `${hostile}.yaml`,
    mimeType: 'application/yaml',
    buffer: Buffer.from(documentOf(5)),
  });
  await until('the file is read', async () => (await areaOf(page).inputValue()).includes('maxLength: 5'));
  await press(page, page.getByRole('button', { name: 'Upload', exact: true }));
  await page.getByText('Version 2 is stored, with 1 operation').waitFor();
  const changes = page.getByRole('table', { name: 'What changed' });
  t.match(await changes.innerText(), /breaks[^]*\/about/, 'a path that went breaks clients');
  await press(page, page.getByRole('button', { name: 'Upload', exact: true }));
  await page.getByText('The newest version, 2, has the same text').waitFor();
  const list = page.getByRole('grid', { name: 'Stored versions' });
  t.equal(await list.locator('.table-row').count(), 2);
  t.match(await list.locator('.table-row').first().innerText(), /2[^]*named by the settings/);
  await openRow(page, list.locator('.table-row').nth(1));
  const drawer = page.getByRole('dialog', { name: 'Specification' });
  await drawer.getByRole('table', { name: 'Operations' }).waitFor();
  t.match(await drawer.innerText(), /\/about/);
  await choose(page, drawer.getByLabel('Compare with'), '2');
  await drawer.getByText('From version 1 to version 2').waitFor();
  await press(page, drawer.getByText('The document as it was sent'));
  t.match(await drawer.locator('pre').innerText(), /maxLength: 20/);
  await page.keyboard.press('Escape');
  t.notMatch(await page.title(), /^1$/, 'nothing of it ran');
  t.equal(await page.locator('main img, dialog img').count(), 0);
  t.same(complaints, []);
}

async function apply(page: Page): Promise<void> {
  await go(page, '/admin/changes');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText('Everything that is saved is in force').waitFor();
}

async function inForce(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/inventory/specifications');
  await choose(page, page.getByLabel('Requests that do not fit'), 'bl');
  await press(page, page.getByRole('button', { name: 'Save' }));
  await page.getByText(/^Saved\./).waitFor();
  t.not((await fetch(`${stack.waf}/search?q=longer-than-five`)).status, 403, 'saved is not in force');
  await apply(page);
  t.equal((await fetch(`${stack.waf}/search?q=longer-than-five`)).status, 403, 'what does not fit is refused');
  t.not((await fetch(`${stack.waf}/search?q=coat`)).status, 403, 'what fits passes');
  t.not((await fetch(`${stack.waf}/unknown`)).status, 403, 'paths that nobody declares: as the settings say');
  await go(page, '/inventory/specifications');
  await page.getByRole('grid', { name: 'Stored versions' }).locator('.table-row').nth(1).click();
  const drawer = page.getByRole('dialog', { name: 'Specification' });
  await drawer.getByRole('button', { name: 'Name it in the settings' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Undeclared paths').selectOption('block');
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Saved\./).waitFor();
  await apply(page);
  t.not((await fetch(`${stack.waf}/search?q=longer-than-five`)).status, 403, 'the older version is in force');
  t.equal((await fetch(`${stack.waf}/unknown`)).status, 403, 'and its unknown paths are refused');
  t.same(complaints, []);
}

/** What was seen and is not declared: the gap between the two. */
async function gap(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  const entryOf = (path: string) => ({
    startedDateTime: new Date().toISOString(),
    time: 5,
    request: { method: 'GET', url: `http://customer${path}`, headers: [], queryString: [] },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', size: 10 } },
  });
  const entries = ['/search', '/backdoor'].map(entryOf);
  await go(page, '/inventory/specifications');
  const site = await page.getByRole('grid', { name: 'Stored versions' }).locator('.table-row td').first().innerText();
  await askApi(page, 'POST', `/api/ingest?site=${encodeURIComponent(site)}`, { log: { version: '1.2', entries } });
  await go(page, '/inventory?shadow=true');
  await until('what is not declared is listed', async () => {
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
    return (await page.locator('.table-row', { hasText: '/backdoor' }).count()) > 0;
  });
  t.equal(await page.locator('.table-row', { hasText: '/search' }).count(), 0, 'what is declared is no shadow');
  await goByPalette(page, 'gaps', 'Gaps');
  const shadows = page.getByRole('table', { name: 'Seen, not declared' }).locator('.table-row');
  await shadows.first().waitFor();
  const counted = page.locator('.figure', { hasText: 'Seen, not declared' }).locator('.value');
  t.equal(Number(await counted.innerText()), await shadows.count(), 'the figure of the gaps is their table');
  t.match((await shadows.allInnerTexts()).join(' '), /backdoor/, 'and names the endpoint');
  t.match(await page.getByRole('table', { name: 'By site' }).innerText(), /default \d/, 'with what is in force');
  await go(page, '/inventory?shadow=true');
  const figure = page.getByRole('link', { name: /^Shadow/ }).locator('.value');
  t.equal(Number(await figure.innerText()), await page.locator('.table-row').count(), 'the figure is what is listed');
}

async function deletion(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await go(page, '/inventory/specifications');
  const rows = page.getByRole('grid', { name: 'Stored versions' }).locator('.table-row');
  await page.getByLabel('Name it in the settings at once').uncheck();
  await areaOf(page).fill(documentOf(99));
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText('The settings do not name it.').waitFor();
  await until('it is listed', async () => (await rows.count()) === 3);
  await rows.nth(1).click(); // a kept version of the settings names it
  const drawer = page.getByRole('dialog', { name: 'Specification' });
  await drawer.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete this version?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await question.getByRole('alert').waitFor();
  t.match(await question.getByRole('alert').innerText(), /settings/, 'the refusal says why');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.keyboard.press('Escape');
  await rows.first().click();
  await drawer.getByRole('button', { name: 'Delete' }).click();
  await question.getByRole('button', { name: 'Delete' }).click();
  await until('it is gone', async () => (await rows.count()) === 2);
}

t.setTimeout(testMsMax);
t.test('specifications in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await t.test('S1: a mistake is told with its line', (t) => mistakes(t, stack));
  await t.test('S2, A2: by keyboard alone: versions are uploaded, opened and compared', (t) => versions(t, stack));
  await t.test('S3: what is named and applied is what the port does', (t) => inForce(t, stack));
  await t.test('S4, A2: by keyboard alone: what is seen and not declared is listed', (t) => gap(t, stack));
  await t.test('S5: a version that settings need is kept, another is deleted', (t) => deletion(t, stack));
});
