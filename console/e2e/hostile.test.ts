// The console shows attacks all day: whatever clients and colleagues have written, wherever it is stored, is text on
// every page, does not run, does not reorder its neighbours and does not break the layout.
import { request } from 'node:http';
import t, { type Test } from 'tap';
import type { Page } from 'playwright-core';
import { testMsMax, until } from '#api/testing/waiting';
import { loggedInPaths } from './pages.js';
import { billOf, sarifOf } from './reports-of-tools.js';
import {
  arrive,
  askApi,
  chooseOwnPassword,
  email,
  go,
  password,
  settled,
  startStack,
  withoutBrowser,
  type Stack,
} from './stack.js';

const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script><svg onload=document.title=3>';
const corpus: readonly string[] = [
  markup,
  '"><script>document.title=4</script>',
  "javascript:document.title='5'",
  '{{document.title=6}}${document.title=7}',
  'admin\u202egnp.exe\u2066',
  'a\u0007\u001b[31mred\u200b\ufeff\u00ad',
  '\u0301'.repeat(80),
  'unbroken'.repeat(60),
  '👩‍👩‍👧‍👦\u{e0041}ﷺ',
];

/** What a client of the protected site sends; node's client takes any byte in a path. */
const send = (base: string, path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const asked = request({ hostname, port, path, headers, agent: false }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end();
  });

const latin1 = (text: string): string =>
  Buffer.from(text.replaceAll(/[\r\n\0\u0007\u001b]/g, ''), 'utf8').toString('latin1');

/** Stores the corpus wherever people and clients can write. */
async function store(t: Test, page: Page, stack: Stack): Promise<void> {
  for (const [index, text] of corpus.entries()) {
    const path = `/search?q=1'%20OR%20'1'='1&x=${encodeURIComponent(text)}`;
    const raw = latin1(text).replaceAll(' ', '+');
    await send(stack.waf, path, { 'user-agent': latin1(text), referer: latin1(text), 'x-note': latin1(text) });
    await send(stack.waf, `/${raw.slice(0, 300)}?id=1'%20OR%20'1'='1`, {}).catch(() => 0); // some are no request
    const fits = text.replaceAll(/[\u0000-\u001f]/g, '');
    const stored = [
      await askApi(page, 'POST', '/api/threat-intel', { addresses: [`198.18.7.${index}`], reason: text }),
      await askApi(page, 'POST', '/api/users', {
        email: `someone${index}@example.org`,
        name: fits.slice(0, 60),
        role: 'viewer',
        password: 'first-word-of-many-77',
      }),
      await askApi(page, 'POST', '/api/tokens', { name: fits.slice(0, 60), role: 'viewer', scopes: ['events:read'] }),
      await askApi(page, 'POST', '/api/rules', { name: fits.slice(0, 60), kind: 'visual', value: fits.slice(0, 200) }),
    ];
    t.ok(
      stored.some((status) => status < 300),
      `${JSON.stringify(text.slice(0, 30))} is stored: ${stored.join(' ')}`,
    );
  }
}

/** A report whose titles, file names and tool are hostile, in an application with such a name. */
async function storeFindings(t: Test, page: Page): Promise<void> {
  const made = corpus.map((text, index) => ({
    title: `${index} ${text}`,
    cwe: [918, 78, 798][index % 3] ?? 78,
    path: `src/${text}`,
  }));
  const fits = markup.replaceAll(/[\u0000-\u001f]/g, '').slice(0, 200);
  const status = await page.evaluate(
    async ([name, report, bill]) => {
      const headers = { 'x-gatehouse-request': '1' };
      const application = await fetch('/api/v1/applications', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          name,
          environment: name.slice(0, 60),
          owner: name,
          exposure: 'internet',
          tags: ['<b>'],
        }),
      });
      const { id } = (await application.json()) as { id: string };
      const send = async (text: string): Promise<number> => {
        const form = new FormData();
        form.set('application_id', id);
        form.set('file', new File([text], '<img src=x onerror=document.title=8>.json'));
        return (await fetch('/api/v1/imports', { method: 'POST', headers, body: form })).status;
      };
      const imported = [await send(report), await send(bill)];
      const built = await fetch('/api/v1/reports', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ title: name, format: 'html' }),
      });
      return [application.status, ...imported, built.status];
    },
    [fits, sarifOf(made, markup.slice(0, 60)), billOf(corpus, markup)] as const,
  );
  t.same(status, [201, 202, 202, 201], 'application, findings, components and report are stored');
}

