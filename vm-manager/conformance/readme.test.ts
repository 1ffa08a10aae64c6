// The second part of the README, word for word in a shell against a whole installation: an import, the chain that it
// makes, the gate that refuses, the report, the virtual patch with its proof. What the comments promise is what comes.
import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { copyMigratedTemplate } from '#api/testing/database-templates';
import { callApi, freePorts, isUp, logIn, makeHome, root, startUp } from '#api/testing/processes/up';
import { writeRuleSet } from '#api/testing/rule-set';
import { makeDirectory } from '#api/testing/temporary';
import { testMsMax } from '#api/testing/waiting';

t.setTimeout(testMsMax);
const [first, second] = ['the-first-password-4-tests', 'correct-horse-battery-staple-9'];

/** The shell blocks below the heading, up to the next table. */
async function commands(): Promise<string> {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  const part = text.split('\n## Findings, chains, the gate\n')[1]?.split('\n| to | read |')[0] ?? '';
  return [...part.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block).join('\n');
}

t.test('14/7: the commands of the README do what it says', async (t) => {
  const script = await commands();
  t.ok(script.split('curl ').length > 5 && script.includes('/vpatches'), 'the commands were found');
  const home = await makeHome(t);
  const ports = await freePorts();
  const envFile = join(home, '.env');
  // the first start of an installation makes one, which is for the tests of `up` to see and takes some seconds
  await rename(await copyMigratedTemplate(t), join(home, 'data', 'db'));
  await writeFile(envFile, `GATEHOUSE_DATA=${join(home, 'data')}\nCRS_DIR=${await writeRuleSet(t)}\n`);
  const up = startUp(t, {
    ...ports,
    GATEHOUSE_ENV_FILE: envFile,
    WAF_BIND: '127.0.0.1',
    DATA_WORKERS: '1',
    ADMIN_INITIAL_PASSWORD: first,
  });
  await up.until(isUp);
  const token = (await logIn(ports.API_PORT, first)).body.token ?? '';
  const change = { current: first, new: second };
  const changed = await callApi(ports.API_PORT, 'POST', '/api/v1/auth/password/change', change, token);
  t.ok(changed.status < 300, JSON.stringify(changed.body));
  const session = (await logIn(ports.API_PORT, second)).body.token ?? '';
  const folder = await makeDirectory(t, 'readme');
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    S: session,
    URL: `http://127.0.0.1:${ports.API_PORT}`,
    WAF: `http://127.0.0.1:${ports.WAF_PORT}`,
  };
  const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
  const { stdout: said } = await promisify(execFile)('/bin/bash', ['-eu', '-o', 'pipefail', '-c', script], options);

  const order = [
    ['a report of one finding', /"created":1\b/],
    ['a report that brings another', /"created":1\b/],
    ['a danger chain', /"danger":true/],
    ['the gate refuses', /"verdict":"fail"/],
    ['with the exit code', /"exit_code":1/],
    ['and says so in JUnit', /<testsuites?[^>]*failures="[1-9]/],
    ['the attack passes', /^200$/m],
    ['what the patch would do', /"applied":false/],
    ['the patch is in force and proven', /"applied":true[^]*"state":"proven"|"state":"proven"[^]*"applied":true/],
    ['the attack is refused', /(?:^|\})403$/m],
    ['the harmless request passes', /^200$/m],
    ['the chain stands, and its hop is mitigated', /"mitigated":true/],
    ['CSAF says that there is a workaround', /workaround/],
    ['the patch is taken out', /"state":"disabled"/],
  ] as const;
  let rest = said;
  for (const [what, pattern] of order) {
    const at = rest.search(pattern);
    t.ok(at >= 0, `${what}: ${rest.slice(0, 600)}`);
    const [found = ''] = pattern.exec(rest) ?? [];
    rest = rest.slice(Math.max(at, 0) + (what === 'the gate refuses' ? 0 : found.length));
  }
  t.notMatch(said, /"detail":"/, 'nothing was refused');
  t.equal((await readFile(join(folder, 'chains.pdf'))).subarray(0, 5).toString(), '%PDF-', 'the report is a PDF');
});
