import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { environmentFor } from '#settings/environment';
import { EnvError, parseEnvFile, readEnv } from './env.js';
import { createEnvFile } from './testing/env-file.js';
import { makeDirectory } from './testing/temporary.js';

const secrets = {
  AUTH_SESSION_SECRET: 'a'.repeat(40),
  SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(40),
  DATA_ADMIN_TOKEN: 'c'.repeat(40),
};

t.test('defaults of the specification', async (t) => {
  const env = readEnv(secrets);
  t.same(env.ports, { waf: 8080, ui: 3010, api: 8095, ja3: 8443 });
  t.equal(env.adminBind, '127.0.0.1');
  t.equal(env.databaseUrl, null);
  t.equal(env.redisPrefix, null);
  t.equal(env.acme.email, env.adminEmail);
});

t.test('the port that protects reaches the control plane, which tells it to people', async (t) => {
  const given = environmentFor('control plane', { ...secrets, WAF_PORT: '18480' });
  t.equal(readEnv(given).ports.waf, 18_480);
});

t.test('every wrong variable is named in one error', async (t) => {
  try {
    readEnv({
      ...secrets,
      AUTH_SESSION_SECRET: 'short',
      WAF_PORT: '99999',
      DATA_LISTENER: 'bun',
      DATABASE_URL: 'mysql://x',
      REDIS_PREFIX: 'a b',
      ADMIN_EMAIL: 'nobody',
    });
    t.fail('must throw');
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    for (const name of [
      'AUTH_SESSION_SECRET',
      'WAF_PORT',
      'DATA_LISTENER',
      'DATABASE_URL',
      'REDIS_PREFIX',
      'ADMIN_EMAIL',
    ])
      t.match(error.message, name);
    t.equal(error.problems.length, 6);
  }
});

t.test('missing secrets are refused, never invented at run time', async (t) => {
  t.throws(() => readEnv({}), /AUTH_SESSION_SECRET is missing/);
});

t.test('database parts make a URL only when a host is given', async (t) => {
  t.equal(
    readEnv({ ...secrets, POSTGRES_HOST: 'db', POSTGRES_PASSWORD: 'p@ss' }).databaseUrl,
    'postgres://gatehouse:p%40ss@db:5432/gatehouse',
  );
});

t.test('what `up` generates is made once, kept, and satisfies the control plane', async (t) => {
  const file = join(await makeDirectory(t, 'env'), '.env');
  t.equal(createEnvFile(file), 'written');
  t.equal((await stat(file)).mode & 0o777, 0o600, 'secrets are for their owner');
  const text = await readFile(file, 'utf8');
  const values = parseEnvFile(text);
  t.equal(
    readEnv({ ...values, DATA_ADMIN_TOKEN: values['GATEHOUSE_ADMIN_TOKEN'] }).authSessionSecret,
    values['AUTH_SESSION_SECRET'],
  );
  t.equal(createEnvFile(file), 'complete');
  t.equal(await readFile(file, 'utf8'), text);

  const older = `# mine\nWAF_PORT=9000\n${text
    .replace(/^AUTH_SESSION_SECRET=.*$/m, 'AUTH_SESSION_SECRET=')
    .replace(/^WAF_PORT=.*\n/m, '')
    .replace(/^POSTGRES_PASSWORD=.*\n/m, '')}`;
  await writeFile(file, older.trimEnd()); // without an end of its last line, as some editors leave it
  t.equal(createEnvFile(file), 'completed');
  const completed = await readFile(file, 'utf8');
  t.ok(completed.startsWith(older.trimEnd()), 'every line that was there is there');
  const now = parseEnvFile(completed);
  t.same(
    { ...now, AUTH_SESSION_SECRET: '', POSTGRES_PASSWORD: '' },
    { ...values, WAF_PORT: '9000', AUTH_SESSION_SECRET: '', POSTGRES_PASSWORD: '' },
  );
  t.match(now, { AUTH_SESSION_SECRET: /^.{40,}$/, POSTGRES_PASSWORD: /^.{40,}$/ });
  t.equal(createEnvFile(file), 'complete');
});

t.test('a file is read by the one grammar; wrong lines are told like wrong values', async (t) => {
  t.same(parseEnvFile('A="b c"\nB=\'d\'\n#C=1\n D = e '), { A: 'b c', B: 'd', D: 'e' });
  t.throws(
    () => parseEnvFile('A=1\nB 2\n'),
    /^The environment is not usable:\n {2}\.env:2: "B 2" is not NAME=value; fix/,
  );
});

t.test('an empty value is what another variable stands in for', async (t) => {
  const { DATA_ADMIN_TOKEN: token, ...others } = secrets;
  const env = readEnv({ ...others, GATEHOUSE_ADMIN_TOKEN: token, DEMO_PORT: '9', DATA_ADMIN_URLS: ' ' });
  t.equal(env.dataAdminToken, token);
  t.same(env.upstreams, { customer: 'http://127.0.0.1:9', payment: 'http://127.0.0.1:9/payment', dashboard: null });
  const named = readEnv({ ...secrets, DASHBOARD_DOMAIN: 'WAF.example.com', UI_PORT: '3011' });
  t.same(named.upstreams.dashboard, { host: 'waf.example.com', upstream: 'http://127.0.0.1:3011' });
  t.same(env.dataAdminUrls, ['http://127.0.0.1:2019']);
  t.equal(env.dataDirectory, 'data');
  t.throws(() => readEnv(others), /DATA_ADMIN_TOKEN is missing \(token between the two planes/);
});

t.test('26.3: which Redis, and what cannot be one, with everything else that is wrong', async (t) => {
  t.equal(readEnv(secrets).redis, null);
  const given = {
    ...secrets,
    REDIS_URL: 'rediss+sentinel://app@a,b/gate',
    REDIS_PASSWORD: 'p',
    REDIS_TLS_CA_FILE: '/ca',
  };
  t.match(readEnv(given).redis, { mode: 'sentinel', master: 'gate', password: 'p', tls: { caFile: '/ca' } });
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ REDIS_URL: 'http://x' }, /REDIS_URL must be redis:/],
    [{ REDIS_URL: 'redis://a,b' }, /REDIS_URL must name one server/],
    [{ REDIS_URL: 'redis://a', REDIS_TLS_CA_FILE: '/ca' }, /REDIS_TLS_CA_FILE is set, and REDIS_URL does not begin/],
    [{ REDIS_URL: 'redis://app@a' }, /REDIS_URL names a user and no password/],
  ];
  for (const [variables, words] of wrong)
    try {
      readEnv({ ...secrets, ...variables, ADMIN_EMAIL: 'nobody' });
      t.fail('must throw');
    } catch (error) {
      if (!(error instanceof EnvError)) throw error;
      t.match(error.message, words);
      t.equal(error.problems.length, 2, 'it once, and ADMIN_EMAIL');
    }
});
