// Jobs of who watches the firewall. Each begins on the page where such a job comes up, and ends with what it led to.
import type { Locator, Page } from 'playwright-core';
import { until } from '#api/testing/waiting';
import { arrive, askApi } from '../stack.js';
import type { Hand } from './hands.js';

export interface Job {
  readonly name: string;
  /** Clicks at most, of issue 27; absent: none is named. */
  readonly most?: number;
  /** To where it comes up. */
  readonly begin: (page: Page) => Promise<void>;
  /** `mark` tells the rounds apart; rejects where what was to be done is not. */
  readonly run: (page: Page, hand: Hand, mark: string) => Promise<void>;
}

export const button = (at: Page | Locator, name: string | RegExp): Locator =>
  at.getByRole('button', { name, exact: true });
export const field = (at: Page | Locator, name: string): Locator => at.getByLabel(name, { exact: true });
export const row = (page: Page, text: string): Locator => page.locator('.table-row', { hasText: text }).first();
export const dialog = (page: Page, name: string | RegExp): Locator => page.getByRole('dialog', { name });
export const seen = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).last().waitFor();

/** An answer of the API as it is read with the session of the page. */
const read = (page: Page, path: string): Promise<string> =>
  page.evaluate(async (path) => (await fetch(path)).text(), path);
const says = (page: Page, path: string, word: string): Promise<void> =>
  until(`${path} says ${word}`, async () => (await read(page, path)).includes(word));

const clients = '/protection/addresses';
const network = { mouse: '198.18.0', keys: '198.18.1' } as const;
const eventsPage = (page: Page): Promise<void> => arrive(page, '/soc?verdict=block');

/** An event is open: where its job comes up. */
async function openEvent(page: Page): Promise<void> {
  await eventsPage(page);
  await page.getByRole('grid', { name: 'Security events' }).locator('[aria-rowindex="2"]').focus();
  await page.keyboard.press('Enter');
  await dialog(page, 'Security event').getByRole('heading', { name: 'What the rules saw' }).waitFor();
}

const clientJobs: readonly Job[] = [
  {
    name: 'block an address',
    most: 2,
    begin: (page) => arrive(page, clients),
    async run(page, hand) {
      await hand.press(button(page, 'Block a client'));
      const form = dialog(page, 'Block a client');
      await hand.type(field(form, 'Addresses and networks'), `${network[hand.name]}.7`);
      await hand.press(button(form, 'Block'));
      await row(page, `${network[hand.name]}.7`).waitFor();
    },
  },
  {
    name: 'unblock it',
    begin: (page) => arrive(page, clients),
    async run(page, hand) {
      await hand.press(button(row(page, `${network[hand.name]}.7`), 'Unblock'));
      await row(page, `${network[hand.name]}.7`).waitFor({ state: 'detached' });
    },
  },
  {
    name: 'challenge the country of an event',
    begin: openEvent,
    async run(page, hand) {
      await hand.press(button(dialog(page, 'Security event'), 'Block'));
      const form = dialog(page, /^Block /);
      await hand.choose(field(form, 'Whom'), 'its whole country');
      await hand.choose(field(form, 'Action'), 'Challenge');
      await hand.press(button(form, 'Challenge'));
      await says(page, '/api/measures?kind=country&action=challenge', 'country:DE');
    },
  },
  {
    name: 'lift what stands against a country',
    begin: (page) => arrive(page, `${clients}?kind=country`),
    async run(page, hand) {
      await row(page, 'country:DE').getByText('one network is in force').waitFor();
      await hand.press(button(row(page, 'country:DE'), 'Unblock'));
      await row(page, 'country:DE').waitFor({ state: 'detached' });
    },
  },
];