/** What people write about findings (filters, mutes, terms, gates, acceptances, comments), and what pipelines say. */
async function storeDecisions(t: Test, page: Page): Promise<void> {
  const fits = markup.slice(0, 200);
  const found = await page.evaluate(async () => {
    const ask = async (path: string): Promise<{ items: { id: string }[] }> =>
      (await (await fetch(path)).json()) as { items: { id: string }[] };
    const { items: findings } = await ask('/api/v1/findings?limit=1');
    const { items: applications } = await ask('/api/v1/applications?limit=1');
    return [findings[0]?.id ?? '', applications[0]?.id ?? ''] as const;
  });
  const [finding, application] = found;
  const later = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const predicate = { field: 'title', op: 'contains', value: fits };
  const stored: Readonly<Record<string, object>> = {
    '/api/v1/findings/views': { name: fits.slice(0, 100), query: predicate, shared: true },
    '/api/v1/mutes': { name: fits, predicate: { ...predicate, value: `${fits}-` }, reason: fits, expires_at: later },
    '/api/v1/imports/mappings': {
      ...{ name: 'other-tool', format: 'json' },
      // other characters are refused: such a path would match nothing
      rows_path: markup.replace(/[^<>"'&=\w]/g, '_').slice(0, 200),
      fields: { title: fits, description: fits },
    },
    '/api/v1/sla/policies': { name: fits, selector: predicate, matrix: { high: 9 } },
    '/api/v1/gate/definitions': { name: fits, conditions: [{ name: fits, metric: 'new_high' }] },
    '/api/v1/acceptances': {
      title: fits,
      decision: 'accept',
      vuln_ids: [finding],
      justification: fits,
      compensating_controls: fits,
      expires_at: later,
    },
    '/api/v1/comments': { entity: 'finding', entity_id: finding, text: fits },
    '/api/v1/targets': {
      application_id: application,
      url: `https://${'unbroken'.repeat(20)}.example/${corpus[4] ?? ''}`,
    },
    '/api/v1/target-groups': { name: fits, description: fits },
    '/api/v1/policies': { name: fits, predicate, action: 'gate' },
    '/api/v1/rules': { name: fits, predicate, effects: [{ set: 'severity', value: 'low', reason: fits }] },
    '/api/v1/assessments': {
      application_id: application,
      ...{ name: fits, scope: fits, lead: fits.slice(0, 200), checklist: [{ item: fits, result: 'fail', note: fits }] },
    },
    '/api/v1/ci/runs': { application_id: application, commit: corpus[1], branch: fits, provider: fits },
    '/api/v1/gate/evaluate': { application_id: application, commit: corpus[1] },
  };
  for (const [path, body] of Object.entries(stored)) {
    const status = await askApi(page, 'POST', path, body);
    t.ok(status < 300, `${path}: ${status}`);
  }
}

async function decisionPages(t: Test, page: Page, width: number): Promise<void> {
  for (const path of [
    '/vulnerabilities/acceptances',
    '/vulnerabilities/gates',
    '/vulnerabilities/gates?view=runs',
    '/vulnerabilities/imports?view=mappings',
    '/vulnerabilities/components',
    '/vulnerabilities/targets',
    '/vulnerabilities/targets?view=groups',
    '/vulnerabilities/policies',
    '/vulnerabilities/rules',
    '/vulnerabilities/assessments',
    '/vulnerabilities?status=all',
  ]) {
    await go(page, path);
    await page.locator('.table-row').first().click();
    await page.getByRole('dialog').locator('dl').first().waitFor();
    for (const fold of await page.locator('.fold > summary').all()) await fold.click();
    await settled(page);
    await isSound(t, page, `${path}, opened, ${width}`);
    await page.keyboard.press('Escape');
  }
}

/** Each finding as it opens, and the chains as pictures. */
async function findingPages(t: Test, page: Page, width: number): Promise<void> {
  await go(page, '/vulnerabilities?status=all');
  await page.getByText(`${corpus.length} of ${corpus.length} shown`).waitFor();
  for (let row = 0; row < corpus.length; row += 1) {
    await page.locator('.table-row').nth(row).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'History' }).waitFor();
    await isSound(t, page, `finding ${row}, ${width}`);
    await page.keyboard.press('Escape');
  }
  await go(page, '/vulnerabilities/chains');
  await page.locator('.hop').first().waitFor();
  await isSound(t, page, `chains, ${width}`);
  await page.locator('.chain h3 a').first().click();
  await page.getByRole('heading', { name: 'Why this is a chain' }).waitFor();
  await isSound(t, page, `a chain, ${width}`);
  await go(page, '/vulnerabilities/applications');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByRole('link', { name: 'Its attack chains' }).waitFor();
  await isSound(t, page, `an application, ${width}`);
  await go(page, '/vulnerabilities/imports');
  await page.locator('.table-row').first().click();
  await page.getByRole('dialog').getByText('Unchanged').waitFor();
  await isSound(t, page, `an import, ${width}`);
}

