// Flags, the environment and `.env`: which of them counts, what is refused, what is written on the first start.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { controlUrl } from './control-url.js';
import { dataDirectory, root, sharedDirectory, shown } from './directories.js';
import { createEnvFile, envFilePath, readEnvFile } from './env-file.js';
import { flagOf, readFlags } from './flags.js';
import { variables, type EnvironmentVariable, type Values } from '#settings/environment';
import { adoptDirectories, controlPlaneEnvironment, readEnvironment } from './read-environment.js';

/** For this test, variables of the process; undefined = not set. */
function setVariables(t: Test, variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
    t.teardown(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

t.test('flags', async (t) => {
  const table: [string[], Record<string, string>, string[]][] = [
    [[], {}, []],
    [['--waf-port', '9000'], { WAF_PORT: '9000' }, []],
    [['--waf-port=9000', '--no-api'], { WAF_PORT: '9000' }, ['--no-api']],
    [['--waf_port', '1', '--WAF_BIND', '::'], { WAF_PORT: '1', WAF_BIND: '::' }, []],
    [['--waf-port', '1', '--waf-port', '2'], { WAF_PORT: '2' }, []],
    [['--waf-port='], { WAF_PORT: '' }, []],
    [['--app-brand', '--no-api'], { APP_BRAND: '--no-api' }, []],
    [['--database-url=postgres://a?b=c'], { DATABASE_URL: 'postgres://a?b=c' }, []],
    [['--settings', 'file', '--waf-port', '1', '-x'], { WAF_PORT: '1' }, ['--settings', 'file', '-x']],
    [['-abc', 'me@example.org', '--other=1'], {}, ['-abc', 'me@example.org', '--other=1']],
  ];
  for (const [args, flags, others] of table) t.same(readFlags(args), { flags, others }, args.join(' '));
  t.throws(() => readFlags(['--waf-port']), { message: '--waf-port needs a value: --waf-port …', exitCode: 2 });
  t.equal(flagOf('GATEHOUSE_ADMIN_PORT'), '--gatehouse-admin-port');
});

t.test('flags before the environment before .env before the defaults', async (t) => {
  const file = join(t.testdir({ '.env': 'WAF_PORT=1\nAPI_PORT=2\nDEMO_PORT=3\nUI_PORT=\n' }), '.env');
  setVariables(t, { WAF_PORT: '11', API_PORT: '12', DEMO_PORT: undefined, UI_PORT: undefined });
  const values = readEnvironment({ WAF_PORT: '21' }, file);
  t.match(values, { WAF_PORT: '21', API_PORT: '12', DEMO_PORT: '3', UI_PORT: '3010', JA3_PORT: '8443' });
  setVariables(t, { WAF_PORT: '', API_PORT: '' });
  t.match(readEnvironment({ WAF_PORT: '' }, file), { WAF_PORT: '1', API_PORT: '2' }, 'an empty value is none');
  t.equal(readEnvironment({}, join(t.testdirName, 'none')).WAF_PORT, '8080', 'without a file');
});

t.test('all that is wrong is told at once, with where it stands; secrets are not shown', async (t) => {
  const file = join(t.testdir({ '.env': 'WAF_PORT=x\nDATA_ADMIN_TOKEN=short\nADMIN_EMAIL=nobody\n' }), '.env');
  setVariables(t, { WAF_PORT: undefined, DATA_ADMIN_TOKEN: undefined, DATA_LISTENER: 'bun' });
  t.throws(() => readEnvironment({ UPSTREAM_CUSTOMER: 'here' }, file), {
    exitCode: 1,
    message: [
      'these settings cannot be used:',
      `  WAF_PORT=x (${shown(file)}) is not a port number from 1 to 65535; ` +
        'it is the port that protects: point clients here.',
      '  UPSTREAM_CUSTOMER=here (flag) is not an http:// or https:// URL; it is the application to protect, such as ' +
        'http://127.0.0.1:3000; empty = the bundled demo shop; sites in the settings win.',
      '  DATA_LISTENER=bun (environment) is none of auto, net, uws, node; ' +
        'it is auto (= net), net (the own one), uws (uWebSockets.js) or node (node:http).',
      `  DATA_ADMIN_TOKEN=… (${shown(file)}) is shorter than 32 characters; ` +
        'it is token between the two planes as the control plane names it; empty = GATEHOUSE_ADMIN_TOKEN.',
    ].join('\n'),
  });
});

t.test('a wrong line of .env is told by its number', async (t) => {
  const file = join(t.testdir({ '.env': 'WAF_PORT=1\n\nAPI_PORT 2\n' }), '.env');
  t.throws(() => readEnvFile(file), {
    message: `${shown(file)}:3: "API_PORT 2" is not NAME=value; fix or remove the line.`,
    exitCode: 1,
  });
  t.same(readEnvFile(join(t.testdirName, 'none')), {});
});

t.test('26.9: a secret may be in a file, for every secret of the table', async (t) => {
  const secret = 'from-a-file-'.repeat(4);
  const directory = t.testdir({ secret: `${secret}\n`, empty: '\n', two: `a${secret}\nb\n`, '.env': '' });
  const file = join(directory, '.env');
  const secrets = (variables as readonly EnvironmentVariable[]).filter(({ isSecret }) => isSecret === true);
  t.ok(secrets.length >= 9, `${secrets.length} secrets`);
  for (const { name, kind } of secrets) {
    const value = kind === 'postgresUrl' ? 'postgres://a:b@c/d' : kind === 'redisUrl' ? 'redis://:x@y' : secret;
    const at = join(directory, name);
    writeFileSync(at, `${value}\n`);
    writeFileSync(file, `${name}_FILE=${at}\n`);
    setVariables(t, { [name]: undefined, [`${name}_FILE`]: undefined });
    t.equal(readEnvironment({}, file)[name as keyof Values], value, `${name}: of .env`);
    t.equal(readEnvironment(readFlags([`--${name}-file`, at]).flags, '')[name as keyof Values], value, 'of a flag');
    writeFileSync(file, `${name}=${'x'.repeat(40)}\n`);
    setVariables(t, { [`${name}_FILE`]: at });
    t.equal(readEnvironment({}, file)[name as keyof Values], value, `${name}: the environment wins over .env`);
    const wrong: [string, RegExp][] = [
      [join(directory, 'none'), /cannot be read \(ENOENT\)/],
      [directory, /cannot be read \(EISDIR\)/],
      [join(directory, 'empty'), /is empty/],
      [join(directory, 'two'), /more than one line/],
    ];
    for (const [path, message] of wrong) {
      setVariables(t, { [`${name}_FILE`]: path });
      t.throws(() => readEnvironment({}, file), { message, exitCode: 1 }, `${name}_FILE ${message}`);
    }
    setVariables(t, { [name]: 'y'.repeat(40), [`${name}_FILE`]: at });
    t.throws(() => readEnvironment({}, file), { message: new RegExp(`${name} and ${name}_FILE are both set`) });
    setVariables(t, { [name]: undefined, [`${name}_FILE`]: undefined });
  }
  setVariables(t, { WAF_PORT_FILE: join(directory, 'none'), AUTH_SESSION_SECRET_FILE: join(directory, 'secret') });
  t.equal(readEnvironment({}, '').WAF_PORT, '8080', 'only secrets are in files');
  writeFileSync(file, `POSTGRES_PASSWORD_FILE=${join(directory, 'secret')}\n`);
  createEnvFile(file);
  t.notMatch(readFileSync(file, 'utf8'), /^(?:AUTH_SESSION_SECRET|POSTGRES_PASSWORD)=/m, 'none is made beside a file');
});

t.test('secrets of the environment are not made again', async (t) => {
  const file = join(t.testdir({ '.env': 'ADMIN_INITIAL_PASSWORD=of a person\n' }), '.env');
  setVariables(t, { AUTH_SESSION_SECRET: 'x'.repeat(40), POSTGRES_PASSWORD: undefined });
  t.equal(createEnvFile(file), 'completed');
  const values = readEnvFile(file);
  t.equal(values['ADMIN_INITIAL_PASSWORD'], 'of a person');
  t.notOk('AUTH_SESSION_SECRET' in values);
  t.match(values['POSTGRES_PASSWORD'], /^[\w-]{43}$/);
});

t.test('paths mean the same to every command', async (t) => {
  const own = join(t.testdir({}), 'own.env');
  setVariables(t, { GATEHOUSE_ENV_FILE: own, GATEHOUSE_DATA: undefined, CRS_DIR: undefined, GATEHOUSE_SHARED: '../x' });
  t.equal(envFilePath(), own);
  t.equal(dataDirectory(), join(root, 'data'));
  t.equal(sharedDirectory(), join(root, '../x'));
  writeFileSync(own, 'GATEHOUSE_DATA=elsewhere\nDATA_DIR=\nCRS_DIR=rules\n');
  const values = readEnvironment();
  t.equal(controlPlaneEnvironment(values).DATA_DIR, join(root, 'elsewhere'));
  adoptDirectories(values);
  t.equal(dataDirectory(), join(root, 'elsewhere'));
  t.equal(process.env['CRS_DIR'], join(root, 'rules'));
  t.equal(readFileSync(own, 'utf8').split('\n').length, 4, 'nothing was written');
});

t.test('where the control plane is reached from this machine', async (t) => {
  const at = (ADMIN_BIND: string): string => controlUrl({ ...readEnvironment({}, ''), ADMIN_BIND, API_PORT: '1' });
  t.equal(at('127.0.0.1'), 'http://127.0.0.1:1');
  t.equal(at('0.0.0.0'), 'http://127.0.0.1:1');
  t.equal(at('::'), 'http://[::1]:1');
  t.equal(at('fd00::2'), 'http://[fd00::2]:1');
});
