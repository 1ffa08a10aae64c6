// Twenty jobs as people do them, each by mouse, with its clicks counted, and by keyboard alone.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { mmdbOf } from '#api/testing/builders/mmdb';
import { makeDirectory } from '#api/testing/temporary';
import { testMsMax, until } from '#api/testing/waiting';
import { prepareChecks } from '../page-checks/checks.js';
import { loggedInPaths } from '../pages.js';
import {
  arrive,
  askApi,
  chooseOwnPassword,
  logIn,
  password,
  startStack,
  withoutBrowser,
  type Stack,
} from '../stack.js';
import { firewallJobs, type Job } from './firewall-jobs.js';
import { keysOf, mouseOf, type Hand } from './hands.js';
import { managerJobs } from './vulnerability-jobs.js';

const network = '203.0.113.0'
  .split('.')
  .map((part) => Number(part).toString(2).padStart(8, '0'))
  .join('')
  .slice(0, 24);

/** Files that say where 203.0.113.0/24 is. */
async function locationFiles(t: Test): Promise<Readonly<Record<string, string>>> {
  const directory = await makeDirectory(t, 'jobs');
  const files = { MMDB_COUNTRY_FILE: join(directory, 'country'), MMDB_NETWORK_FILE: join(directory, 'network') };
  const built = Math.floor(Date.now() / 1000);
  const bits = `${'0'.repeat(96)}${network}`;
  await writeFile(files.MMDB_COUNTRY_FILE, mmdbOf([{ bits, data: { country: { iso_code: 'DE' } } }], 6, built));
  await writeFile(files.MMDB_NETWORK_FILE, mmdbOf([{ bits, data: { autonomous_system_number: 64_500 } }], 6, built));
  return files;
}

