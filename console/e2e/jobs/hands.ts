// The same job by mouse, with its clicks counted, and by keyboard alone.
import type { Locator, Page } from 'playwright-core';
import { until } from '#api/testing/waiting';
import { choose, openRow, press, tabTo, typeInto } from '../page-checks/keyboard.js';

export interface Hand {
  readonly name: 'mouse' | 'keys';
  /** Of the mouse since `begin`; typing into a field that has the focus is none. */
  readonly clicks: number;
  begin(): void;
  /** A button, a link, a box. */
  press(target: Locator): Promise<void>;
  /** Over what the field holds. */
  type(field: Locator, text: string): Promise<void>;
  /** The choice of a select that begins so: with a mouse one click opens it, one chooses. */
  choose(select: Locator, beginning: string): Promise<void>;
  openRow(row: Locator): Promise<void>;
  /** From a tab that is open to the one that is so many behind it. */
  tab(open: Locator, wanted: Locator, behind: number): Promise<void>;
}

export function keysOf(page: Page): Hand {
  return {
    name: 'keys',
    clicks: 0,
    begin: () => undefined,
    press: async (target) => {
      const isBox = (await target.getAttribute('type')) === 'checkbox';
      await press(page, target, isBox ? 'Space' : 'Enter');
    },
    type: (field, text) => typeInto(page, field, text),
    choose: (select, beginning) => choose(page, select, beginning),
    openRow: (row) => openRow(page, row),
    async tab(open, _wanted, behind) {
      await tabTo(page, open);
      for (let at = 0; at < behind; at += 1) await page.keyboard.press('ArrowRight');
    },
  };
}

export function mouseOf(page: Page): Hand {
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    await target.click();
    clicks += 1;
  };
  return {
    name: 'mouse',
    get clicks() {
      return clicks;
    },
    begin: () => void (clicks = 0),
    press: click,
    async type(field, text) {
      await field.waitFor();
      if (!(await field.evaluate((element) => element === document.activeElement))) await click(field);
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    },
    async choose(select, beginning) {
      const begins = (option: string): boolean => option.toLowerCase().startsWith(beginning.toLowerCase());
      const labelOf = async () => (await select.locator('option').allTextContents()).find(begins);
      // choices may be on their way from the control plane
      await until(`${String(select)} has the choice ${beginning}`, async () => (await labelOf()) !== undefined);
      const label = (await labelOf()) ?? '';
      await select.selectOption({ label });
      clicks += 2;
    },
    openRow: click,
    tab: (_open, wanted) => click(wanted),
  };
}
