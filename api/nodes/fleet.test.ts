// Several nodes against one change, with nodes that refuse, fall silent, or do not see our disk.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { resolveProxyConfig, type GenerationRequest } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { onBothDatabases } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax } from '../testing/waiting.js';
import { createFleet, nextGeneration, type Target } from './fleet.js';
import { createNodeClient } from './node-client.js';
import { listNodes } from './node-store.js';

const token = 'the-token-of-the-nodes';

interface FakeNode {
  readonly url: string;
  generation: number;
  ruleset: string;
  readonly received: GenerationRequest[];
  /** What happens to the next PUT. */
  behaviour: 'take' | 'refuse' | 'take and fall silent' | 'fall silent' | 'see no disk' | 'fail';
}

async function startFake(t: Test): Promise<FakeNode> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const node: FakeNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    generation: 1,
    ruleset: '',
    received: [],
    behaviour: 'take',
  };
  const reply = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.headers.authorization !== `Bearer ${token}`) return reply(response, 401, {});
    if (request.method === 'GET')
      return reply(response, 200, { generation: node.generation, ruleset: node.ruleset, workers: [{}, {}] });
    const wanted = JSON.parse(Buffer.concat(chunks).toString('utf8')) as GenerationRequest;
    node.received.push(wanted);
    if (node.behaviour === 'refuse')
      return reply(response, 422, {
        outcome: 'refused',
        id: wanted.id,
        reason: 'self-test: nothing was seen',
        problems: [],
      });
    if (node.behaviour === 'see no disk' && wanted.artifactBase64 === undefined)
      return reply(response, 422, { outcome: 'refused', id: wanted.id, reason: 'ENOENT: no such file', problems: [] });
    if (node.behaviour === 'fail') return reply(response, 500, { detail: 'a bug' });
    if (node.behaviour !== 'fall silent') [node.generation, node.ruleset] = [wanted.id, wanted.sha256];
    if (node.behaviour.includes('silent')) return void request.socket.destroy();
    reply(response, 200, {
      outcome: 'active',
      id: wanted.id,
      sha256: wanted.sha256,
      workers: 2,
      isPersisted: true,
      tookMs: 5,
    });
  }
  return node;
}

async function suite(t: Test, database: Database): Promise<void> {
  const directory = await makeDirectory(t, 'fleet');
  const nodes = [await startFake(t), await startFake(t), await startFake(t)] as const;
  const [one, two, three] = nodes;
  const away = 'http://127.0.0.1:1';
  const make = (urls: readonly string[]) =>
    createFleet({
      urls,
      client: createNodeClient({ token, statusTimeoutMs: testMsMax }),
      database,
      now: () => Date.parse('2026-05-01T00:00:00Z'),
      pause: async () => undefined,
    });
  const { config } = resolveProxyConfig({}, { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' });
  if (config === null) throw new Error('no configuration');
  const target = async (versionId: number, bytes: Buffer): Promise<Target> => {
    const artifactFile = join(directory, String(versionId));
    await writeFile(artifactFile, bytes);
    return {
      versionId,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      artifactFile,
      config,
      selfTest: 'inspect',
    };
  };
  const [old, next] = [await target(1, Buffer.from('the old rules')), await target(2, Buffer.from('the new rules'))];
  const fleet = make([one.url, two.url, three.url]);
  const reset = async (): Promise<void> => {
    for (const node of nodes) node.behaviour = 'take';
    const answers = await fleet.ask();
    t.match(await fleet.activate(old, nextGeneration(1, answers), answers, null), { kind: 'active' });
    for (const node of nodes) node.received.length = 0;
  };

  await reset();
  t.same(
    nodes.map(({ generation }) => generation),
    [2, 2, 2],
  );
  one.generation = 40;
  t.equal(nextGeneration(3, await fleet.ask()), 41, 'larger than what any node has');
  t.equal(nextGeneration(99, await fleet.ask()), 99);

  await reset();
  two.behaviour = 'refuse';
  let answers = await fleet.ask();
  const refused = await fleet.activate(next, nextGeneration(1, answers), answers, old);
  t.match(refused, { kind: 'failed', reason: /nothing was seen/ });
  t.same(
    nodes.map(({ ruleset }) => ruleset),
    [old.sha256, old.sha256, old.sha256],
    'who took it has gone back',
  );
  t.match(
    (await listNodes(database.sql)).map((row) => row.served_version),
    [1, 1, 1],
  );

  await reset();
  one.behaviour = 'refuse';
  answers = await fleet.ask();
  t.match(await fleet.activate(next, nextGeneration(1, answers), answers, old), { kind: 'failed' });
  t.same([two.received.length, three.received.length], [0, 0], 'when the first refuses, no other is touched');

  await reset();
  two.behaviour = 'take and fall silent';
  answers = await fleet.ask();
  t.match(
    await fleet.activate(next, nextGeneration(1, answers), answers, old),
    { kind: 'active', nodes: [{ state: 'active' }, { state: 'active' }, { state: 'active' }] },
    'who fell silent is asked what it serves',
  );

  await reset();
  three.behaviour = 'fall silent';
  answers = await fleet.ask();
  t.match(await fleet.activate(next, nextGeneration(1, answers), answers, old), {
    kind: 'failed',
    reason: /did not take/,
  });
  t.same(
    nodes.map(({ ruleset }) => ruleset),
    [old.sha256, old.sha256, old.sha256],
  );

  await reset();
  one.behaviour = 'fail';
  answers = await fleet.ask();
  t.match(
    await fleet.activate(next, nextGeneration(1, answers), answers, old),
    { kind: 'failed' },
    'a bug there is no yes',
  );

  await reset();
  for (const size of [0, 1, 2, 3, 786_431, 786_432, 2_000_001]) {
    two.behaviour = 'see no disk';
    const large = await target(3, Buffer.alloc(size, 'abcdefg'));
    answers = await fleet.ask();
    t.match(await fleet.activate(large, nextGeneration(1, answers), answers, old), { kind: 'active' });
    t.equal(
      createHash('sha256')
        .update(Buffer.from(two.received.at(-1)?.artifactBase64 ?? '-', 'base64'))
        .digest('hex'),
      large.sha256,
      `${size} bytes over the wire`,
    );
    t.equal(two.received.at(-1)?.artifactPath, '');
  }
  t.equal(one.received.at(-1)?.artifactBase64, undefined, 'who sees our disk gets the path');

  const partly = make([one.url, away]);
  answers = await partly.ask();
  t.match(answers.get(away), { kind: 'unreachable', detail: 'ECONNREFUSED' });
  t.match(await partly.activate(next, nextGeneration(1, answers), answers, old), {
    kind: 'active',
    nodes: [{ state: 'active' }, { url: away, state: 'unreachable', detail: /up to date when it is back/ }],
  });
  const none = make([away]);
  answers = await none.ask();
  t.match(await none.activate(next, 1, answers, old), { kind: 'failed', reason: 'no data-plane node answers' });

  const stranger = createFleet({
    urls: [one.url],
    client: createNodeClient({ token: 'wrong', statusTimeoutMs: testMsMax }),
    database,
    now: () => 0,
    pause: async () => undefined,
  });
  t.match((await stranger.ask()).get(one.url), { kind: 'unreachable', detail: /does not accept our token/ });
}

t.test('the fleet', (t) => onBothDatabases(t, 'the fleet', suite));
