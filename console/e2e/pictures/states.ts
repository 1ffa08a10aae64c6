// What pages look like only sometimes: answers that are slow or refused, a control plane that is away, and all that
// a click opens. Whatever would change something is refused, so that every button may be tried; the refusals are shown.
import type { Page } from 'playwright-core';
import { settled } from '../browser.js';

/** Takes a picture of what is shown. */
export type Shoot = (name: string) => Promise<void>;

const openedPerPageMax = 14;
const questions = /\/api\/(?!account$|account\?|brand|licen)/;
const problem = (status: number): string =>
  JSON.stringify({
    type: 'urn:gatehouse:problem:unavailable',
    title: 'The database does not answer',
    status,
    detail:
      'The database does not answer (connection refused); what is asked for cannot be read. Try again in a moment.',
    code: 'unavailable',
  });

/** How the control plane answers: never, with 503 and a reason, with 500 and none, or not at all. */
export const weathersKnown = ['slow', 'refused', 'failing', 'away'] as const;
type Weather = (typeof weathersKnown)[number];

async function begin(page: Page, weather: Weather): Promise<void> {
  await page.route(questions, async (route) => {
    if (weather === 'slow') return; // answered never: what waits is what is pictured
    if (weather === 'away') return route.abort('connectionrefused');
    const body = weather === 'failing' ? 'Internal Server Error' : problem(503);
    await route.fulfill({ status: weather === 'failing' ? 500 : 503, contentType: 'application/problem+json', body });
  });
}

/** Each page while its questions are not answered as they should be. */
export async function pictureWeather(page: Page, path: string, weathers: readonly Weather[], shoot: Shoot) {
  for (const weather of weathers) {
    await begin(page, weather);
    await page.goto(path);
    await page
      .getByRole('heading', { level: 1 })
      .waitFor({ timeout: 5_000 })
      .catch(() => undefined);
    if (weather !== 'slow') await settled(page).catch(() => undefined);
    else await page.waitForTimeout(400);
    await shoot(`${path} ${weather}`);
    await page.unroute(questions);
  }
}

/** Refuses whatever would change something. */
export async function refuseChanges(page: Page): Promise<void> {
  await page.route(/\/api\//, async (route) => {
    const method = route.request().method();
    const isRead = method === 'GET' || /query|preview|explain|what-if|\/test|login|dry/.test(route.request().url());
    if (isRead) await route.continue();
    else await route.fulfill({ status: 503, contentType: 'application/problem+json', body: problem(503) });
  });
}

async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await settled(page);
}

const isOpen = (page: Page): Promise<boolean> => page.evaluate(() => document.querySelector('dialog[open]') !== null);

/** Clicks it, and pictures what it opened. Returns whether it opened anything. */
async function pictureOpened(page: Page, selector: string, at: number, name: string, shoot: Shoot): Promise<boolean> {
  const button = page.locator(selector).nth(at);
  if (!(await button.isVisible().catch(() => false)) || !(await button.isEnabled())) return false;
  await button.click({ timeout: 2_000 }).catch(() => undefined);
  await page.waitForTimeout(60);
  await settled(page).catch(() => undefined);
  if (!(await isOpen(page)) && (await page.locator('.toast').count()) === 0) return false;
  await shoot(name);
  return true;
}

/** Everything that a button of the page opens, and the first row of its table with what its buttons open. */
export async function pictureOpening(page: Page, path: string, shoot: Shoot): Promise<void> {
  await openPage(page, path);
  const buttons = 'main button:not([role="tab"]):not([role="switch"]):not([aria-pressed])';
  const count = Math.min(await page.locator(buttons).count(), openedPerPageMax);
  let isFresh = true;
  for (let at = 0; at < count; at += 1) {
    if (!isFresh) await openPage(page, path);
    const title =
      (
        await page
          .locator(buttons)
          .nth(at)
          .textContent()
          .catch(() => '')
      )
        ?.trim()
        .slice(0, 30) ?? '';
    const before = page.url();
    const isOpened = await pictureOpened(page, buttons, at, `${path} > ${title}`, shoot);
    isFresh = !isOpened && page.url() === before;
  }
  await pictureRow(page, path, shoot);
}

async function pictureRow(page: Page, path: string, shoot: Shoot): Promise<void> {
  await openPage(page, path);
  const row = page.locator('main [role="row"][tabindex], main tbody tr[tabindex]').first();
  if ((await row.count()) === 0) return;
  if (!(await pictureOpened(page, 'main [role="row"][tabindex], main tbody tr[tabindex]', 0, `${path} row`, shoot)))
    return;
  const inside = 'dialog[open] .body button:not([role="tab"]):not([role="switch"]), dialog[open] footer button';
  const address = page.url();
  const count = Math.min(await page.locator(inside).count(), openedPerPageMax);
  for (let at = 0; at < count; at += 1) {
    await openPage(page, address);
    const button = page.locator(inside).nth(at);
    const title = (await button.textContent({ timeout: 500 }).catch(() => ''))?.trim().slice(0, 30) ?? '';
    const before = await page.locator('dialog[open]').count();
    await button.click({ timeout: 2_000 }).catch(() => undefined);
    await page.waitForTimeout(60);
    await settled(page).catch(() => undefined);
    const toasts = await page.locator('.toast, dialog[open] form, dialog[open] .notice.danger').count();
    if ((await page.locator('dialog[open]').count()) > before || toasts > 0) await shoot(`${path} row > ${title}`);
  }
}

/** The palette, empty, with something found, and with nothing found. */
export async function picturePalette(page: Page, shoot: Shoot): Promise<void> {
  await openPage(page, '/soc');
  await page.keyboard.press('Control+k');
  await page.waitForTimeout(100);
  await shoot('palette');
  for (const word of ['limit', 'nothing-like-this-anywhere-at-all-whatever-it-may-be-called']) {
    await page.keyboard.type(word);
    await page.waitForTimeout(100);
    await shoot(`palette ${word.slice(0, 12)}`);
    await page.keyboard.press('Control+a');
  }
}
