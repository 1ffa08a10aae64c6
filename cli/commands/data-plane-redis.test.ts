// 26.3: `gatehouse data-plane` refuses a Redis that cannot be one before anything begins, and says how to write it; a
// certificate that is missing today keeps nobody from being protected.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { root } from '../environment/directories.js';

t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** Until it ends, or says something that `isEnough` holds for. */
function run(data: string, variables: Readonly<Record<string, string>>, isEnough: RegExp): Promise<Ended> {
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', GATEHOUSE_ENV_FILE: '/dev/null', GATEHOUSE_DATA: data },
    ...{ WAF_PORT: '1', WAF_BIND: '127.0.0.1', TLS_EDGE: 'off', ...variables },
  };
  const child = spawn(process.execPath, [join(root, 'bin/gatehouse'), 'data-plane'], { env, stdio: 'pipe' });
  let text = '';
  const hear = (chunk: Buffer): void => {
    text += chunk.toString();
    if (isEnough.test(text)) child.kill('SIGKILL');
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}

t.test('26.3: what cannot be a Redis is refused', async (t) => {
  const data = t.testdir({});
  const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ REDIS_URL: 'http://cache' }, /REDIS_URL must be redis:\/\/user:password@host/],
    [{ REDIS_URL: 'redis+sentinel://a,b' }, /REDIS_URL must end with the name under which the sentinels/],
    [{ REDIS_URL: 'redis://app@a' }, /REDIS_URL names a user and no password; set REDIS_PASSWORD/],
    [{ REDIS_URL: 'redis://a', REDIS_TLS_CA_FILE: '/ca' }, /REDIS_TLS_CA_FILE is set.* write rediss/],
  ];
  for (const [variables, words] of cases) {
    const { code, text } = await run(data, variables, /$^/);
    t.equal(code, 1, JSON.stringify(variables));
    t.match(text, words);
    t.notMatch(text, /\n\s+at /, 'no stack');
  }
});

t.test('26.3: a certificate that is missing is told, and the start goes on', async (t) => {
  const variables = { REDIS_URL: 'rediss://127.0.0.1:1', REDIS_TLS_CA_FILE: 'no/such.pem' };
  const { text } = await run(t.testdir({}), variables, /Limits are not shared until then/);
  t.match(text, new RegExp(`REDIS_TLS_CA_FILE=${join(root, 'no/such.pem')} cannot be read \\(ENOENT\\)`));
});
