// The advanced settings in a real browser: looked for, filtered, with units as people write them.
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { press, typeInto } from './page-checks/keyboard.js';
import { chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const stored = (page: Page): Promise<Values> =>
  page.evaluate(async () => (await (await fetch('/api/settings')).json()) as Values);
const hasFocusIn = (page: Page, id: string): Promise<unknown> =>
  page.waitForFunction((at) => document.activeElement?.closest(`[id="${at}"]`) !== null, id);
const target = (page: Page) => page.getByLabel('URI max', { exact: true });
const bar = (page: Page) => page.locator('.save-bar > .notice');

async function units(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/admin/settings?field=limits.uri_bytes_max');
  await hasFocusIn(page, 'limits.uri_bytes_max');
  t.match(page.url(), /settings\/limits#limits\.uri_bytes_max$/, 'in the group that it belongs to');
  t.equal(await target(page).inputValue(), '8 KiB');
  t.match(await page.locator('[id="limits.uri_bytes_max"]').innerText(), /\n256 B to 64 KiB · default: 8 KiB$/);
  await typeInto(page, target(page), '16 apples');
  await page.getByText('Write a size such as 500 B, 64 KiB or 10 MB.').waitFor();
  await typeInto(page, target(page), '16384');
  await page.keyboard.press('Tab');
  t.equal(await target(page).inputValue(), '16 KiB', 'written in short once it is left');
  await typeInto(page, page.getByLabel('Client idle', { exact: true }), '1.5 min');
  await bar(page).getByText('2 changes not saved').waitFor();
  await page.evaluate(() => window.scrollTo(0, 0));
  const box = await bar(page).boundingBox();
  t.ok(box !== null && box.y > 0 && box.y + box.height <= 900, 'what saves them is in sight');
  await press(page, bar(page).getByRole('button', { name: 'Save', exact: true }));
  await bar(page).waitFor({ state: 'detached' });
  t.match(await stored(page), { limits: { uri_bytes_max: 16_384 }, timeouts: { client_idle_ms: 90_000 } });
  await go(page, '/admin/settings#rl_window');
  await hasFocusIn(page, 'rl_window');
  await typeInto(page, page.locator('#rl_window input'), '30 s');
  await press(page, bar(page).getByRole('button', { name: 'Save', exact: true }));
  await bar(page).waitFor({ state: 'detached' });
  t.match(await stored(page), { rl_window: '30s' });
  await go(page, '/admin/settings?field=no_such_setting');
  await page.getByText('There is no setting “no_such_setting”').waitFor();
  t.same(complaints, []);
}

const shownSettings = (page: Page): Promise<string[]> => page.locator('.settings-grid code.faint').allInnerTexts();

async function filters(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/admin/settings');
  await page.getByText('Only what differs from the default or is not saved').click();
  await page.locator('#limits').waitFor();
  const changed = ['second_opinion', 'limits', 'timeouts', 'rl_window'];
  t.same(await shownSettings(page), changed, 'what was saved, of every group, and what new installations begin with');
  await page.getByRole('searchbox', { name: 'Find a setting' }).fill('request target');
  await page.locator('#timeouts').waitFor({ state: 'detached' });
  t.same(await shownSettings(page), ['limits']);
  t.match(page.url(), /\?(?=.*q=request)(?=.*changed=1)/, 'the view can be linked');
  await page.getByRole('button', { name: 'Use the default of Limits' }).click();
  await bar(page).getByText('1 change not saved').waitFor();
  t.same(await shownSettings(page), ['limits'], 'what is not saved stays');
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('No setting fits').waitFor();
  t.match(await stored(page), { limits: { uri_bytes_max: 8192 } });
  await page.getByRole('navigation', { name: 'Groups of settings' }).getByRole('link', { name: 'HTTPS' }).click();
  await page.locator('#https_redirect').waitFor();
  t.equal(await page.getByRole('searchbox', { name: 'Find a setting' }).inputValue(), '', 'a group is no filter');
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('the advanced settings in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('sizes and times are read and written with their units', (t) => units(t, stack));
  await t.test('settings are found by words, and by what differs', (t) => filters(t, stack));
});
