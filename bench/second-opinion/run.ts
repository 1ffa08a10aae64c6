// How right the rules are about labelled traffic, alone and with the second opinion:
//   node build/bench/second-opinion/run.js [--paranoia 1] [--signs] [--missed]
// The corpus beside the project is divided by a hash of each request: the tables of engine/second-opinion/ were chosen
// while looking at the tuning half only, and the other half is reported. The CRS's own regression attacks come besides:
// every stage that is to match a rule and is blocked by the rules alone. --signs counts findings in attacks and in
// honest requests for each sign, --missed names the attacks that only the rules alone block.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  allSigns,
  createCompiledInspector,
  createMemoryStore,
  hyperscanLibrary,
  loadRuleset,
  type Inspector,
  type OpinionMode,
  type RequestHead,
  type Verdict,
} from '#engine';
import { compileSettings } from '../artifacts.js';
import { HarnessProblem, stopEverything } from '../processes.js';
import { benchData, type Rules } from '../systems.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const corpora = resolve(root, process.env['GATEHOUSE_SHARED'] ?? '../shared', 'corpora');

interface Labelled {
  readonly id: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly half: 0 | 1;
}

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function labelled(id: string, method: string, uri: string, headers: readonly string[], body: Buffer | null): Labelled {
  const hash = createHash('sha256').update(`${method}\n${uri}\n${headers.join('\n')}\n\n`);
  const first = hash.update(body ?? '').digest()[0] ?? 0;
  const peer = { clientIp: '203.0.113.7', clientPort: 40_000, serverIp: '192.0.2.80', serverPort: 80 };
  return { id, head: { method, uri, protocol: 'HTTP/1.1', headers, ...peer }, body, half: (first & 1) as 0 | 1 };
}

interface Row {
  readonly id: string;
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | null;
  readonly body_b64?: string | null;
}

