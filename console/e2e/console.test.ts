// What people do in the console, in a real browser against a running installation.
import t, { type Test } from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { loggedInPaths, publicPaths } from './pages.js';
import { choose, goByPalette, openRow, press, tabTo, typeInto } from './page-checks/keyboard.js';
import { prepareChecks, seriousOn, tooWide, unseenFocus } from './page-checks/checks.js';
import { arrive, email, firstPassword, go, logIn, password, startStack, withoutBrowser, type Stack } from './stack.js';

const [telephone, height] = [390, 900];
const attack = "/search?q=1'%20OR%20'1'='1";
const hostile = '/%3Cimg%20src=x%20onerror=%22document.title=1%22%3E?q=<script>document.title=2</script>\u202e';

async function firstLogin(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await page.goto('/');
  t.match(await page.title(), 'Rampart & "Sons"', 'the name of the installation, as text');
  await typeInto(page, page.getByLabel('E-mail'), email);
  await typeInto(page, page.getByLabel('Password'), 'not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await typeInto(page, page.getByLabel('Password'), firstPassword);
  await press(page, page.getByRole('button', { name: 'Log in' }));
  await page.getByRole('heading', { name: 'Choose your own password' }).waitFor();
  await typeInto(page, page.getByLabel('Current password'), firstPassword);
  await typeInto(page, page.getByLabel('New password', { exact: true }), password);
  await typeInto(page, page.getByLabel('New password, again'), password);
  await press(page, page.getByRole('button', { name: 'Change the password' }));
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  const cookies = await page.context().cookies();
  t.match(cookies[0], { httpOnly: true, sameSite: 'Strict' }, 'no script sees the session');
  t.same(complaints, []);
}

async function changeAndApply(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  t.equal((await fetch(stack.waf + attack)).status, 403);
  await goByPalette(page, 'rule set', 'Rule set');
  await choose(page, page.getByLabel('Mode'), 'Det');
  await press(page, page.getByRole('button', { name: 'Save' }));
  await press(page, page.getByRole('link', { name: /Not active/ }));
  await press(page, page.getByRole('button', { name: 'Apply', exact: true }));
  await page.getByText('Everything that is saved is in force').waitFor();
  t.not((await fetch(stack.waf + attack)).status, 403, 'the protected port behaves differently');
  await press(page, page.getByRole('button', { name: 'Bring back' }).first());
  await press(page, page.getByRole('button', { name: 'Bring back and apply' }));
  await page.getByText(/are in force again/).waitFor();
  t.equal((await fetch(stack.waf + attack)).status, 403, 'and as before after the rollback');
  t.same(complaints, []);
}

async function events(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/soc');
  await page.getByText('live', { exact: true }).waitFor();
  await fetch(`${stack.waf}${attack}&seen=live`, { headers: { 'user-agent': '<svg onload=document.title=3>' } });
  await fetch(stack.waf + hostile);
  const row = page.locator('.table-row', { hasText: 'seen=live' }).first();
  await openRow(page, row); // it comes by itself
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('heading', { name: 'What the rules saw' }).waitFor();
  t.match(await drawer.innerText(), /<svg onload=document\.title=3>/, 'what a client sent is text');
  t.match(page.url(), /event=\d+/, 'an event has an address');
  const other = await page.context().newPage();
  await other.goto(`${page.url()}&verdict=pass`);
  await other.getByRole('dialog').getByRole('heading', { name: 'What the rules saw' }).waitFor();
  await other.close(); // a colleague who opens it sees it, whatever the list shows
  await press(page, drawer.getByRole('button', { name: 'Exclude' }));
  await typeInto(page, page.getByLabel('Why'), 'a test');
  await press(page, page.getByRole('button', { name: /Save and check/ }));
  await press(page, page.getByRole('button', { name: 'Apply now' }));
  await page.getByText('The exclusion is in force on every node.').waitFor();
  t.not((await fetch(stack.waf + attack)).status, 403, 'the excluded request passes');
  t.notMatch(await page.title(), /^[123]$/, 'nothing of it ran');
  t.same(complaints, []);
}

/** From an event: the road it took, the client slowed down and let go, the request as the test of a new rule. */
async function eventToRule(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/soc?verdict=block');
  await page.locator('.table-row').first().click();
  const drawer = page.getByRole('dialog').first();
  const road = drawer.locator('.road');
  await road.waitFor();
  t.match(await road.innerText(), /passed[^]*take[^]*blocked[^]*request body[^]*not reached[^]*forward/);
  await press(page, drawer.getByRole('button', { name: 'Block', exact: true }));
  const question = page.getByRole('dialog', { name: /^Block 127/ });
  await tabTo(page, question.getByLabel('Action'));
  await page.keyboard.press('End'); // the last choice is to slow it down
  await press(page, question.getByRole('button', { name: 'Slow down', exact: true }));
  await page.getByText(/slowed down on all nodes|your own address/).waitFor(); // the client is the test itself
  await page.keyboard.press('Escape');
  await drawer.getByRole('button', { name: 'Use as the test of a rule' }).click();
  const choice = page.getByRole('dialog', { name: 'Use as the test of a rule' });
  await choice.getByLabel('Rule', { exact: true }).selectOption({ label: 'a new rule' });
  await choice.getByRole('button', { name: 'Open the rule' }).click();
  await page.getByRole('heading', { name: 'New rule' }).waitFor();
  const target = page.getByRole('textbox', { name: 'Request target' });
  await target.waitFor();
  t.match(await target.inputValue(), /^\//, 'the request is among the tests');
  t.same(complaints, []);
}

async function rules(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open();
  await logIn(page);
  await go(page, '/waf/rules/new');
  await typeInto(page, page.getByLabel('Name'), 'no grues');
  await tabTo(page, page.getByRole('tab', { name: 'Conditions' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight'); // over the form of one comparison
  const editor = page.getByRole('textbox', { name: 'Seclang' });
  await tabTo(page, editor);
  await page.keyboard.type('SecRule ARGS "@contains grue" "id:1000321,phase:2,deny,t:nonsense"');
  await page
    .getByText(/line 1, column \d+/)
    .first()
    .waitFor();
  t.match(await page.locator('main').innerText(), /nonsense/, 'the mistake has its place');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.type('SecRule ARGS "@contains grue" "id:1000321,phase:2,deny,status:403,log,t:none"');
  await page.getByText('It compiles; it has no tests yet').waitFor();
  await press(page, page.getByRole('button', { name: 'Save' })); // Tab leaves the editor, too
  await page.getByRole('link', { name: 'no grues' }).waitFor();
  t.same(complaints, [], 'the editor needs no exception from the policy');
}

async function twoEditors(t: Test, stack: Stack): Promise<void> {
  const [mine, theirs] = [await stack.open(), await stack.open()];
  for (const { page } of [mine, theirs]) {
    await logIn(page);
    await go(page, '/waf');
  }
  await mine.page.getByLabel('Inbound threshold').fill('7');
  await theirs.page.getByLabel('Inbound threshold').fill('9');
  await theirs.page.getByRole('button', { name: 'Save' }).click();
  await theirs.page.getByText(/^Saved\./).waitFor();
  await mine.page.getByRole('button', { name: 'Save' }).click();
  const dialog = mine.page.getByRole('dialog');
  await dialog.getByText('Another user saved meanwhile').waitFor();
  t.match(await dialog.innerText(), /9[^]*7/, 'both values are shown');
  await mine.page.keyboard.press('Escape'); // nothing is chosen: the draft stays, and the question
  await press(mine.page, mine.page.getByRole('button', { name: 'Save', exact: true }));
  await dialog.getByText('Another user saved meanwhile').waitFor();
  await press(mine.page, dialog.getByRole('button', { name: 'Keep theirs' }));
  await mine.page.reload();
  await mine.page.getByLabel('Inbound threshold').waitFor();
  t.equal(await mine.page.getByLabel('Inbound threshold').inputValue(), '9');
}

const [reader, readersOwn] = ['viewer@gatehouse.local', 'another-word-of-mine-78'];

async function viewers(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await goByPalette(page, 'new user', 'Users');
  const dialog = page.getByRole('dialog');
  await typeInto(page, dialog.getByLabel('E-mail'), reader);
  await typeInto(page, dialog.getByLabel('First password'), 'first-word-of-many-77');
  await press(page, dialog.getByRole('button', { name: 'Add' }));
  await page.getByText(reader).first().waitFor();
  const other = await stack.open();
  await other.page.goto('/');
  await typeInto(other.page, other.page.getByLabel('E-mail'), reader);
  await typeInto(other.page, other.page.getByLabel('Password'), 'first-word-of-many-77');
  await other.page.keyboard.press('Enter');
  await typeInto(other.page, other.page.getByLabel('Current password'), 'first-word-of-many-77');
  await typeInto(other.page, other.page.getByLabel('New password', { exact: true }), readersOwn);
  await typeInto(other.page, other.page.getByLabel('New password, again'), readersOwn);
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  t.equal(await other.page.getByRole('link', { name: 'Users' }).count(), 0, 'what a viewer may not do is not offered');
  await other.page.keyboard.press('Control+k');
  await other.page.keyboard.type('new user');
  await other.page.getByText('Nothing is called that').waitFor(); // nor by its name
  await other.page.keyboard.press('Escape');
  await goByPalette(other.page, 'rule set', 'Rule set');
  t.ok(await other.page.getByLabel('Mode').isDisabled());
  const status = await other.page.evaluate(async () => {
    const headers = { 'content-type': 'application/json', 'x-gatehouse-request': '1' };
    return (await fetch('/api/settings', { method: 'PATCH', headers, body: '{"mode":"On"}' })).status;
  });
  t.equal(status, 403, 'and refused by the server anyway');
}

/** A page is opened as on a telephone, then in a narrow window, then wide and in both themes. */
async function everyPage(t: Test, stack: Stack): Promise<void> {
  const { page, complaints } = await stack.open(telephone);
  await prepareChecks(page);
  await logIn(page);
  for (const path of [...loggedInPaths, ...publicPaths]) {
    await page.setViewportSize({ width: telephone, height });
    await arrive(page, path);
    t.same(await tooWide(page), [], `${path} fits a telephone`);
    t.same(await seriousOn(page), [], `${path} on a telephone`);
    await page.setViewportSize({ width: 1024, height });
    t.same(await tooWide(page), [], `${path} fits a narrow window`);
    t.same(await seriousOn(page), [], `${path} in a narrow window`);
    await page.setViewportSize({ width: 1440, height });
    t.same(await tooWide(page), [], `${path} fits its window`);
    for (const [theme, rules] of [
      ['dark', 'all'],
      ['light', 'colours'],
    ] as const) {
      await page.evaluate((name) => void (document.documentElement.dataset['theme'] = name), theme);
      t.same(await seriousOn(page, rules), [], `${path}, ${theme}`);
    }
    t.same(await unseenFocus(page), [], `${path}: where the keyboard is can be seen`);
  }
  t.notMatch(await page.title(), /^[123]$/, 'nothing that is stored ran');
  await page.evaluate(() => document.body.append(document.createElement('button')));
  t.match((await seriousOn(page)).join(), /^button-name/, 'what is wrong would have been found');
  t.same(complaints, []);
}

async function firstLoad(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) sizes.push(response.headerValue('content-length').then(Number));
  });
  await logIn(page);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  t.ok(bytes > 10_000 && bytes <= 120_000, `${bytes} bytes of compressed JavaScript`);
}

async function counts(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  const figure = page.getByRole('link', { name: /^Blocked/ });
  await figure.waitFor();
  const counted = Number((await figure.locator('.value').innerText()).replaceAll(',', ''));
  await figure.click();
  await page.getByText(/shown, all there are/).waitFor();
  const listed = Number(/(\d+) shown/.exec(await page.getByRole('status').last().innerText())?.[1]);
  t.equal(listed, counted, 'a number is that of the list it opens');
}

async function byKeyboard(t: Test, stack: Stack): Promise<void> {
  const { page } = await stack.open();
  await logIn(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('audit');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  await page.getByRole('button', { name: 'Verify the chain' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText(/The chain is whole/).waitFor();
  t.pass('found and used without a mouse');
}

t.setTimeout(testMsMax);
t.test('the console in a browser', { skip: withoutBrowser }, async (t) => {
  const stack = await startStack(t);
  await t.test('A2: by keyboard alone: the first login, and a password of one’s own', (t) => firstLogin(t, stack));
  await t.test('the first page is small', (t) => firstLoad(t, stack));
  await t.test('A2: by keyboard alone: a change is applied, and taken back', (t) => changeAndApply(t, stack));
  await t.test('A2: by keyboard alone: events come by themselves; one is explained and excluded', (t) =>
    events(t, stack),
  );
  await t.test('C7: an event shows its road, and becomes the test of a rule', (t) => eventToRule(t, stack));
  await t.test('a number is that of the list behind it', (t) => counts(t, stack));
  await t.test('A2: by keyboard alone: a rule with a mistake, and without', (t) => rules(t, stack));
  await t.test('two who edit the same', (t) => twoEditors(t, stack));
  await t.test('A2: by keyboard alone: a viewer sees, and cannot', (t) => viewers(t, stack));
  await t.test('every page: both themes, on a telephone, by keyboard', (t) => everyPage(t, stack));
  await t.test('by keyboard alone', (t) => byKeyboard(t, stack));
});
