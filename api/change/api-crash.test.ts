// kill -9 of the API during apply. Afterwards one whole version is active, and it is the one that serves.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { changes, generationOf, kill, rules, servedRound, word } from '../testing/crashes.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import { writeEnvFile } from '../testing/env-file.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { bareEnvironment, nobodyAsked, shareAutomata } from '../testing/temporary.js';
import { pause, testMsMax, until } from '../testing/waiting.js';
import { pruneArtifacts } from './artifacts.js';

t.setTimeout(testMsMax);

async function startApi(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../server.js', import.meta.url))], {
    cwd: directory,
    env: bareEnvironment(),
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('Control plane:')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the API ended with ${code}: ${output}`)));
  });
  return child;
}

t.test('the API is killed during apply', async (t) => {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const data = join(await copyMigratedTemplate(t), '..');
  await rename(join(data, 'd'), join(data, 'db'));
  await shareAutomata(data);
  const port = await freePort();
  const env = await writeEnvFile(data, [
    `API_PORT=${port}`,
    'DATA_DIR=.',
    'LOG_LEVEL=silent',
    'ADMIN_EMAIL=root@example.org',
    `DATA_ADMIN_TOKEN=${nodeToken}`,
    `DATA_ADMIN_URLS=${node.url}`,
    `CRS_DIR=${await writeRuleSet(t)}`,
    `UPSTREAM_CUSTOMER=${upstream}`,
    `UPSTREAM_PAYMENT=${upstream}`,
    nobodyAsked,
  ]);
  let api = await startApi(data);
  t.teardown(() => kill(api));
  const call = (method: string, path: string, token: string, body?: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const login = async (password: string): Promise<string> =>
    String(
      (
        (await (await call('POST', '/api/login', '', { email: 'root@example.org', password })).json()) as {
          token: string;
        }
      ).token,
    );
  const initial = env['ADMIN_INITIAL_PASSWORD'] ?? '';
  await call('POST', '/api/account/password', await login(initial), {
    current: initial,
    password: 'Quiet-river-stone-41',
  });
  let token = await login('Quiet-river-stone-41');
  await call('PATCH', '/api/settings', token, rules(0));
  t.equal((await call('POST', '/api/apply', token)).status, 200);

  const artifacts = (): number =>
    existsSync(join(data, 'artifacts')) ? readdirSync(join(data, 'artifacts')).length : 0;
  const moments: readonly [string, (applying: Promise<unknown>) => Promise<void>][] = [
    ['at once', async () => undefined],
    ['when the artifact is being written', (applying) => changes(artifacts, applying)],
    ['when the node has just committed', (applying) => changes(() => generationOf(node), applying)],
    ['a little later', () => pause(60)],
  ];
  let served = 0;
  const seen: string[] = [];
  for (const [round, [moment, come]] of moments.entries()) {
    await call('PATCH', '/api/settings', token, rules(round + 1));
    const applying = call('POST', '/api/apply', token).then(
      (reply) => reply.status,
      () => null,
    );
    await come(applying);
    await kill(api);
    const acknowledged = (await applying) === 200;
    api = await startApi(data);
    token = await login('Quiet-river-stone-41');
    let nodes: { items: { state: string; version: number }[]; active_version: number } = {
      items: [],
      active_version: 0,
    };
    await until('the node is active', async () => {
      nodes = (await (await call('GET', '/api/nodes', token)).json()) as typeof nodes;
      return nodes.items[0]?.state === 'active';
    });
    const now = await servedRound(node.http, [served, round + 1]);
    t.equal(now.length, 1, `killed ${moment}: one whole version serves`);
    if (acknowledged) t.same(now, [round + 1], 'what was acknowledged is not lost');
    const { settings } = (await (await call('GET', `/api/config/versions/${nodes.active_version}`, token)).json()) as {
      settings: { custom_rules: { value: string }[] };
    };
    t.equal(settings.custom_rules[0]?.value, word(now[0] ?? -1), 'and it is the active one');
    t.equal((await call('POST', '/api/apply', token)).status, 200, 'applying again works');
    t.same(await servedRound(node.http, [served, round + 1]), [round + 1]);
    seen.push(`${moment}: ${now[0] === served ? 'the old one' : 'the new one'}${acknowledged ? ', acknowledged' : ''}`);
    served = round + 1;
  }
  t.comment(seen.join('; '));
  // A disk that is slow to flush has every kill fall into the writing; what such a kill leaves goes when it is an hour
  // old.
  const leftovers = (): string[] => readdirSync(join(data, 'artifacts')).filter((name) => name.endsWith('.part'));
  t.ok(leftovers().length <= moments.length, 'a kill leaves at most the one file that was being written');
  const whole = artifacts() - leftovers().length;
  pruneArtifacts(join(data, 'artifacts'), whole, new Set(), Date.now() + 3_601_000);
  t.same([leftovers(), artifacts()], [[], whole], 'and pruning removes those, not the whole ones');
});