function rowsOf<T>(path: string): T[] {
  if (!existsSync(path)) throw new HarnessProblem(`${path} is not there: the corpora are no part of the project.`);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

function trafficOf(label: 'attack' | 'benign'): Labelled[] {
  return rowsOf<Row>(join(corpora, `traffic/${label}.jsonl`)).map((row) => {
    const text = typeof row.body === 'string' ? Buffer.from(row.body, 'utf8') : null;
    const body = typeof row.body_b64 === 'string' ? Buffer.from(row.body_b64, 'base64') : text;
    return labelled(row.id, row.method, bytes(row.uri), row.headers.flat().map(bytes), body);
  });
}

/** Stages of the regression suite that are to match a rule. */
function regressionOf(): Labelled[] {
  interface Stage {
    readonly wire_b64: string;
    readonly output?: { readonly log?: { readonly expect_ids?: readonly number[] } };
  }
  const cases = rowsOf<{ readonly id: string; readonly stages: readonly Stage[] }>(join(corpora, 'ftw/cases.jsonl'));
  return cases.flatMap(({ id, stages }) =>
    stages.flatMap(({ wire_b64, output }) => {
      const raw = Buffer.from(wire_b64, 'base64');
      const end = raw.indexOf('\r\n\r\n');
      if ((output?.log?.expect_ids ?? []).length === 0 || end < 0) return [];
      const [line = '', ...fields] = raw.toString('latin1', 0, end).split('\r\n');
      const [method = '', uri = ''] = line.split(' ');
      const headers = fields.flatMap((field) => {
        const colon = field.indexOf(':');
        return colon < 0 ? [] : [field.slice(0, colon), field.slice(colon + 1).trim()];
      });
      const body = raw.subarray(end + 4);
      return [labelled(id, method, uri, headers, body.length === 0 ? null : body)];
    }),
  );
}

function run(inspector: Inspector, { head, body }: Labelled, secondOpinion: OpinionMode | null): Verdict {
  const environment = { uniqueId: 'bench', nowMs: 1_800_000_000_000, store: createMemoryStore(), secondOpinion };
  const transaction = inspector.begin(head, environment);
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
  return inspector.finish(transaction);
}

interface Counted {
  all: number;
  alone: number;
  second: number;
  readonly lost: string[];
  readonly signs: Map<string, number>;
}

function count(inspector: Inspector, samples: readonly Labelled[]): Counted {
  const counted: Counted = { all: samples.length, alone: 0, second: 0, lost: [], signs: new Map() };
  for (const sample of samples) {
    const [alone, second] = [run(inspector, sample, null), run(inspector, sample, 'enforce')];
    if (alone.kind === 'block') counted.alone += 1;
    if (second.kind === 'block') counted.second += 1;
    else if (alone.kind === 'block')
      counted.lost.push(`${sample.id}: ${alone.matched.map(({ rule }) => rule.id).join()}`);
    const found = new Set((second.opinion?.features ?? []).flatMap(({ signs }) => signs));
    for (const name of found) counted.signs.set(name, (counted.signs.get(name) ?? 0) + 1);
  }
  return counted;
}

const share = (part: number, all: number): number => (100 * part) / all;

function report(title: string, attacks: Counted, benign: Counted): void {
  console.log(`${title}: ${attacks.all} attacks, ${benign.all} honest requests`);
  for (const [name, key] of [
    ['rules alone', 'alone'],
    ['with the second opinion', 'second'],
  ] as const) {
    const found = share(attacks[key], attacks.all);
    const passed = share(benign.all - benign[key], benign.all);
    console.log(
      `  ${name.padEnd(24)} found ${found.toFixed(2)} % (${attacks.all - attacks[key]} missed), let through ` +
        `${passed.toFixed(2)} % (${benign[key]} refused), balanced ${((found + passed) / 2).toFixed(2)} %`,
    );
  }
  console.log(`  attacks that only the rules alone block: ${attacks.lost.length}`);
}

/** µs for one request in the mean, of those in which rules note something; both ways in turns. */
function cost(inspector: Inspector, samples: readonly Labelled[]): void {
  const noted = samples.filter((sample) => run(inspector, sample, 'monitor').opinion !== null);
  const took = { off: [] as number[], on: [] as number[] };
  for (let round = 0; round < 5; round += 1)
    for (const [name, mode] of [
      ['off', null],
      ['on', 'monitor'],
    ] as const) {
      const before = process.cpuUsage();
      for (const sample of noted) run(inspector, sample, mode);
      const { user, system } = process.cpuUsage(before);
      took[name].push((user + system) / noted.length);
    }
  const [off, on] = [Math.min(...took.off), Math.min(...took.on)];
  console.log(
    `CPU of ${noted.length} requests that have an opinion: ${off.toFixed(1)} µs without, ${on.toFixed(1)} µs with it`,
  );
}

async function findRules(): Promise<Rules> {
  const module = (await import(join(root, 'build/cli/rule-set/install.js'))) as { installCrs: () => Promise<Rules> };
  return module.installCrs();
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      paranoia: { type: 'string', default: '1' },
      signs: { type: 'boolean', default: false },
      missed: { type: 'boolean', default: false },
    },
  });
  const data = benchData(root, `second-opinion-pl${values.paranoia}`);
  const settings = { paranoia_level: Number(values.paranoia), second_opinion: 'enforce' };
  const { file } = await compileSettings(root, await findRules(), data, settings);
  const inspector = createCompiledInspector(loadRuleset(readFileSync(file), hyperscanLibrary()));
  const [attack, benign] = [trafficOf('attack'), trafficOf('benign')];
  for (const [half, title] of ['tuning half', 'reported half'].entries()) {
    const inHalf = (samples: readonly Labelled[]): Labelled[] => samples.filter((sample) => sample.half === half);
    const [attacks, honest] = [count(inspector, inHalf(attack)), count(inspector, inHalf(benign))];
    report(title, attacks, honest);
    if (values.missed) for (const one of attacks.lost) console.log(`    ${one}`);
    if (!values.signs) continue;
    for (const { name, weight, means } of allSigns)
      console.log(
        `    ${name.padEnd(20)} ${weight}  attacks ${attacks.signs.get(name) ?? 0}, honest ` +
          `${honest.signs.get(name) ?? 0}: ${means}`,
      );
  }
  const suite = count(inspector, regressionOf());
  console.log(
    `regression suite: ${suite.all} stages, ${suite.alone} blocked by the rules alone, ${suite.lost.length} of them ` +
      `let through (${share(suite.lost.length, Math.max(1, suite.alone)).toFixed(2)} %), ` +
      `${suite.second} blocked with it`,
  );
  if (values.missed) for (const one of suite.lost) console.log(`    ${one}`);
  cost(inspector, [...attack, ...benign]);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof HarnessProblem)) throw error;
  console.error(error.message);
  process.exitCode = 2;
} finally {
  stopEverything();
}
