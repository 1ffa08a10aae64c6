// Nodes on other machines as an administrator meets them: one is added and drained, a change is rolled out to its ring
// and taken back.
import t, { type Test } from 'tap';
import { planeModule, startNode, startUpstream } from '#api/testing/data-plane';
import { freePort } from '#api/testing/free-port';
import { makeDirectory } from '#api/testing/temporary';
import { testMsMax } from '#api/testing/waiting';
import { askApi, chooseOwnPassword, go, settled, startStack, withoutBrowser } from './stack.js';

t.setTimeout(testMsMax);

async function fleet(t: Test): Promise<void> {
  const port = await freePort();
  const stack = await startStack(t, { NODES_PORT: String(port), NODES_URLS: `https://127.0.0.1:${port}` });
  const { page, complaints } = await stack.open();
  await chooseOwnPassword(page);
  await go(page, '/admin/nodes');
  await page.getByRole('button', { name: 'Add a node' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Labels').fill('ring=canary, region=eu');
  await dialog.getByRole('button', { name: 'Make a token' }).click();
  const command = (await dialog.locator('pre').textContent()) ?? '';
  const [, address = '', token = ''] = /^gatehouse node join (\S+) (gh1\.\S+)$/.exec(command) ?? [];
  t.equal(address, `https://127.0.0.1:${port}`, command);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const dataDir = await makeDirectory(t, 'edge');
  const { joinFleet } = await planeModule();
  await joinFleet({ dataDir, addresses: [address], token, name: 'edge-1', labels: {} });
  await startNode(t, { upstream: await startUpstream(t), dataDir, isEnrolled: true });
  const table = page.getByRole('table', { name: 'Data-plane nodes' });
  const row = table.getByRole('row', { name: /node:edge-1/ });
  await row.getByText('active', { exact: true }).waitFor();
  await page.getByRole('table', { name: 'Nodes on other machines' }).getByText('region=eu, ring=canary').waitFor();
  await row.getByRole('button', { name: 'Drain' }).click();
  await row.getByText('draining', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Put back' }).click();
  await row.getByRole('button', { name: 'Drain' }).waitFor();

  t.equal(await askApi(page, 'PATCH', '/api/settings', { paranoia_level: 2 }), 200);
  await go(page, '/admin/changes');
  await page.getByRole('button', { name: 'Roll out in rings' }).click();
  const start = page.getByRole('dialog');
  t.equal(await start.getByLabel('Rings').inputValue(), 'canary');
  await start.getByRole('button', { name: 'Start' }).click();
  await page.getByText('The first ring has the version.', { exact: false }).waitFor();
  await go(page, '/admin/nodes');
  const card = page.locator('section, .card', { hasText: 'Rollout of settings version' }).last();
  await card.getByText('running', { exact: true }).waitFor();
  await card.getByText(/of 200 requests that a judgement needs/).waitFor();
  await settled(page);
  t.equal(await askApi(page, 'POST', '/api/apply'), 409, 'no other change meanwhile');
  await card.getByRole('button', { name: 'Stop and take back' }).click();
  await card.getByText('stopped', { exact: true }).waitFor();
  await card.getByText(/stopped by /).waitFor();
  await row.getByText('active', { exact: true }).waitFor();
  t.same(complaints, []);
}

t.test('nodes on other machines', { skip: withoutBrowser }, fleet);
