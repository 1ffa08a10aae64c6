// Two roads from end to end in a real browser: a scanner's report becomes a chain, a virtual patch and its proof at the
// protected port; events that a SIEM refuses are kept, looked at and sent again.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { attackable, sarifOf } from '../reports-of-tools.js';
import { press } from '../page-checks/keyboard.js';
import { askApi, chooseOwnPassword, go, logIn, settled, startStack, withoutBrowser, type Stack } from '../stack.js';

const attack = '/convert?name=a;cat%20/etc/passwd';

async function importReport(page: Page): Promise<void> {
  await go(page, '/vulnerabilities/applications?add=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Picture shop');
  await dialog.getByLabel('Exposure').selectOption('internet');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('.table-row', { hasText: 'Picture shop' }).waitFor();
  await go(page, '/vulnerabilities/imports');
  await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Picture shop' });
  await page.getByLabel('Report', { exact: true }).setInputFiles({
    name: 'report.sarif',
    mimeType: 'application/json',
    buffer: Buffer.from(sarifOf(attackable)),
  });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Imported' }).waitFor();
}

async function patchRoad(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  // the rules let this attack pass, and match scoring would not
  t.equal(await askApi(page, 'PATCH', '/api/settings', { second_opinion: 'off' }), 200);
  t.equal(await askApi(page, 'POST', '/api/apply'), 200);
  await importReport(page);
  await go(page, '/vulnerabilities/chains');
  const hop = page.locator('.hop', { hasText: 'OS command injection' }).first();
  await until('the chain is there', async () => {
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
    return (await hop.count()) > 0;
  });
  const before = (await fetch(stack.waf + attack)).status;
  t.not(before, 403, 'the attack passes');
  // by keyboard: from the chain to the finding, its patch and the proof
  await press(page, hop);
  await press(page, page.getByRole('dialog').getByRole('link', { name: 'Propose a virtual patch' }));
  const form = page.getByRole('dialog', { name: /^Virtual patch for finding/ });
  await form.getByLabel(/^Request target of the attack/).fill(attack);
  await form.getByLabel('Parameter that the attack stands in').fill('name');
  await form.getByLabel('Values that have to go on working, one a line').fill('holiday\nportrait-2');
  await press(page, form.getByRole('button', { name: 'Propose a virtual patch' }));
  const drawer = page.getByRole('dialog', { name: /^Virtual patch \d+$/ });
  await press(page, drawer.getByRole('button', { name: 'Put in force and prove' }));
  const question = page.getByRole('dialog', { name: 'Put the patch in force?' });
  await press(page, question.getByRole('button', { name: 'Put in force and prove' }));
  await drawer.getByRole('heading', { name: 'Proof' }).waitFor({ timeout: 120_000 });
  const proof = await drawer.innerText();
  t.match(proof, /holds[^]*Without the patch the attack passed; with it, it is refused/, 'the proof says both');
  t.match(proof, /attack: refused/, 'each request with what was wanted of it');
  t.equal((await fetch(stack.waf + attack)).status, 403, 'and the protected port does it');
  t.not((await fetch(`${stack.waf}/convert?name=holiday`)).status, 403, 'what is harmless passes');
  await drawer.getByRole('button', { name: 'Prove again' }).click();
  await page.getByText('It holds.').waitFor();
  await drawer.getByRole('button', { name: 'Take out of force' }).click();
  const end = page.getByRole('dialog', { name: 'Take the patch out of force?' });
  await end.getByRole('button', { name: 'Take out of force' }).click();
  await page.getByText('The patch is out of force.').waitFor({ timeout: 120_000 });
  t.equal((await fetch(stack.waf + attack)).status, before, 'and after it as before');
  t.same(complaints, []);
}

/** A collector that refuses everything until it is told otherwise. */
async function startCollector(t: Test) {
  const state = { isStrict: true, taken: 0 };
  const server = createServer((request, reply) => {
    request.resume();
    request.on('end', () => {
      if (!state.isStrict) state.taken += 1;
      reply.writeHead(state.isStrict ? 400 : 200, { 'content-type': 'application/json' });
      reply.end(state.isStrict ? '{"text":"<img src=x onerror=document.title=1>","code":6}' : '{"code":0}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Names the connector in the settings, as the page of settings would. */
const connect = (page: Page, target: string): Promise<number> =>
  page.evaluate(async (target) => {
    const headers = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
    const one = { name: 'collector', kind: 'splunk_hec', target, token: 'a-token', options: { events: 'waf' } };
    const body = JSON.stringify({ siem_connectors: [one] });
    return (await fetch('/api/settings', { method: 'PATCH', headers, body })).status;
  }, target);

async function deliveryRoad(t: Test, stack: Stack): Promise<void> {
  const { state, url } = await startCollector(t);
  const { page, complaints } = await stack.open();
  await logIn(page);
  t.equal(await connect(page, url), 200);
  await go(page, '/admin/changes');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.getByText('Everything that is saved is in force').waitFor();
  t.equal((await fetch(`${stack.waf}/search?q=1'%20OR%20'1'='1`)).status, 403);
  await go(page, '/alerts?view=connectors');
  const row = page.locator('.table-row', { hasText: 'collector' });
  await row.waitFor();
  await row.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Connector' });
  const letters = drawer.locator('.table-row');
  await until('what was refused is kept', async () => {
    await page.reload(); // the open connector stays in the address
    await drawer.locator('dl').first().waitFor();
    await settled(page);
    return (await letters.count()) > 0;
  });
  t.match(await letters.first().innerText(), /<img src=x onerror/, 'the answer of the collector is text');
  t.notMatch(await page.title(), /^1$/);
  state.isStrict = false;
  await drawer.getByRole('button', { name: 'Send all of them again' }).click();
  await until('they are taken now', async () => state.taken > 0);
  await until('none is left', async () => {
    await page.reload();
    await drawer.locator('dl').first().waitFor();
    await settled(page);
    return (await letters.count()) === 0;
  });
  const taken = state.taken;
  await drawer.getByRole('button', { name: 'Send again', exact: true }).click();
  await until('a replay sends them once more', async () => state.taken > taken);
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('roads from end to end in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t, { OUTBOUND_ALLOW: '127.0.0.1' });
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await t.test('R1: report, chain, virtual patch, proof', (t) => patchRoad(t, stack));
  await t.test('R2: refused by the SIEM, kept, sent again, replayed', (t) => deliveryRoad(t, stack));
});
