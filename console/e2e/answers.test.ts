// What a page says before an answer is there: that it waits. No list counts, or calls itself empty, of what it does not
// know yet, and the rows of an older question are not taken for the answer to a newer one.
import t, { type Test } from 'tap';
import type { Page, Route } from 'playwright-core';
import { testMsMax } from '#api/testing/waiting';
import { askApi, chooseOwnPassword, go, logIn, startStack, withoutBrowser, type Stack } from './stack.js';

/** Pages with lists, and where the rows of each come from. */
const lists: readonly (readonly [page: string, ...sources: string[]])[] = [
  ['/soc', '/api/events'],
  ['/requests', '/api/requests'],
  ['/protection/addresses', '/api/measures', '/api/threat-intel'],
  ['/vulnerabilities', '/api/v1/findings'],
  ['/vulnerabilities/applications', '/api/v1/applications'],
  ['/vulnerabilities/targets', '/api/v1/targets'],
  ['/vulnerabilities/assessments', '/api/v1/assessments'],
  ['/vulnerabilities/policies', '/api/v1/policies'],
  ['/vulnerabilities/imports', '/api/v1/imports'],
  ['/vulnerabilities/reports', '/api/v1/reports', '/api/v1/vex'],
  ['/vulnerabilities/chains?view=table', '/api/v1/graph/attack-chains'],
  ['/vulnerabilities/chains?view=fix', '/api/v1/graph/chokepoints'],
  ['/waf/rules', '/api/rules'],
  ['/admin/changes', '/api/config/versions'],
  ['/admin/nodes', '/api/nodes'],
  ['/admin/audit', '/api/audit'],
  ['/admin/users', '/api/users'],
  ['/admin/tokens', '/api/tokens', '/api/v1/tokens'],
  ['/account', '/api/account/sessions'],
];

interface Held {
  /** Resolves when the page has asked one of them. */
  readonly asked: Promise<void>;
  /** Lets every answer go, those that come later, too. */
  release(): Promise<void>;
}

/** Keeps back the answers from these addresses, and from those below them, until they are let go. */
async function hold(page: Page, ...sources: readonly string[]): Promise<Held> {
  const kept: Route[] = [];
  let isHeld = true;
  let saw: () => void;
  const asked = new Promise<void>((resolve) => (saw = resolve));
  const matches = ({ pathname }: URL): boolean =>
    sources.some((source) => pathname.startsWith(source)) && !pathname.endsWith('/stream');
  const keep = async (route: Route): Promise<void> => {
    saw();
    if (!isHeld) return route.continue();
    kept.push(route);
  };
  await page.route(matches, keep);
  return {
    asked,
    release: async () => {
      isHeld = false;
      await Promise.all(kept.map((route) => route.continue().catch(() => null))); // the page may have given one up
      await page.unroute(matches, keep);
    },
  };
}

const claims = /\d shown|all there are|^(No |There are no |Nobody |Nothing )/;

/** What stands on a page that only somebody who knows the answer may say. */
const claimed = async (page: Page): Promise<string[]> =>
  (await page.locator('main .table-count, main [role="status"], main .state strong').allInnerTexts()).filter((text) =>
    claims.test(text),
  );

async function beforeTheFirst(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  for (const [path, ...sources] of lists) {
    const held = await hold(page, ...sources);
    await go(page, path);
    await held.asked;
    await page.locator('main .spinner').first().waitFor();
    t.same(await claimed(page), [], `${path} says nothing of what it does not know`);
    await held.release();
    await page.locator('main .spinner').first().waitFor({ state: 'detached' });
    await page.locator('main :is(.table-row, .state strong)').first().waitFor();
  }
}

async function lateAnswer(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  let asked = 0;
  // the first question is never answered, the next ones are
  await page.route('**/api/requests*', (route) => (asked++ === 0 ? undefined : route.continue()));
  await go(page, '/requests');
  const late = page.getByText('The control plane has not answered for 5 seconds.');
  await late.waitFor();
  t.same(await claimed(page), []);
  await page.getByRole('region', { name: 'Notes' }).getByRole('button', { name: 'Try again' }).click();
  await page.locator('.table-row').first().waitFor();
  await late.waitFor({ state: 'detached' });
  await page.unroute('**/api/requests*');
  await page.route('**/api/account', (route) => (route.request().method() === 'PATCH' ? undefined : route.continue()));
  await go(page, '/account');
  await page.getByLabel('Time zone').selectOption('UTC');
  await page.getByText('The control plane is still at work on this.').waitFor();
  t.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'nothing that changes is sent twice');
}

async function anotherQuestion(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await go(page, '/requests');
  await page.getByText(/\d shown, all there are/).waitFor();
  const held = await hold(page, '/api/requests');
  await page.getByLabel('Filter').fill('status:599');
  await page.getByLabel('Filter').press('Enter');
  await held.asked;
  await page.locator('.table-scroll[aria-busy="true"]').waitFor();
  t.same(await claimed(page), [], 'older rows are not counted as the answer');
  await held.release();
  await page.getByText('0 shown, all there are').waitFor();
  await page.route('**/api/requests*', (route) => route.fulfill({ status: 503, json: { detail: 'Not now.' } }));
  await page.getByRole('button', { name: 'Remove the filter status' }).click();
  await page.getByText('This could not be read').waitFor();
  t.equal(await page.locator('.table-row').count(), 0);
  t.same(await claimed(page), [], 'a refusal is not a number');
}

async function refusedQuestion(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await go(page, '/requests');
  await page.locator('.table-row').first().waitFor();
  await page.route('**/api/requests*', (route) => route.fulfill({ status: 503, json: { detail: 'Not now.' } }));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('What is shown is not up to date').waitFor();
  t.ok((await page.locator('.table-row').count()) > 0, 'the same question: what is there stays');
  await page.getByLabel('Filter').fill('verdict:block');
  await page.getByLabel('Filter').press('Enter');
  await page.getByText('This could not be read').waitFor();
  t.equal(await page.locator('.table-row').count(), 0, 'another question: rows of the older one go');
}

t.setTimeout(testMsMax);
t.test('lists say only what they know', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  for (let at = 0; at < 3; at += 1) await fetch(`${stack.waf}/?seen=${at}`);
  t.equal(await askApi(page, 'GET', '/api/account'), 200);
  await go(page, '/requests');
  await page.waitForFunction(async () => {
    const { items } = (await (await fetch('/api/requests')).json()) as { items: unknown[] };
    return items.length >= 3;
  });
  await t.test('C1: before the first answer', (t) => beforeTheFirst(t, stack));
  await t.test('27.10: an answer that does not come', (t) => lateAnswer(t, stack));
  await t.test('C1: while another question is asked', (t) => anotherQuestion(t, stack));
  await t.test('C1: when another question is refused', (t) => refusedQuestion(t, stack));
});
