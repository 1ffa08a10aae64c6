// The side bar, the tabs of its sections and pinned pages, in a real browser.
import type { Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { prepareChecks, seriousOn, tooWide } from './page-checks/checks.js';
import { goByPalette, press } from './page-checks/keyboard.js';
import { chooseOwnPassword, go, logIn, settled, startStack, withoutBrowser, type Stack } from './stack.js';

const bar = (page: Page, name = 'Pages'): Locator => page.getByRole('navigation', { name, exact: true });
const linkOf = (page: Page, name: string, within = 'Pages'): Locator =>
  bar(page, within).getByRole('link', { name, exact: true });
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

async function sections(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await heading(page, 'Overview');
  const entries = bar(page).getByRole('list').getByRole('link');
  t.ok((await entries.count()) <= 15, `${await entries.count()} entries`);
  t.equal(await linkOf(page, 'Overview').getAttribute('aria-current'), 'page');
  await linkOf(page, 'Rules').click();
  await heading(page, 'Rule set');
  t.equal(await linkOf(page, 'Rules').getAttribute('aria-current'), 'page');
  await linkOf(page, 'Tuning', 'Rules').click();
  await heading(page, 'Tuning');
  t.match(page.url(), /\/waf\/tuning$/, 'a tab has an address of its own');
  t.equal(await linkOf(page, 'Tuning', 'Rules').getAttribute('aria-current'), 'page');
  t.equal(await linkOf(page, 'Rule set', 'Rules').getAttribute('aria-current'), null);
  t.equal(await linkOf(page, 'Rules').getAttribute('aria-current'), 'true', 'the entry that it belongs to');
  await page.goBack();
  await heading(page, 'Rule set');
  await page.goForward();
  await heading(page, 'Tuning');
  await go(page, '/waf/rules/new');
  t.equal(await linkOf(page, 'Custom rules', 'Rules').getAttribute('aria-current'), 'true', 'a rule is below its tab');
  await go(page, '/account');
  t.equal(await page.locator('.section-bar').count(), 0);
  for (const zone of ['UTC', 'GMT+4']) {
    await page.getByLabel('Time zone').selectOption(zone);
    await page.getByText('Times are shown in that zone now.').last().waitFor();
    await page
      .getByText(new RegExp(`^\\d{4}-\\d\\d-\\d\\d [\\d:]{8} ${zone.replace('+', '\\+')}$`))
      .first()
      .waitFor();
    await go(page, '/soc');
    await page.getByText(`Time (${zone})`).first().waitFor();
    await go(page, '/account');
  }
  await goByPalette(page, 'attack mode', 'Attack mode');
  t.same(complaints, []);
}

async function byKeyboard(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await linkOf(page, 'Sites').focus();
  await page.keyboard.press('ArrowDown');
  t.ok(await linkOf(page, 'Rules').evaluate((link) => link === document.activeElement), 'down');
  await page.keyboard.press('Enter');
  await heading(page, 'Rule set');
  await press(page, linkOf(page, 'Rule set', 'Rules'), 'ArrowRight');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await heading(page, 'Tuning');
}

const pin = (page: Page): Locator => page.getByRole('button', { name: /to the side bar$/ });
const groupOf = (page: Page, name: string): Locator => bar(page).getByRole('button', { name, exact: true });

async function personal(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/waf/tuning');
  t.equal(await pin(page).getAttribute('aria-pressed'), 'false');
  await press(page, pin(page));
  await linkOf(page, 'Tuning').waitFor();
  await groupOf(page, 'Protect').click();
  await linkOf(page, 'Sites').waitFor({ state: 'detached' });
  t.equal(await linkOf(page, 'Rules').count(), 1, 'the open entry stays in sight');
  await page.reload();
  await heading(page, 'Tuning');
  t.equal(await groupOf(page, 'Protect').getAttribute('aria-expanded'), 'false');
  t.equal(await pin(page).getAttribute('aria-pressed'), 'true', 'both are stored');
  await go(page, '/');
  await linkOf(page, 'Tuning').click();
  await heading(page, 'Tuning');
  const paths = ['/soc', '/requests', '/alerts', '/connectors', '/sites', '/waf', '/waf/rules'];
  for (const path of [...paths, '/waf/patches']) {
    await go(page, path);
    await pin(page).click();
  }
  await page.getByText('At most 8 pages can be pinned').waitFor();
  t.equal(await pin(page).getAttribute('aria-pressed'), 'false');
  await go(page, '/waf/tuning');
  await pin(page).click();
  await linkOf(page, 'Tuning').waitFor({ state: 'detached' });
  t.same(complaints, []);
}

/** In each width and theme, with the menu open where it is one. */
async function looks(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await prepareChecks(page);
  await logIn(page);
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await go(page, '/admin/licence');
    await settled(page);
    t.same(await tooWide(page), [], `${width}: nothing sticks out`);
    const current = linkOf(page, 'Licence', 'System');
    const seen = await current.evaluate((link) => {
      const [{ left, right }, list] = [link.getBoundingClientRect(), link.closest('ul')?.getBoundingClientRect()];
      return list !== undefined && left >= list.left - 1 && right <= list.right + 1;
    });
    t.ok(seen, `${width}: the open tab is in sight`);
    if (width <= 1100) {
      const menu = page.getByRole('button', { name: 'Pages', exact: true });
      await press(page, menu);
      await linkOf(page, 'System').waitFor();
      t.ok(await linkOf(page, 'System').evaluate((link) => link === document.activeElement), 'the focus goes into it');
    }
    for (const theme of ['dark', 'light']) {
      await page.evaluate((name) => void (document.documentElement.dataset['theme'] = name), theme);
      t.same(await seriousOn(page), [], `${width}, ${theme}`);
    }
    if (width > 1100) continue;
    await page.keyboard.press('Escape');
    await linkOf(page, 'System').waitFor({ state: 'hidden' });
    t.ok(await page.locator('.menu-button').evaluate((button) => button === document.activeElement), 'and comes back');
  }
}

t.setTimeout(testMsMax);
t.test('the navigation in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('an entry leads to its tabs, and the address to both', (t) => sections(t, stack));
  await t.test('by keyboard alone', (t) => byKeyboard(t, stack));
  await t.test('pages are pinned, groups are closed, both are stored', (t) => personal(t, stack));
  await t.test('in every width and theme', (t) => looks(t, stack));
});
