import fc from 'fast-check';
import t from 'tap';
import { loggedInPaths } from '../../../e2e/pages.js';
import { allEntries, allPages, navigation } from './navigation.js';
import { placeOf } from './place.js';
import { listFrom } from './stored-list.js';

t.test('the side bar has few entries, and every page is a tab of one', async (t) => {
  t.ok(allEntries.length <= 15, `${allEntries.length} entries`);
  t.equal(new Set(allEntries.map(({ title }) => title)).size, allEntries.length, 'no name twice');
  t.equal(new Set(navigation.map(({ key }) => key)).size, navigation.length);
  t.equal(new Set(allPages.map(({ path }) => path)).size, allPages.length, 'no address twice');
  for (const { title, tabs } of allEntries) {
    t.ok(tabs.length > 0 && tabs.length <= 8, `${title} has ${tabs.length} tabs`);
    t.equal(new Set(tabs.map((tab) => tab.title)).size, tabs.length, `${title}: no tab twice`);
  }
  for (const path of loggedInPaths.filter((one) => one !== '/account'))
    t.not(placeOf(path.split('?')[0] ?? ''), null, `${path} is in the navigation`);
});

t.test('an address has its place, also that of a single thing', async (t) => {
  for (const [path, entry, tab] of [
    ['/', 'Overview', '/'],
    ['/soc', 'Events', '/soc'],
    ['/soc/', 'Events', '/soc'],
    ['/waf/rules/new', 'Rules', '/waf/rules'],
    ['/admin/settings/limits', 'System', '/admin/settings'],
    ['/vulnerabilities/chains/chain:1:none', 'Findings', '/vulnerabilities/chains'],
    ['/vulnerabilities/scans', 'Scans', '/vulnerabilities/scans'],
  ] as const)
    t.match(placeOf(path), { entry: { title: entry }, tab: { path: tab } }, path);
  for (const path of ['/account', '/waf/rules/1/2', '/waf/rules//', '/nothing', '/vulnerabilities/nothing', ''])
    t.equal(placeOf(path), null, `${path} has none`);
});

t.test('of what is stored only a list of different texts is taken', async (t) => {
  for (const [stored, expected] of [
    [null, []],
    ['', []],
    ['{', []],
    ['{"a":1}', []],
    ['["/soc",1,null,"/soc","/waf"]', ['/soc', '/waf']],
    ['["a","b","c","d"]', ['a', 'b', 'c']],
  ] as const)
    t.same(listFrom(stored, 3), expected, String(stored));
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 8 }), (list) => {
      return JSON.stringify(listFrom(JSON.stringify(list), 8)) === JSON.stringify(list);
    }),
    { seed: 7 },
  );
});
