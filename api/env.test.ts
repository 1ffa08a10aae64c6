import t from 'tap';
import { completeEnvFile, EnvError, parseEnvFile, readEnv } from './env.js';

const secrets = { AUTH_SESSION_SECRET: 'a'.repeat(40), SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(40), DATA_ADMIN_TOKEN: 'c'.repeat(40) };

t.test('defaults of the specification', async (t) => {
  const env = readEnv(secrets);
  t.same(env.ports, { waf: 8080, ui: 3010, api: 8095, ja3: 8443 });
  t.equal(env.adminBind, '127.0.0.1');
  t.equal(env.databaseUrl, null);
  t.equal(env.redisPrefix, null);
  t.equal(env.acmeEmail, env.adminEmail);
});

t.test('every wrong variable is named in one error', async (t) => {
  try {
    readEnv({ ...secrets, AUTH_SESSION_SECRET: 'short', WAF_PORT: '99999', DATA_LISTENER: 'bun', DATABASE_URL: 'mysql://x', REDIS_PREFIX: 'a b', ADMIN_EMAIL: 'nobody' });
    t.fail('must throw');
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    for (const name of ['AUTH_SESSION_SECRET', 'WAF_PORT', 'DATA_LISTENER', 'DATABASE_URL', 'REDIS_PREFIX', 'ADMIN_EMAIL']) t.match(error.message, name);
    t.equal(error.problems.length, 6);
  }
});

t.test('missing secrets are refused, never invented at run time', async (t) => {
  t.throws(() => readEnv({}), /AUTH_SESSION_SECRET is missing/);
});

t.test('database parts make a URL only when a host is given', async (t) => {
  t.equal(readEnv({ ...secrets, POSTGRES_HOST: 'db', POSTGRES_PASSWORD: 'p@ss' }).databaseUrl, 'postgres://gatehouse:p%40ss@db:5432/gatehouse');
});

t.test('generated secrets are made once and kept', async (t) => {
  const first = completeEnvFile('# mine\nWAF_PORT=9000\nAUTH_SESSION_SECRET=\n');
  t.match(first.text, '# mine\nWAF_PORT=9000\n');
  t.ok(first.generated['AUTH_SESSION_SECRET']);
  t.equal(first.text.match(/^AUTH_SESSION_SECRET=/gm)?.length, 1);
  const second = completeEnvFile(first.text);
  t.equal(second.text, first.text);
  t.same(second.generated, {});
  t.equal(readEnv(parseEnvFile(first.text)).ports.waf, 9000);
});

t.test('a file is read line by line', async (t) => {
  t.same(parseEnvFile('A="b c"\nB=\'d\'\n#C=1\n D = e '), { A: 'b c', B: 'd', D: 'e' });
});
