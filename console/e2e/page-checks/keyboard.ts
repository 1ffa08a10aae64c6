// A person who has a keyboard only: what is reached is reached by Tab, what is pressed is pressed by a key.
import type { Locator, Page } from 'playwright-core';

/** More than any page has: beyond it there is no way there. */
const stopsMax = 300;

const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => {
    // within the editor of rules the focus is behind a shadow root, whose host stands for it outside
    const root = element.getRootNode() as Document | ShadowRoot;
    return root.activeElement === element || element.contains(root.activeElement);
  });

/** Goes to `target` by Tab alone, from wherever the focus is. Throws Error when Tab does not lead there. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let at = 0; at < stopsMax; at += 1) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(target)}.`);
}

/** Goes there by Tab and presses `key`. */
export async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Goes to a field by Tab and types over what it holds. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Goes to a select by Tab and to the choice that begins with what is typed, as browsers find it. */
export async function choose(page: Page, select: Locator, beginning: string): Promise<void> {
  await tabTo(page, select);
  await page.keyboard.type(beginning);
}

/** From the navigation, by way of the link that skips it, to the content. */
export async function skipToContent(page: Page): Promise<void> {
  await press(page, page.locator('.skip-link'));
}

/** Goes to the rows of a table by Tab, and among them to `row` by the arrow keys; opens it by Enter. */
export async function openRow(page: Page, row: Locator): Promise<void> {
  await row.waitFor();
  // a page may have several tables, and each is one stop
  await tabTo(page, row.locator('xpath=ancestor::table[1]').locator('.table-row[tabindex="0"]'));
  for (let at = 0; !(await hasFocus(row)); at += 1) {
    if (at === stopsMax) throw new Error(`The arrow keys do not lead to ${String(row)}.`);
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
}

/** To a page by what the palette calls it. */
export async function goByPalette(page: Page, words: string, heading: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(words);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}
