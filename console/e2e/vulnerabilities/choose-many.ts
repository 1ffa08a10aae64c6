import type { Test } from 'tap';
import { go, logIn, type Stack } from '../stack.js';

/** Three open findings are there, and none is chosen. */
export async function chooseMany(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/vulnerabilities');
  await page.getByText('3 of 3 shown').waitFor();
  const boxes = page.locator('.table-row').getByRole('checkbox');
  const all = page.getByRole('checkbox', { name: 'Choose all that are shown' });
  const chosen = (count: number): Promise<void> => page.getByText(`${count} chosen`, { exact: true }).waitFor();
  await boxes.first().click();
  await chosen(1);
  t.equal(await all.evaluate((box: HTMLInputElement) => box.indeterminate), true);
  await boxes.last().click({ modifiers: ['Shift'] });
  await chosen(3);
  t.ok(await all.isChecked(), 'a range with Shift');
  await boxes.nth(1).press('Space');
  await chosen(2);
  await all.press('Space');
  await chosen(3);
  await all.press('Space');
  await page.getByText('3 chosen', { exact: true }).waitFor({ state: 'detached' });
  t.equal(await boxes.first().isChecked(), false);
  t.same(complaints, []);
}