/** Attacks of clients in that network; of their events jobs begin. */
async function storeEvents(t: Test, page: Page, stack: Stack): Promise<void> {
  const trusted = { rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1/32'] };
  t.equal(await askApi(page, 'PATCH', '/api/settings', trusted), 200);
  t.equal(await askApi(page, 'POST', '/api/apply', {}), 200);
  for (let n = 1; n <= 3; n += 1) {
    const headers = { 'x-forwarded-for': `203.0.113.${n}` };
    t.equal((await fetch(`${stack.waf}/search?q=1'%20OR%20'1'='1`, { headers })).status, 403);
  }
  const events = () => page.evaluate(async () => (await fetch('/api/events?country=DE')).text());
  await until('the events have a country', async () => (await events()).includes('203.0.113.3'));
}

/** An application with a known vulnerability, an assessment for each hand, and a channel for mail. */
async function storeOrganisation(t: Test, page: Page): Promise<void> {
  const states = await page.evaluate(async () => {
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
      const reply = await fetch(`/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: reply.status, body: (await reply.json()) as { readonly id: string } };
    };
    const shop = await post('/applications', { name: 'shop' });
    const application_id = shop.body.id;
    const finding = { application_id, title: 'Log4Shell', severity: 'critical', vuln_ids: ['CVE-2021-44228'] };
    const checklist = [{ item: 'orders of others can be read', result: 'open' }];
    const config = { host: '127.0.0.1', port: 9, security: 'none', from: 'g@shop.example', to: ['board@shop.example'] };
    const made = [
      shop,
      await post('/vulnerabilities', finding),
      ...(await Promise.all(
        ['mouse', 'keys'].map((name) =>
          post('/assessments', {
            application_id,
            name: `pentest ${name}`,
            kind: 'pentest',
            status: 'active',
            checklist,
          }),
        ),
      )),
      await post('/notifications/channels', { name: 'mail', type: 'email', config }),
    ];
    return made.map(({ status, body }) => (status === 201 ? 201 : JSON.stringify(body)));
  });
  t.same(states, [201, 201, 201, 201, 201]);
}

async function done(t: Test, job: Job, page: Page, hand: Hand): Promise<void> {
  await job.begin(page);
  hand.begin();
  await job.run(page, hand, hand.name);
  if (hand.name === 'keys') return void t.pass('by keyboard alone');
  t.comment(`${job.name}: ${hand.clicks} clicks`);
  if (job.most !== undefined) t.ok(hand.clicks <= job.most, `${hand.clicks} clicks, at most ${job.most}`);
}

const viewer = { email: 'viewer@shop.example', name: 'V', role: 'viewer', password, must_change_password: false };

/** Whatever the address asks for: nothing opens that a viewer is refused. */
async function deepLinks(t: Test, page: Page, stack: Stack): Promise<void> {
  t.equal(await askApi(page, 'POST', '/api/users', viewer), 201);
  const other = await stack.open();
  await logIn(other.page, viewer.email);
  const paths = new Set(loggedInPaths.map((one) => `${one.replace(/\?.*$/, '')}?add=1&add-vm=1`));
  for (const path of [...paths, '/vulnerabilities/applications?import=1']) {
    await arrive(other.page, path);
    t.equal(await other.page.locator('dialog[open]').count(), 0, path);
  }
  await importLinks(t, page, other.page);
  t.same(other.complaints, []);
}

/** Links to imports, such as components have them: of any age, and also to one that is not there. */
async function importLinks(t: Test, page: Page, viewers: Page): Promise<void> {
  const id = await page.evaluate(async () => {
    const headers = { 'x-gatehouse-request': '1' };
    const applications = (await (await fetch('/api/v1/applications?q=shop')).json()) as { items: { id: string }[] };
    const form = new FormData();
    form.set('application_id', applications.items[0]?.id ?? '');
    form.set('file', new Blob(['{"bomFormat":"CycloneDX","specVersion":"1.5","components":[]}']), 'bill.json');
    const reply = await fetch('/api/v1/imports', { method: 'POST', headers, body: form });
    return ((await reply.json()) as { id?: string }).id ?? `none: ${reply.status}`;
  });
  t.match(id, /^\d+$/);
  // as if a hundred had come after it
  const none = { status: 200, json: { items: [], next_cursor: null } };
  await viewers.route(/\/api\/v1\/imports\?/, (route) => route.fulfill(none));
  const drawer = viewers.getByRole('dialog', { name: `Import ${id}` });
  await arrive(viewers, `/vulnerabilities/imports?import=${id}`);
  await drawer.getByText('Read', { exact: true }).waitFor();
  await drawer.getByRole('link', { name: 'See the findings' }).waitFor();
  t.equal(await drawer.getByRole('button', { name: 'Undo this import' }).count(), 0, 'a viewer undoes no import');
  await arrive(page, `/vulnerabilities/imports?import=${id}`);
  await page
    .getByRole('dialog', { name: `Import ${id}` })
    .getByRole('button', { name: 'Undo this import' })
    .waitFor();
  await arrive(viewers, '/vulnerabilities/imports?import=999999');
  await viewers
    .getByRole('dialog')
    .getByText(/There is no import 999999/)
    .waitFor();
}

t.setTimeout(testMsMax);
t.test('27: twenty jobs', { skip: withoutBrowser }, async (t) => {
  const jobs = [...firewallJobs, ...managerJobs];
  t.equal(jobs.length, 20);
  const stack = await startStack(t, {
    ...(await locationFiles(t)),
    OUTBOUND_ALLOW: '127.0.0.1',
  });
  const { page, complaints } = await stack.open();
  await prepareChecks(page);
  await chooseOwnPassword(page);
  await storeEvents(t, page, stack);
  await storeOrganisation(t, page);
  for (const handOf of [mouseOf, keysOf]) {
    const opened = await stack.open();
    await logIn(opened.page);
    const hand = handOf(opened.page);
    for (const job of jobs) await t.test(`${job.name}, by ${hand.name}`, (t) => done(t, job, opened.page, hand));
    complaints.push(...opened.complaints);
    await opened.page.context().close();
  }
  t.same(complaints, []);
  await t.test('a viewer is offered nothing that is refused, by no address', (t) => deepLinks(t, page, stack));
});
