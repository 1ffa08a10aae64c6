// `gatehouse up` with files and directories of its owner, and ended before it is up.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { writeRuleSet } from '../testing/rule-set.js';
import { bareEnvironment } from '../testing/temporary.js';
import {
  attack,
  childrenOf,
  freePorts,
  isAlive,
  isUp,
  makeHome,
  root,
  startUp,
  stop,
} from '../testing/processes/up.js';
import { testMsMax, until as untilSo } from '../testing/waiting.js';

t.setTimeout(testMsMax);

t.test('directories of .env, and a settings file that lets SQL injections pass', async (t) => {
  const home = await makeHome(t);
  const ports = await freePorts();
  const envFile = join(home, '.env');
  const data = join(home, 'data');
  await writeFile(envFile, `GATEHOUSE_DATA=${data}\nCRS_DIR=${await writeRuleSet(t)}\n`);
  const variables = { ...ports, GATEHOUSE_ENV_FILE: envFile, WAF_BIND: '127.0.0.1', DATA_WORKERS: '1' };
  await writeFile(join(data, 'settings.json'), '{"paranoia": 4}');
  const mistyped = startUp(t, variables);
  t.equal(await mistyped.ended, 1);
  t.match(
    mistyped.said(),
    /settings\.json cannot be used; nothing was changed:\n {2}\/paranoia is not a known field; .*paranoia_level/,
  );
  await writeFile(join(data, 'settings.json'), JSON.stringify({ categories: { sqli: { enabled: false } } }));
  const up = startUp(t, variables);
  await up.until(isUp);
  t.match(up.said(), 'CRS_DIR holds a rule set other than the pinned', 'the one that .env names');
  const passed = await fetch(`http://127.0.0.1:${ports.WAF_PORT}${attack}`);
  t.equal(passed.status, 200, 'its own settings are not held against it');
  await passed.arrayBuffer();
  t.ok(existsSync(join(data, 'cache', 'automata')), 'what the compiler keeps lies where .env says');
  const request = join(home, 'request');
  await writeFile(request, `GET ${attack} HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
  const explained = execFileSync(
    '/bin/sh',
    ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', process.execPath, join(root, 'bin/gatehouse'), 'explain', request],
    { encoding: 'utf8', env: { ...bareEnvironment(), GATEHOUSE_ENV_FILE: envFile } },
  );
  t.match(explained, 'No rule matched.', 'explain goes by the same settings and rules');
  t.equal(await stop(up), 0);
});

t.test('ended while it compiles, it leaves nothing behind', async (t) => {
  const home = await makeHome(t);
  const rules = await writeRuleSet(t);
  // a pipe that nobody writes to: the compiler is still reading it whenever this test gets to look
  execFileSync('mkfifo', [join(rules, 'endless.data')]);
  await appendFile(
    join(rules, 'rules', 'REQUEST-901-INITIALIZATION.conf'),
    'SecRule ARGS "@pmFromFile ../endless.data" "id:949999,phase:2,pass"\n',
  );
  const up = startUp(t, {
    ...(await freePorts()),
    GATEHOUSE_ENV_FILE: join(home, '.env'),
    GATEHOUSE_DATA: join(home, 'data'),
    WAF_BIND: '127.0.0.1',
    CRS_DIR: rules,
  });
  await up.until(/compiling the rules/);
  const compilers = (): number[] =>
    childrenOf(up.process.pid ?? 0)
      .filter(({ command }) => / compile /.test(command))
      .map(({ pid }) => pid);
  await untilSo('the compiler runs in a process of its own', () => compilers().length === 1);
  const compiling = compilers();
  t.equal(await stop(up), 0, up.said());
  t.same(compiling.filter(isAlive), [], 'the compiler has ended, too');
  t.same(
    (await readdir(join(home, 'data', 'artifacts'))).filter((name) => name.includes('part')),
    [],
    'no unfinished file is left',
  );
  t.notOk(existsSync(join(home, 'data', 'current.json')));
});
