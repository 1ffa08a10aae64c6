// `gatehouse up` as a newcomer meets it: a process of its own with an empty data directory and free ports, rules that
// compile in a moment. Nothing of it is imported; what it prints and what its ports answer is all that counts.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { startUpstream } from '../testing/data-plane.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { bareEnvironment, makeDirectory } from '../testing/temporary.js';
import { pause, testMsMax, until as untilSo } from '../testing/waiting.js';

const root = fileURLToPath(new URL('../../..', import.meta.url)); // from build/api/e2e
const startMsMax = 300_000;
const stopMsMax = 120_000; // `up` itself kills a part after 15 s, and says so

t.setTimeout(testMsMax);

const portNames = ['WAF_PORT', 'GATEHOUSE_ADMIN_PORT', 'API_PORT', 'DEMO_PORT'] as const;
type PortName = (typeof portNames)[number];

/** With what set-up has fetched for this checkout, where it could: a start that misses it asks the package servers. */
async function makeHome(t: Test): Promise<string> {
  const home = await makeDirectory(t, 'up');
  const mapping = 'data/crs/unicode.mapping';
  await mkdir(join(home, dirname(mapping)), { recursive: true });
  if (existsSync(join(root, mapping))) await copyFile(join(root, mapping), join(home, mapping));
  return home;
}

async function freePorts(): Promise<Record<PortName, string>> {
  const ports: [string, string][] = [];
  for (const name of portNames) ports.push([name, String(await freePort())]);
  return Object.fromEntries(ports) as Record<PortName, string>;
}

interface Up {
  readonly process: ChildProcess;
  readonly said: () => string;
  /** Resolves when the text has been printed; rejects when the process ends first. */
  readonly until: (text: RegExp) => Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Tests reach nothing outside: the check of a new password is refused at once. */
const breachCheck = { BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/' };

/** Only what a login shell would have: an environment that this test inherits must not decide what it sees. */
function startUp(t: Test, variables: Readonly<Record<string, string>>, command: readonly string[] = ['up']): Up {
  const { HOME = '' } = process.env;
  // tap loads itself into every Node.js that its tests start, by NODE_OPTIONS, and does not get on with a command that
  // has no .js.
  const child = spawn(
    '/bin/sh',
    ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', process.execPath, join(root, 'bin/gatehouse'), ...command],
    { cwd: root, env: { ...bareEnvironment(), HOME, ...breachCheck, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | string>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'nothing')),
  );
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  });
  const until = (text: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${String(text)} did not come in ${startMsMax} ms:\n${said}`)),
        startMsMax,
      );
      const settle = (problem: string | null): void => {
        clearTimeout(timer);
        listeners.delete(look);
        if (problem === null) resolve();
        else reject(new Error(problem));
      };
      const look = (): void => void (text.test(said) && settle(null));
      listeners.add(look);
      void ended.then((code) => settle(`ended with ${code}:\n${said}`));
      look();
    });
  return { process: child, said: () => said, until, ended };
}

function childrenOf(pid: number): { readonly pid: number; readonly command: string }[] {
  return execFileSync('ps', ['-ww', '-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((row) => row !== null && Number(row[2]) === pid)
    .map((row) => ({ pid: Number(row?.[1]), command: row?.[3] ?? '' }))
    .filter(({ command }) => !command.startsWith('ps '));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** SIGTERM; resolves with the exit code, or the signal that ended it. */
async function stop(up: Up): Promise<number | string> {
  up.process.kill('SIGTERM');
  // its parts end with it: their channel closes
  const lastResort = setTimeout(() => up.process.kill('SIGKILL'), stopMsMax);
  const code = await up.ended;
  clearTimeout(lastResort);
  return code;
}

async function textOfAll(directory: string): Promise<string> {
  const texts = (await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

interface Answer {
  readonly status: number;
  readonly body: { readonly token?: string };
}

async function callApi(port: string, method: string, path: string, body: object | null, token = ''): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === null ? null : JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
}

const logIn = (port: string, password: string): Promise<Answer> =>
  callApi(port, 'POST', '/api/login', { email: 'admin@gatehouse.local', password });

const attack = "/search?q=1'%20OR%20'1'='1'%20--%20";
const isUp = /Ctrl-C stops everything\./;

t.test('from an empty directory to a protected shop, down, and up again', async (t) => {
  const home = await makeHome(t);
  const ports = await freePorts();
  const envFile = join(home, '.env');
  const variables = {
    ...ports,
    GATEHOUSE_ENV_FILE: envFile,
    GATEHOUSE_DATA: join(home, 'data'),
    WAF_BIND: '127.0.0.1',
    DATA_WORKERS: '1',
    CRS_DIR: await writeRuleSet(t),
  };
  const shop = `http://127.0.0.1:${ports.WAF_PORT}`;
  let password = '';
  let pids: number[] = [];

  const first = startUp(t, variables);
  await t.test('the first start writes secrets, compiles, and tries itself out', async (t) => {
    await first.until(isUp);
    t.match(first.said(), `wrote ${envFile} with fresh secrets`);
    t.match(first.said(), /rules compiled in [\d.]+ s/);
    t.match(first.said(), /passes {2}\(200\)/);
    t.match(first.said(), /blocked \(403\)/);
    t.equal((await stat(envFile)).mode & 0o777, 0o600, "secrets are their owner's");
    pids = childrenOf(first.process.pid ?? 0).map(({ pid }) => pid);
    t.equal(pids.length, 3, 'demo, data plane and control plane');
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
    const second = startUp(t, { ...variables, GATEHOUSE_DATA: join(home, 'empty') });
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
      const again = startUp(t, { ...variables, UPSTREAM_PAYMENT: own });
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
    const third = startUp(t, { ...variables, UPSTREAM_PAYMENT: 'http://127.0.0.1:1' });
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
      const node = startUp(t, { ...variables, GATEHOUSE_CONTROL_URL: 'http://127.0.0.1:1' }, command);
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
      const fourth = startUp(t, variables);
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
        /current\.json, what served last, cannot be used \([^)]*\); every request is answered 503 until the control plane/,
      );
      t.equal(await stop(fourth), 0);
    },
  );
});

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
    /settings\.json cannot be used; nothing was changed:\n {2}paranoia: is not a field known here; remove it; known are mode, paranoia_level, /,
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
