// A report of a part of a repository does not decide for good where the repository begins: whatever parts reports are
// of, and wherever their checkouts lie, each file has one finding. Over HTTP, on both databases.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const sarif = (directory: string, files: readonly string[]): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker' } },
      results: files.map((file) => ({
        ruleId: 'r',
        message: { text: 'm' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: `${directory}${file}` },
              region: { startLine: 1, snippet: { text: 'call()' } },
            },
          },
        ],
      })),
    },
  ],
});

const [billing, web] = [
  ['billing/index.js', 'billing/util.js', 'billing/z.js'],
  ['web/index.js', 'web/a.js', 'web/b.js'],
];
const home = '/home/z/p/';
const both = [...billing, ...web];

interface Step {
  readonly directory: string;
  readonly files: readonly string[];
  readonly created: number;
  readonly closed?: number;
  readonly mode?: 'add';
}
const whole = ['a.py', 'b.py', 'core/c.py', 'core/d.py', 'zed/e.py'];
/** A checkout, and one in a directory of it. */
const nested: readonly (readonly [string, string])[] = [
  [home, `${home}shop/`],
  ['/ws/q/', '/ws/q/shop/'],
  ['/builds/g/shop/', '/builds/g/shop/x/'],
  ['/builds/g/', '/builds/g/shop/'],
  ['/workspace/', '/workspace/shop/'],
  ['C:/w/', 'C:/w/shop/'],
];
const sequences: readonly (readonly [string, readonly Step[], readonly string[]])[] = [
  [
    'grow, then move',
    [
      { directory: home, files: billing, created: 3 },
      { directory: home, files: both, created: 3 },
      { directory: '/opt/k/q/', files: both, created: 0 },
      { directory: '', files: both, created: 0 },
    ],
    both,
  ],
  [
    'grow, then relative',
    [
      { directory: home, files: billing, created: 3 },
      { directory: home, files: both, created: 3 },
      { directory: '', files: both, created: 0 },
    ],
    both,
  ],
  [
    'each in a directory of its own',
    [
      { directory: '/home/z/p1/', files: billing, created: 3 },
      { directory: '/home/z/p2/', files: both, created: 3 },
      { directory: '/opt/k/q/', files: both, created: 0 },
    ],
    both,
  ],
  [
    'one part after the other',
    [
      { directory: home, files: billing, created: 3 },
      { directory: home, files: web, created: 3, mode: 'add' },
      { directory: '/opt/k/q/', files: both, created: 0 },
    ],
    both,
  ],
  [
    'what is gone, and comes back, keeps its finding',
    [
      { directory: home, files: billing, created: 3 },
      { directory: home, files: [...billing.slice(1), ...web], created: 3, closed: 1 },
      { directory: '', files: both, created: 0 },
    ],
    both,
  ],
  [
    'a file of the name of one that was there',
    [
      { directory: home, files: billing, created: 3 },
      { directory: home, files: ['index.js', ...both], created: 4 },
      { directory: '/opt/k/q/', files: ['index.js', ...both], created: 0 },
    ],
    ['index.js', ...both],
  ],
  [
    'further up twice',
    [
      { directory: home, files: ['a/b/c.js', 'a/b/d.js'], created: 2 },
      { directory: home, files: ['a/b/c.js', 'a/e.js'], created: 1, mode: 'add' },
      { directory: home, files: ['a/b/d.js', 'f.js'], created: 1, mode: 'add' },
      { directory: '', files: ['a/b/c.js', 'a/b/d.js', 'a/e.js', 'f.js'], created: 0 },
    ],
    ['a/b/c.js', 'a/b/d.js', 'a/e.js', 'f.js'],
  ],
  ...nested.map(([outer, inner]): (typeof sequences)[number] => [
    `the checkout moves between ${outer} and ${inner}`,
    [
      { directory: outer, files: whole, created: 5 },
      { directory: inner, files: whole, created: 0 },
      { directory: inner, files: whole.slice(0, 2), created: 0, mode: 'add' },
      { directory: outer, files: whole, created: 0 },
      { directory: '', files: whole, created: 0 },
    ],
    whole,
  ]),
  [
    'a part with the same names beside the repository stays a part',
    [
      { directory: home, files: whole, created: 5 },
      { directory: home, files: [...whole, 'shop/a.py', 'shop/core/c.py'], created: 2 },
      { directory: '', files: [...whole, 'shop/a.py', 'shop/core/c.py'], created: 0 },
    ],
    [...whole, 'shop/a.py', 'shop/core/c.py'],
  ],
  [
    'K5: with a slash, then without',
    [
      { directory: '/', files: ['src/x.py', 'src/y.py'], created: 2 },
      { directory: '', files: ['src/x.py', 'src/y.py'], created: 0 },
      { directory: '/', files: ['src/x.py', 'src/y.py'], created: 0 },
    ],
    ['src/x.py', 'src/y.py'],
  ],
  [
    'K5: a file of the root beside',
    [
      { directory: '/', files: ['workspace/a.tf', 'b.tf'], created: 2 },
      { directory: '', files: ['workspace/a.tf', 'b.tf'], created: 0 },
    ],
    ['b.tf', 'workspace/a.tf'],
  ],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const paths = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location }) => String(location).replace(/:\d+$/, '')).sort();

  for (const [what, steps, wanted] of sequences)
    await t.test(`22 K4: ${what}`, async (t) => {
      const app = await client.application();
      for (const [index, { directory, files, created, closed = 0, mode = 'sync' }] of steps.entries()) {
        const report = { report: { created, closed } };
        const fields = { mode, branch: 'main' };
        const preview = await client.send(app, sarif(directory, files), fields, '/imports/preview');
        t.match(preview.body, report, `preview of step ${index + 1}: ${JSON.stringify(preview.body)}`);
        const sent = await client.send(app, sarif(directory, files), fields);
        t.match(sent, { status: 202, body: report }, `step ${index + 1}: ${JSON.stringify(sent.body)}`);
      }
      t.same(await paths(app), [...wanted].sort());
    });

  await t.test('22 K4: any sequence of reports of parts of one tree gives each file one finding', async () => {
    // one name that every directory has, and others: two directories with the same names alone may be one that moved
    const names = ['a', 'b', 'c', 'd'];
    const directories = ['', 'billing/', 'shipping/', 'billing/core/', 'shipping/x/', 'src/', 'src/lib/'];
    const tree = directories.flatMap((directory, at) =>
      ['index', ...names.map((name) => `${name}${at}`)].map((name) => `${directory}${name}.js`),
    );
    const step = fc.record({
      parts: fc.subarray(directories, { minLength: 1 }),
      moves: fc.boolean(),
      add: fc.boolean(),
    });
    const places = [home, '/opt/k/q/', '/home/bob/src/shop/', '/builds/grp/shop/', 'C:/Users/ann/shop/', ''];
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 4 }),
        fc.shuffledSubarray(places),
        async (steps, order) => {
          const app = await client.application();
          const known = new Set<string>();
          let place = 0;
          const told: string[] = [];
          for (const [index, { parts, moves, add }] of steps.entries()) {
            const isMoved = moves && index > 0 && order.length > place + 1;
            if (isMoved) place++;
            // a checkout elsewhere has what was there before: nothing else tells that it is the same tree
            const files = tree.filter((file) => known.has(file) || parts.some((part) => isIn(file, part)));
            const some = isMoved || !add ? files : tree.filter((file) => parts.some((part) => isIn(file, part)));
            const directory = order[place] ?? home;
            const fresh = some.filter((file) => !known.has(file)).length;
            told.push(`${directory} ${parts.join()} ${some.length}`);
            const mode = add ? 'add' : 'sync';
            const sent = await client.send(app, sarif(directory, some), { mode, branch: 'main' });
            const { created, closed } = (sent.body['report'] ?? {}) as Json;
            if (created !== fresh || closed !== 0)
              throw new Error(`${told.join('; ')}: ${created} created for ${fresh}, ${closed} closed`);
            for (const file of some) known.add(file);
          }
          const all = await paths(app);
          if (new Set(all).size !== known.size) throw new Error(`${told.join('; ')}: ${all.join()}`);
          if (all.some((path) => /^(?:home|opt|builds|Users)\//.test(path)))
            throw new Error(`${told.join('; ')}: ${all.join()}`);
        },
      ),
      { seed: Number(process.env['SEED'] ?? 22), numRuns: 15, endOnFailure: true },
    );
  });
}
const isIn = (file: string, part: string): boolean => file.startsWith(part) && !file.slice(part.length).includes('/');

t.test('22 K4: parts of repositories', (t) => onBothDatabases(t, 'parts', suite));
