// Messages for a node that is to enrol by itself, or to be drained, and cannot.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '#api/testing/free-port';
import { bareEnvironment } from '#api/testing/temporary';

const program = join(import.meta.dirname, '../../../bin/gatehouse');

t.test('refusals', async (t) => {
  const nowhere = String(await freePort());
  const urls = { JOIN_URLS: `https://127.0.0.1:${nowhere}` };
  const secret = { NODES_JOIN_SECRET: 'x'.repeat(32) };
  const cases: readonly [string, readonly string[], Readonly<Record<string, string>>, number, RegExp][] = [
    ['nothing to join with', ['data-plane'], urls, 1, /set NODES_JOIN_SECRET or JOIN_TOKEN/],
    [
      'a token that is none',
      ['data-plane'],
      { ...urls, JOIN_TOKEN: 'abcdefgh' },
      1,
      /JOIN_TOKEN cannot be used.*gh1\./,
    ],
    ['a short secret', ['data-plane'], { ...urls, NODES_JOIN_SECRET: 'short' }, 1, /shorter than 32 characters/],
    ['labels', ['data-plane'], { ...urls, ...secret, JOIN_LABELS: 'ring' }, 2, /JOIN_LABELS takes NAME=VALUE; ring/],
    ['a plain address', ['data-plane'], { ...secret, JOIN_URLS: 'http://a.test' }, 2, /not the address of a control/],
    ['a drain without a node', ['node', 'drain'], { GATEHOUSE_ADMIN_PORT: nowhere }, 1, /no token of the admin/],
    [
      'a drain of a node that is not there',
      ['node', 'drain'],
      { GATEHOUSE_ADMIN_PORT: nowhere, GATEHOUSE_ADMIN_TOKEN: 'x'.repeat(32) },
      1,
      /the data plane \(http:\/\/127\.0\.0\.1:\d+\/drain\)/,
    ],
    ['a wait that is none', ['node', 'drain', '--wait', 'long'], {}, 2, /--wait takes whole seconds from 0 to 600/],
    ['a number that is none', ['node', 'token', '--nodes-max', 'many'], {}, 2, /--nodes-max takes a whole number/],
  ];
  for (const [what, args, given, status, words] of cases) {
    const keys = Object.fromEntries(
      ['AUTH_SESSION_SECRET', 'SETTINGS_ENCRYPTION_SECRET', 'DATA_ADMIN_TOKEN'].map((name) => [name, 'k'.repeat(32)]),
    );
    const own = args[1] === 'token' ? keys : {};
    const env = {
      ...bareEnvironment(),
      GATEHOUSE_ENV_FILE: '/dev/null',
      GATEHOUSE_DATA: t.testdir({}),
      ...own,
      ...given,
    };
    const told = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8', timeout: 30_000 });
    t.match(told.stderr, words, what);
    t.equal(told.status, status, `${what}: ${told.stdout}${told.stderr}`);
  }
});

t.test('it tries until a control plane answers', async (t) => {
  const env = {
    ...bareEnvironment(),
    GATEHOUSE_ENV_FILE: '/dev/null',
    GATEHOUSE_DATA: t.testdir({}),
    JOIN_URLS: `https://127.0.0.1:${await freePort()}`,
    NODES_JOIN_SECRET: 'x'.repeat(32),
  };
  const told = spawnSync(process.execPath, [program, 'data-plane'], { env, encoding: 'utf8', timeout: 4_000 });
  t.match(told.stderr, /could not join yet; it tries again\. No control plane answered/);
  t.equal(told.signal, 'SIGTERM', 'it was still trying');
});