const eventJobs: readonly Job[] = [
  {
    name: 'share an event',
    most: 2,
    begin: openEvent,
    async run(page, hand) {
      await hand.press(button(dialog(page, 'Security event'), 'Share'));
      await hand.press(button(page, 'Create and copy link'));
      await field(page, 'Link').waitFor();
    },
  },
  {
    name: 'copy an event as Markdown',
    begin: openEvent,
    async run(page, hand) {
      await hand.press(button(dialog(page, 'Security event'), 'Copy as Markdown'));
      await seen(page, /Copied as Markdown|does not allow copying/);
    },
  },
  {
    name: 'exclude a false positive',
    most: 4,
    begin: openEvent,
    async run(page, hand, mark) {
      await hand.press(button(dialog(page, 'Security event'), 'Exclude'));
      const form = dialog(page, 'Exclude from a rule');
      await hand.type(field(form, 'Why'), `our search, ${mark}`);
      await hand.press(button(form, 'Save and check against recorded traffic'));
      await hand.press(button(form, 'Apply now'));
      await seen(page, 'The exclusion is in force on every node.');
      await says(page, '/api/settings', `our search, ${mark}`);
    },
  },
];

const settingJobs: readonly Job[] = [
  {
    name: 'rate limit on /login',
    most: 5,
    begin: (page) => arrive(page, '/protection/limits'),
    async run(page, hand, mark) {
      await hand.press(button(page, 'Add a limit'));
      const form = dialog(page, 'Add a limit');
      await hand.type(field(form, 'Path'), `/login/${mark}`);
      await hand.type(field(form, 'Requests'), '5');
      await hand.press(button(form, 'Save and apply'));
      await form.waitFor({ state: 'hidden' });
      await row(page, `/login/${mark}`).waitFor();
    },
  },
  {
    name: 'protect a second site',
    most: 4,
    async begin(page) {
      // the licence of a trial is for one site: the one of the round before makes way
      await askApi(page, 'PATCH', '/api/settings', { sites: [] });
      await askApi(page, 'POST', '/api/apply', {});
      await arrive(page, '/sites');
    },
    async run(page, hand, mark) {
      await hand.press(button(page, 'Add a site'));
      const form = dialog(page, 'Add a site');
      await hand.type(form.getByLabel('Upstream').first(), 'http://127.0.0.1:9');
      await hand.type(form.getByLabel('Host').first(), `${mark}.shop.example`);
      await hand.press(button(form, 'Save and apply'));
      await form.waitFor({ state: 'hidden' });
      await row(page, `${mark}.shop.example`).waitFor();
    },
  },
  {
    name: 'change the mode and put it in force',
    begin: (page) => arrive(page, '/waf'),
    async run(page, hand) {
      await hand.choose(field(page, 'Mode'), 'Det');
      await hand.press(button(page, 'Save'));
      await hand.press(page.getByRole('link', { name: /Not active/ }));
      await hand.press(button(page, 'Apply'));
      await seen(page, 'Everything that is saved is in force');
      // the header and the page are of one mind at once, not with the next look in ten seconds
      await page.getByRole('link', { name: /Not active/ }).waitFor({ state: 'detached', timeout: 5000 });
    },
  },
  {
    name: 'bring the version before back',
    begin: (page) => arrive(page, '/admin/changes'),
    async run(page, hand) {
      await hand.press(button(page, 'Bring back').first());
      await hand.press(button(page, 'Bring back and apply'));
      await seen(page, /are in force again/);
      await page.getByRole('link', { name: /Not active/ }).waitFor({ state: 'detached', timeout: 5000 });
    },
  },
  {
    name: 'write a rule',
    begin: (page) => arrive(page, '/waf/rules/new'),
    async run(page, hand, mark) {
      await hand.type(field(page, 'Name'), `no grues, ${mark}`);
      await hand.tab(page.getByRole('tab', { name: 'Conditions' }), page.getByRole('tab', { name: 'Seclang' }), 2);
      const id = hand.name === 'mouse' ? 1_000_321 : 1_000_322;
      const editor = page.getByRole('textbox', { name: 'Seclang' });
      await hand.type(editor, `SecRule ARGS "@contains grue" "id:${id},phase:2,deny,status:403,log,t:none"`);
      await page.getByText('It compiles; it has no tests yet').waitFor();
      await hand.press(button(page, 'Save'));
      await page.getByRole('link', { name: `no grues, ${mark}` }).waitFor();
    },
  },
];

export const firewallJobs: readonly Job[] = [...clientJobs, ...eventJobs, ...settingJobs];
