// Entries of lists in the settings (sites, rate zones, endpoint limits, connectors …), added and named by keyboard.
import t, { type Test } from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

/** Pages with a list of entries, and how many such lists each has at least. */
const pages: readonly (readonly [key: string, listsMin: number])[] = [
  ['sites', 1],
  ['exclusions', 1],
  ['rates', 2],
  ['delivery', 1],
];

async function named(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  for (const [key, listsMin] of pages) {
    await go(page, `/admin/settings/${key}`);
    // lists within an entry have buttons of their own, which a closed entry hides
    const adds = page.getByRole('main').getByRole('button', { name: 'Add', exact: true }).filter({ visible: true });
    await adds.first().waitFor();
    const lists = await adds.count();
    t.ok(lists >= listsMin, `${key} has ${lists} lists`);
    for (let list = 0; list < lists; list++) {
      const at = `${key} ${list + 1}`;
      const entries = adds.nth(list).locator('xpath=../../details');
      const before = await entries.count();
      for (const index of [before, before + 1]) {
        await adds.nth(list).focus();
        await page.keyboard.press('Enter');
        const entry = page.locator('details[open]').first();
        const field = entry.locator('input[type="text"], textarea').first();
        await field.focus();
        const word = `1-word-${index}`;
        await page.keyboard.type(word);
        t.ok(await field.evaluate((element) => document.activeElement === element), `${at}: the field keeps the focus`);
        t.match(await field.inputValue(), word, `${at}: the whole word is there`);
        t.equal(await entry.getAttribute('open'), '', `${at}: its card stays open`);
        const areas = entry.locator('textarea').filter({ visible: true });
        for (let area = 0; area < (await areas.count()); area++) {
          await areas.nth(area).focus();
          await page.keyboard.press('Control+A');
          await page.keyboard.type('two words ');
          await page.keyboard.press('Enter');
          await page.keyboard.type('line');
          t.equal(
            await areas.nth(area).inputValue(),
            'two words \nline',
            `${at}: blanks and line ends of area ${area}`,
          );
        }
        await entry.locator('summary').first().locator('strong').first().click();
        t.equal(await page.locator('details[open]').count(), 0, `${at}: a card is closed by its user`);
      }
      t.equal(await entries.count(), before + 2, `${at}: two entries are added`);
      await entries.nth(before).locator('summary').first().click();
      await page.locator('details[open]').first().getByRole('button', { name: 'Remove' }).first().click();
      t.equal(await entries.count(), before + 1, `${at}: one is removed`);
      t.match(await entries.nth(before).innerText(), /1-word-/, `${at}: the other one stays`);
    }
    await page.reload();
  }
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('entries of lists in the settings', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await chooseOwnPassword((await stack.open()).page);
  await t.test('a new entry stays open while its name is typed', (t) => named(t, stack));
});
