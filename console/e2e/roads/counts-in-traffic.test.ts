// Figures and their lists in a real browser while requests come all the time.
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from '../stack.js';

/** How many requests a list has, read to its end. */
const countAll = (page: Page, question: URLSearchParams): Promise<number> =>
  page.evaluate(async (asked) => {
    let [count, cursor]: [number, string | null] = [0, ''];
    while (cursor !== null) {
      const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const reply = await fetch(`/api/requests?limit=500&${asked}${more}`);
      const { items, next_cursor } = (await reply.json()) as { items: unknown[]; next_cursor: string | null };
      count += items.length;
      cursor = next_cursor;
    }
    return count;
  }, question.toString());

/** Requests come all the time, some records late: a figure and its list are asked up to the same record. */
async function countsInTraffic(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  const stop = new AbortController();
  const traffic = (async () => {
    while (!stop.signal.aborted) await fetch(`${stack.waf}/busy?q=1`).then((reply) => reply.text());
  })();
  try {
    for (const name of [/^Requests/, /^Blocked/]) {
      await go(page, '/?span=1h');
      const figure = page.locator('a.figure', { hasText: name });
      await figure.waitFor();
      // the figure is counted anew until it is opened: its address and its number are read at once
      const [counted, href] = await figure.evaluate((link) => {
        const shown = link.querySelector('.value')?.textContent ?? '';
        return [Number(shown.replaceAll(',', '')), link.getAttribute('href') ?? ''] as const;
      });
      const question = new URLSearchParams(href.slice(href.indexOf('?')));
      const newer = new URLSearchParams({ from: question.get('from') ?? '' });
      const before = await countAll(page, newer);
      await until('more was stored since', async () => (await countAll(page, newer)) > before);
      t.equal(await countAll(page, question), counted, `${name.source}: the list is what was counted`);
    }
  } finally {
    stop.abort();
    await traffic;
  }
}

t.setTimeout(testMsMax);
t.test('counts under traffic in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await t.test('C8: a number is that of its list while requests come', (t) => countsInTraffic(t, stack));
});
