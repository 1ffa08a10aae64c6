// What every page of the console shares, in a real browser.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { askApi, chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

const addressesMax = 400;

const namesOf = (page: Page): Promise<string[]> => page.locator('.table-row td:first-child').allInnerTexts();

async function tables(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/protection/addresses');
  await page.getByText('Nobody is denied').waitFor();
  const addresses = [...Array(addressesMax).keys()].map((at) => `198.18.${at >> 8}.${at & 255}`);
  t.equal(await askApi(page, 'POST', '/api/threat-intel', { addresses, reason: 'a test' }), 200);
  await page.reload();
  const table = page.getByRole('table', { name: 'Denied addresses' });
  await table.waitFor();
  const sort = table.getByRole('button', { name: 'Network' });
  await sort.click();
  t.equal(await table.getByRole('columnheader', { name: 'Network' }).getAttribute('aria-sort'), 'ascending');
  const first = (await namesOf(page))[0];
  await sort.click();
  t.equal(await table.getByRole('columnheader', { name: 'Network' }).getAttribute('aria-sort'), 'descending');
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

t.setTimeout(testMsMax);
t.test('what every page shares', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('C1: a table is put in order, walked by keys, drawn in parts; it says when it fails', (t) =>
    tables(t, stack),
  );
});
