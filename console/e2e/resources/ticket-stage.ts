// Tickets of findings in a browser: a tracker is added, tested and corrected, and tickets are made at a finding and for
// several. A stage of governance.test.ts; the tracker is a server on loopback with the answers of GitHub.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { arrive, logIn, type Stack } from '../stack.js';

const token = 'github_pat_of_a_browser_test';

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
}

/** Issues that were made, the newest last. */
async function startTracker(t: Test): Promise<{ url: string; issues: Issue[] }> {
  const issues: Issue[] = [];
  const view = (one: Issue) => ({
    ...one,
    state: 'open',
    html_url: `https://github.example/acme/shop/issues/${one.number}`,
    created_at: new Date().toISOString(),
    comments: 0,
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isKnown = request.headers.authorization === `Bearer ${token}`;
      const path = (request.url ?? '').split('?')[0];
      let answer: unknown = { full_name: 'acme/shop', has_issues: true };
      if (!isKnown) answer = { message: 'Bad credentials' };
      else if (request.method === 'POST') {
        const { title, body } = JSON.parse(Buffer.concat(chunks).toString()) as Issue;
        issues.push({ number: issues.length + 1, title, body });
        answer = view(issues.at(-1) as Issue);
      } else if (path === '/repos/acme/shop/issues') answer = issues.map(view);
      else if (/issues\/\d+$/.test(path ?? '')) answer = view(issues[Number(path?.split('/').at(-1)) - 1] as Issue);
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, issues };
}

export async function tickets(t: Test, stack: Stack): Promise<void> {
  const tracker = await startTracker(t);
  const { page, complaints } = await stack.open();
  await logIn(page);
  await arrive(page, '/vulnerabilities/integrations?add=1');
  const dialog = page.getByRole('dialog');
  const press = (name: string): Promise<void> => dialog.getByRole('button', { name, exact: true }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Shop issues');
  await dialog.getByLabel('Tracker').selectOption('github');
  await dialog.getByLabel('Secret').fill('github_pat_that_is_wrong_1');
  await dialog.getByLabel('Address', { exact: true }).fill('http://10.0.0.1/');
  await dialog.getByLabel('Repository').fill('acme/shop');
  await dialog.getByLabel('Title', { exact: true }).fill('{{severity}}: {{titel}}');
  await press('Save');
  await dialog.getByRole('alert').filter({ hasText: '{{titel}}, which no finding has' }).waitFor();
  await dialog.getByLabel('Title', { exact: true }).fill('{{severity}}: {{title}}');
  await press('Save');
  await dialog.getByRole('alert').filter({ hasText: 'OUTBOUND_ALLOW' }).waitFor();
  await dialog.getByLabel('Address', { exact: true }).fill(tracker.url);
  await press('Save');
  await press('Test');
  await dialog.getByText('does not accept the credentials').first().waitFor();
  await press('Edit');
  t.equal(await dialog.getByLabel('Secret').inputValue(), '', 'a secret is never shown');
  t.equal(await dialog.getByLabel('Repository').inputValue(), 'acme/shop');
  await dialog.getByLabel('Secret').fill(token);
  await press('Save');
  await press('Test');
  await dialog.getByText('acme/shop takes issues').waitFor();
  await dialog.locator('dl').getByText('works', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.table-row', { hasText: 'Shop issues' }).getByText('works', { exact: true }).waitFor();
  await atFindings(t, stack, tracker.issues);
  await arrive(page, '/vulnerabilities/integrations');
  await page.locator('.table-row', { hasText: 'Shop issues' }).click();
  await dialog.locator('.table-row').nth(1).waitFor();
  await dialog.getByRole('link', { name: '#2' }).waitFor();
  t.same(complaints, []);
}

async function atFindings(t: Test, stack: Stack, issues: readonly Issue[]): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  const dialog = page.getByRole('dialog');
  await arrive(page, '/vulnerabilities?status=open');
  await page.locator('.table-row').first().click();
  const section = dialog.locator('section', { has: page.getByRole('heading', { name: 'Tickets' }) });
  await section.getByText('No ticket').waitFor();
  await section.getByRole('button', { name: 'Create ticket' }).click();
  await section.getByRole('button', { name: 'Create ticket' }).click();
  const link = section.getByRole('link', { name: '#1' });
  await link.waitFor();
  t.equal(await link.getAttribute('href'), 'https://github.example/acme/shop/issues/1');
  t.match(issues[0]?.title, /^\w+: \w/);
  await page.keyboard.press('Escape');
  const boxes = page.locator('.table-row').getByRole('checkbox');
  const count = await boxes.count();
  for (let at = 0; at < count; at++) await boxes.nth(at).check();
  await page.getByRole('button', { name: 'Create tickets', exact: true }).click();
  await dialog.getByText('One ticket for all of them').click();
  await dialog.getByRole('button', { name: 'Create tickets', exact: true }).click();
  await dialog.getByText(`Made: ${count}, waiting: 0, refused: 0.`).waitFor();
  t.equal(issues.length, 2, 'one for the others, and the first has its own');
  t.match(issues[1]?.title, new RegExp(`^${count - 1} findings: `));
  t.same(complaints, []);
}