/** Characters that would not show, or would turn their neighbours round, and are on the page as they are. */
const oddOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
    return [...new Set(document.body.innerText.match(odd) ?? [])].map((one) => (one.codePointAt(0) ?? 0).toString(16));
  });

/** What sticks out of the window, where the page has become wider than it. */
const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    const isOut = (element: Element): boolean => element.getBoundingClientRect().right > window.innerWidth;
    return [...document.querySelectorAll('main *')]
      .filter((element) => isOut(element) && element.closest('.table-scroll') === null)
      .map(({ tagName, className }) => `${tagName}.${String(className)}`)
      .slice(0, 8);
  });

async function isSound(t: Test, page: Page, name: string): Promise<void> {
  t.notMatch(await page.title(), /^\d$/, `${name}: nothing ran`);
  t.same(await oddOn(page), [], `${name}: nothing invisible is obeyed`);
  t.equal(await page.locator('main img, main script, dialog img, dialog script').count(), 0, `${name}: no markup`);
  t.same(await tooWide(page), [], `${name}: fits its window`);
}

function addressOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}

async function everyPage(t: Test, stack: Stack, width: number): Promise<void> {
  const { page, complaints } = await stack.open(width);
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.locator('.shell').waitFor();
  /** Addresses that a tab has led to: they are not looked at again. */
  const seen = new Set<string>();
  for (const path of loggedInPaths) {
    if (seen.has(path)) continue;
    await arrive(page, path);
    if ((await page.locator('dialog[open]').count()) > 0) {
      await isSound(t, page, `${path}, open, ${width}`);
      await page.keyboard.press('Escape'); // the tabs are behind it
    }
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await settled(page);
      await isSound(t, page, `${path}, ${await tab.innerText()}, ${width}`);
      seen.add(addressOf(page));
    }
    await isSound(t, page, `${path}, ${width}`);
  }
  await go(page, '/soc');
  for (let row = 0; row < corpus.length; row += 1) {
    await page.locator('.table-row').nth(row).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'What the rules saw' }).waitFor();
    await isSound(t, page, `event ${row}, ${width}`);
    await page.keyboard.press('Escape');
  }
  await go(page, '/admin/changes');
  await page.getByRole('button', { name: 'Diff' }).first().click();
  await isSound(t, page, `a diff, ${width}`);
  await go(page, '/admin/users');
  await page.getByRole('button', { name: 'Delete' }).first().click();
  await isSound(t, page, `a question, ${width}`);
  await findingPages(t, page, width);
  await decisionPages(t, page, width);
  t.same(complaints, []);
}

t.setTimeout(testMsMax);
t.test('C5: stored attacks are text on every page', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  const { page } = await stack.open();
  await chooseOwnPassword(page);
  await store(t, page, stack);
  await storeFindings(t, page);
  await storeDecisions(t, page);
  await until('the events are stored', async () => {
    const stored = await page.evaluate(async () => {
      const reply = (await (await fetch('/api/events?limit=100')).json()) as { items: unknown[] };
      return reply.items.length;
    });
    return stored >= corpus.length;
  });
  await everyPage(t, stack, 1440);
  await everyPage(t, stack, 390);
});
