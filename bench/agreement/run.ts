// Whether Gatehouse and ModSecurity (Debian's, in nginx) decide the same about labelled requests, with the same rules
// at the same level and without match scoring:
//   node build/bench/agreement/run.js [--paranoia 1] [--look]
// Each request goes to both over a connection of its own, as its bytes. Gatehouse has the media types of the CRS here,
// not its own longer list. What is counted: refused (4xx) or not, for honest requests and attacks, for each half of the
// corpus (fixtures/traffic/groups.ts); --look names where they differ on half A. Half B is only counted. It ends with 1
// where the share of honest requests of half B is below the bar.
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HarnessProblem, stopEverything } from '../processes.js';
import { trafficOf, type Labelled } from '../second-opinion/corpus.js';
import { benchData, hasModSecurity, startBackend, startGatehouse, startModSecurity, type Rules } from '../systems.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
/** Of honest requests of half B, in percent. */
const agreementMin = 99.8;
const parallel = 16;
const answerMsMax = 20_000;

/** As a client sends it: the head as it is labelled, a length where it has none, and one request a connection. */
function wireOf({ head, body }: Labelled): Buffer {
  const lines = [`${head.method} ${head.uri} HTTP/1.1`];
  let hasHost = false;
  for (let index = 0; index + 1 < head.headers.length; index += 2) {
    const [name = '', value = ''] = [head.headers[index], head.headers[index + 1]];
    const lower = name.toLowerCase();
    if (lower === 'content-length' || lower === 'transfer-encoding' || lower === 'connection') continue;
    if (lower === 'host') hasHost = true;
    lines.push(`${name}: ${value}`);
  }
  if (!hasHost) lines.push('Host: shop.example.com');
  if (body !== null) lines.push(`Content-Length: ${body.length}`);
  lines.push('Connection: close', '', '');
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? Buffer.alloc(0)]);
}

/** Status of the answer; 0: the connection ended without one. */
function statusOf(port: number, wire: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let seen = '';
    const end = (): void => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.[01] (\d{3})/.exec(seen)?.[1] ?? 0));
    };
    socket.setTimeout(answerMsMax, end);
    socket.once('connect', () => socket.write(wire));
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      if (seen.length > 12) end();
    });
    socket.once('close', end);
    socket.once('error', end);
  });
}

async function statusesOf(port: number, wires: readonly Buffer[]): Promise<number[]> {
  const statuses = new Array<number>(wires.length).fill(0);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < wires.length; index = next++)
      statuses[index] = await statusOf(port, wires[index] as Buffer);
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return statuses;
}

/** The list that the CRS has where a site sets none (rule 901162). */
function mediaTypesOf(rules: Rules): string[] {
  const file = readdirSync(join(rules.directory, 'rules')).find((name) => name.includes('901-INITIALIZATION'));
  const text = file === undefined ? '' : readFileSync(join(rules.directory, 'rules', file), 'latin1');
  const [, list = ''] = /setvar:'tx\.allowed_request_content_type=([^']+)'/.exec(text) ?? [];
  const types = list.split('|').map((type) => type.trim());
  return types.filter((type) => type !== '');
}

interface Pair {
  readonly request: Labelled;
  readonly ours: number;
  readonly theirs: number;
}

/** By a rule, or as a request that no server should take (400, 405, 413 and the like): it does not reach the site. */
const isRefused = (status: number): boolean => status >= 400;

/** Its text is read as GraphQL here and as an argument like any other there, a difference that is meant. */
const isGraphql = ({ body }: Labelled): boolean => body?.subarray(0, 65_536).includes('"query"') ?? false;

/** One line for each half and label; the share of honest requests of half B, GraphQL counted as alike, in percent. */
function report(pairs: readonly Pair[], mayLook: boolean): number {
  let held = 100;
  for (const half of [0, 1])
    for (const isAttack of [false, true]) {
      const some = pairs.filter(({ request }) => request.half === half && request.isAttack === isAttack);
      const differ = some.filter(({ ours, theirs }) => isRefused(ours) !== isRefused(theirs));
      const only = differ.filter(({ ours }) => isRefused(ours)).length;
      const graphql = differ.filter(({ ours, request }) => !isRefused(ours) && isGraphql(request)).length;
      const share = (100 * (some.length - differ.length)) / Math.max(1, some.length);
      const label = isAttack ? 'attacks' : 'honest requests';
      console.log(
        `half ${half === 0 ? 'A' : 'B'}, ${some.length} ${label}: ${share.toFixed(2)} % alike; ` +
          `${only} refused by Gatehouse alone, ${differ.length - only} by ModSecurity alone (${graphql} GraphQL)`,
      );
      if (half === 1 && !isAttack) held = (100 * (some.length - differ.length + graphql)) / Math.max(1, some.length);
      if (mayLook && half === 0)
        for (const { request, ours, theirs } of differ) console.log(`  ${request.id}: ${ours} here, ${theirs} there`);
    }
  return held;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { paranoia: { type: 'string', default: '1' }, look: { type: 'boolean', default: false } },
  });
  if (!hasModSecurity())
    throw new HarnessProblem('ModSecurity is not installed; on Debian: apt-get install libnginx-mod-http-modsecurity');
  const paranoia = Number(values.paranoia);
  if (![1, 2, 3, 4].includes(paranoia)) throw new HarnessProblem(`--paranoia ${values.paranoia}: say 1, 2, 3 or 4.`);
  const module = (await import(join(root, 'build/cli/rule-set/install.js'))) as { installCrs: () => Promise<Rules> };
  const rules = await module.installCrs();
  const traffic = trafficOf();
  const wires = traffic.map(wireOf);
  const backend = await startBackend(root);
  const theirs = await startModSecurity(backend.port, paranoia, rules);
  const ours = await startGatehouse({
    root,
    backendPort: backend.port,
    paranoia,
    workers: 1,
    rules,
    listener: 'net',
    settings: { second_opinion: 'off', allowed_content_types: mediaTypesOf(rules) },
    env: { GATEHOUSE_DATA: benchData(root, 'agreement') },
  });
  try {
    const there = await statusesOf(theirs.port, wires);
    const here = await statusesOf(ours.port, wires);
    const pairs = traffic.map((request, at): Pair => ({ request, ours: here[at] ?? 0, theirs: there[at] ?? 0 }));
    const unanswered = pairs.filter((pair) => pair.ours === 0 || pair.theirs === 0).length;
    if (unanswered > 0)
      console.log(`${unanswered} requests got no answer from one of them; they count as let through.`);
    const held = report(pairs, values.look);
    const isHeld = held >= agreementMin;
    console.log(
      `bar: ${agreementMin} % of honest requests of half B alike, GraphQL besides: ${held.toFixed(2)} %, ` +
        (isHeld ? 'held' : 'MISSED'),
    );
    return isHeld;
  } finally {
    for (const system of [ours, theirs, backend]) await system.stop();
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  stopEverything();
  console.error(error instanceof HarnessProblem ? error.message : error);
  process.exitCode = 2;
}
