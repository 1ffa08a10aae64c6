// `gatehouse up` as a newcomer meets it: a process of its own with an empty data directory and free ports, rules that
// compile in a moment. Nothing of it is imported; what it prints and what its ports answer is all that counts.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { variables, type EnvironmentVariable } from '#settings/environment';
import { startUpstream } from '../testing/data-plane.js';
import { writeRuleSet } from '../testing/rule-set.js';
import {
  attack,
  callApi,
  childrenOf,
  freePorts,
  isAlive,
  isUp,
  logIn,
  makeHome,
  portNames,
  startUp,
  stop,
  textOfAll,
} from '../testing/processes/up.js';
import { pause, testMsMax, until as untilSo } from '../testing/waiting.js';

t.setTimeout(testMsMax);

t.test('from an empty directory to a protected shop, down, and up again', async (t) => {
  const home = await makeHome(t);
  const ports = await freePorts();
  const envFile = join(home, '.env');
  const given = {
    ...ports,
    GATEHOUSE_ENV_FILE: envFile,
    GATEHOUSE_DATA: join(home, 'data'),
    WAF_BIND: '127.0.0.1',
    DATA_WORKERS: '1',
    CRS_DIR: await writeRuleSet(t),
    CLOUD_SECRET_KEY: 'of-somebody-else',
  };
  const shop = `http://127.0.0.1:${ports.WAF_PORT}`;
  let password = '';
  let pids: number[] = [];

  const first = startUp(t, given);
  await t.test('the first start writes secrets, compiles, and tries itself out', async (t) => {
    await first.until(isUp);
    t.match(first.said(), `wrote ${envFile} with fresh secrets`);
    t.match(first.said(), /rules compiled in [\d.]+ s/);
    t.match(first.said(), /passes {2}\(200\)/);
    t.match(first.said(), /blocked \(403\)/);
    t.equal((await stat(envFile)).mode & 0o777, 0o600, "secrets are their owner's");
    pids = childrenOf(first.process.pid ?? 0).map(({ pid }) => pid);
    t.equal(pids.length, 4, 'demo, data plane, control plane and console');
  });

  await t.test('A12: each part has the variables that it reads, and no key of another part', async (t) => {
    const file = await readFile(envFile, 'utf8');
    const secretOf = (name: string): string => new RegExp(`^${name}=(.+)$`, 'm').exec(file)?.[1] ?? '';
    for (const part of ['demo', 'data-plane', 'control-plane', 'console']) {
      const child = childrenOf(first.process.pid ?? 0).find(({ command }) => command.includes(`gatehouse ${part}`));
      const has = await readFile(`/proc/${child?.pid}/environ`, 'utf8');
      t.match(has, 'PATH=', `${part} has what every program needs`);
      for (const { name, readBy, isSecret } of variables as readonly EnvironmentVariable[]) {
        if (isSecret !== true || secretOf(name) === '') continue;
        const mayHave = (readBy as readonly string[]).includes(part.replace('-', ' '));
        t.equal(has.includes(secretOf(name)), mayHave, `${part} ${mayHave ? 'has' : 'has not'} ${name}`);
      }
      t.notMatch(has, 'of-somebody-else', `${part} has no variable that it has no use for`);
    }
  });

  await t.test('A15: what is written is for its user and its group', async (t) => {
    const data = join(home, 'data');
    const open: string[] = [];
    t.equal((await stat(join(data, 'db'))).mode & 0o777, 0o700, 'nobody else comes to what the database writes');
    for (const name of ['.', ...(await readdir(data, { recursive: true }))]) {
      if (/^(?:db|crs)(?:\/|$)/.test(name)) continue; // the latter this test has put there
      const { mode } = await stat(join(data, name));
      if ((mode & 0o027) !== 0) open.push(`${name} ${(mode & 0o777).toString(8)}`);
    }
    t.same(open, []);
  });

  await t.test('traffic passes, attacks do not', async (t) => {
    const passed = await fetch(`${shop}/search?q=lamp`);
    t.equal(passed.status, 200);
    t.match(await passed.text(), 'Night Shift Lamp');
    const blocked = await fetch(shop + attack);
    t.equal(blocked.status, 403);
    t.equal(blocked.headers.get('content-type'), 'application/problem+json');
    await blocked.arrayBuffer();
    const page = await fetch(shop + attack, { headers: { accept: 'text/html' } });
    t.match(await page.text(), '<h1>Request blocked</h1>');
  });

  await t.test('the control plane is ready and its first password is printed, and only there', async (t) => {
    const ready = await fetch(`http://127.0.0.1:${ports.API_PORT}/api/ready`);
    t.equal(ready.status, 200);
    await ready.arrayBuffer();
    password = /password (\S+) {3}\(shown this once/.exec(first.said())?.[1] ?? '';
    t.ok(password.length >= 12, 'a password is printed');
    t.equal(first.said().split(password).length - 1, 1, 'once');
    t.match(await readFile(envFile, 'utf8'), `ADMIN_INITIAL_PASSWORD=${password}\n`);
    t.equal((await logIn(ports.API_PORT, password)).status, 200, 'it logs in');
    t.notOk((await textOfAll(join(home, 'data', 'log'))).includes(password), 'no log has it');
  });

  await t.test('a second start on the same ports says which are taken, before anything slow', async (t) => {
    const second = startUp(t, { ...given, GATEHOUSE_DATA: join(home, 'empty') });
    t.equal(await second.ended, 1);
    t.notMatch(second.said(), /compil/, 'it has no rules yet and compiles none');
    for (const name of portNames)
      t.match(
        second.said(),
        new RegExp(
          `port ${ports[name]} \\(.*\\) is taken; .*${name} in .*--${name.toLowerCase().replaceAll('_', '-')} N`,
        ),
        name,
      );
    t.notMatch(second.said(), /^\s+at /m, 'no stack');
    t.equal((await fetch(`${shop}/search?q=lamp`)).status, 200, 'what runs goes on');
  });

  await t.test('a part that dies comes back', async (t) => {
    const demo = childrenOf(first.process.pid ?? 0).find(({ command }) => command.endsWith(' demo'));
    // Never a default: 0 names the process group, the test runner and its callers included.
    if (demo === undefined)
      return void t.fail(`no demo among the parts: ${JSON.stringify(childrenOf(first.process.pid ?? 0))}`);
    process.kill(demo.pid, 'SIGKILL');
    await first.until(/demo is back/);
    t.equal((await fetch(`${shop}/search?q=lamp`)).status, 200);
    pids = [...pids, ...childrenOf(first.process.pid ?? 0).map(({ pid }) => pid)];
  });

  await t.test('SIGTERM ends every part', async (t) => {
    t.equal(await stop(first), 0);
    t.notMatch(first.said(), /did not stop/, 'each by itself');
    t.same(pids.filter(isAlive), [], 'no process is left');
    for (const name of portNames) await t.rejects(fetch(`http://127.0.0.1:${ports[name]}/`), `${name} is free again`);
  });

  const own = await startUpstream(t, 'an application of my own');
  const payment = async (): Promise<string> => (await fetch(`${shop}/payment`)).text();

  await t.test(
    'the second start compiles nothing, keeps the password to itself and follows the environment',
    async (t) => {
      t.match(first.said(), /protects {10}the bundled demo shop on port \d+ \(set UPSTREAM_CUSTOMER/);
      const again = startUp(t, { ...given, UPSTREAM_PAYMENT: own });
      await again.until(isUp);
      t.match(again.said(), `/payment → ${own}\n`);
      t.equal(await payment(), 'an application of my own', 'as soon as it says so');
      t.notMatch(again.said(), /compil|wrote/);
      t.match(again.said(), /passes {2}\(200\)[^]*blocked \(403\)/);
      t.notOk(again.said().includes(password), 'the password is not printed again');
      t.match(again.said(), 'with the password you chose');
      const { status, body } = await logIn(ports.API_PORT, password);
      t.equal(status, 200, 'and still is the one');
      const token = body.token ?? '';
      t.equal(
        (
          await callApi(
            ports.API_PORT,
            'POST',
            '/api/account/password',
            { current: password, password: 'Quiet-river-stone-41' },
            token,
          )
        ).status,
        204,
      );
      t.equal(
        (
          await callApi(
            ports.API_PORT,
            'PATCH',
            '/api/settings',
            { mode: 'DetectionOnly', sites: [{ name: 'mine', prefix: '/', upstream: own }] },
            token,
          )
        ).status,
        200,
      );
      t.equal((await callApi(ports.API_PORT, 'POST', '/api/apply', null, token)).status, 200);
      t.equal(await stop(again), 0);
    },
  );

  await t.test('sites of the settings win over the environment, and the start says so', async (t) => {
    const third = startUp(t, { ...given, UPSTREAM_PAYMENT: 'http://127.0.0.1:1' });
    await third.until(isUp);
    t.match(third.said(), `/ → ${own}\n`);
    t.match(third.said(), /UPSTREAM_PAYMENT=http:\/\/127\.0\.0\.1:1 is NOT in force: the settings have sites/);
    t.match(
      third.said(),
      /passes {2}\(200\)[^]*logged {2}\(200\)[^]*\(mode DetectionOnly: attacks are logged, not blocked\)/,
    );
    t.equal(await payment(), 'an application of my own');
    t.equal(await stop(third), 0);
  });

  await t.test('a node of its own begins with what its control plane sent last', async (t) => {
    for (const [command, up] of [
      [['data-plane'], /data plane is up/],
      [['up', '--no-api'], isUp],
    ] as const) {
      const node = startUp(t, { ...given, GATEHOUSE_CONTROL_URL: 'http://127.0.0.1:1' }, command);
      await node.until(up);
      const reply = await fetch(`${shop}${attack}`);
      t.equal(
        `${reply.status} ${await reply.text()}`,
        '200 an application of my own',
        `${command.join(' ')}: its site and its mode, not those of the local settings`,
      );
      t.equal(await stop(node), 0);
    }
  });

  await t.test(
    'without a record of what served, nothing is served until the control plane has said it again',
    async (t) => {
      await writeFile(join(home, 'data', 'current.json'), '{');
      const fourth = startUp(t, given);
      const seen = new Set<string>();
      const look = async (): Promise<boolean> => {
        const reply = await fetch(`${shop}/payment`).then(
          async (response) => `${response.status} ${response.status === 503 ? '' : await response.text()}`,
          () => 'not up yet',
        );
        seen.add(reply);
        return reply.startsWith('200');
      };
      let isStarting = true;
      const started = fourth.until(isUp).finally(() => (isStarting = false));
      while (isStarting && !(await look())) await pause(20);
      await started;
      await untilSo('it serves again', look);
      t.notOk(
        [...seen].some((reply) => !['not up yet', '503 ', '200 an application of my own'].includes(reply)),
        `never the demo: ${[...seen].join(', ')}`,
      );
      t.match(
        await textOfAll(join(home, 'data', 'log')),
        new RegExp(
          'current\\.json, what served last, cannot be used \\(.*\\); ' +
            'every request is answered 503 until the control plane',
        ),
      );
      t.equal(await stop(fourth), 0);
    },
  );
});
