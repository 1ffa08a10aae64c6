// How right the rules are about labelled traffic, alone and with the second opinion:
//   node build/bench/second-opinion/run.js [--paranoia 1] [--signs] [--missed] [--refused] [--cost]
// The corpus beside the project is divided by a hash of each request. Signs and the list of weak rules were drafted
// after looking at misses and false positives of both halves; weights were chosen by the tuning half alone. So neither
// half is held out for the signs: the report by source and the weights by fifths (folds.ts) say more. The CRS's own
// regression attacks come besides: every stage that is to match a rule and is blocked by the rules alone; signs were
// drafted while looking at them, too. --signs counts findings in attacks and in honest requests for each sign, --missed
// names the attacks that only the rules alone block, --refused the honest requests that are blocked, --cost measures
// nothing but what it costs.
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
import { foldsMax, judgedOf, reportFolds, type Judged } from './folds.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const corpora = resolve(root, process.env['GATEHOUSE_SHARED'] ?? '../shared', 'corpora');

interface Labelled {
  readonly id: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly half: 0 | 1;
  readonly fold: number;
  readonly source: string;
}

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

type Head = Pick<RequestHead, 'method' | 'uri' | 'headers'>;

function labelled(id: string, source: string, { method, uri, headers }: Head, body: Buffer | null): Labelled {
  const hash = createHash('sha256').update(`${method}\n${uri}\n${headers.join('\n')}\n\n`);
  const [first = 0, second = 0] = hash.update(body ?? '').digest();
  const peer = { clientIp: '203.0.113.7', clientPort: 40_000, serverIp: '192.0.2.80', serverPort: 80 };
  const head = { method, uri, protocol: 'HTTP/1.1', headers, ...peer };
  return { id, source, head, body, half: (first & 1) as 0 | 1, fold: second % foldsMax };
}

interface Row {
  readonly id: string;
  readonly source: string;
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
    const head = { method: row.method, uri: bytes(row.uri), headers: row.headers.flat().map(bytes) };
    return labelled(row.id, row.source, head, body);
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
      return [labelled(id, 'suite', { method, uri, headers }, body.length === 0 ? null : body)];
    }),
  );
}

function run(inspector: Inspector, { head, body }: Labelled, secondOpinion: OpinionMode | null): Verdict {
  const environment = { uniqueId: 'bench', nowMs: 1_800_000_000_000, store: createMemoryStore(), secondOpinion };
  const transaction = inspector.begin(head, environment);
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
  return inspector.finish(transaction);
}

/** Blocked by the rules alone, and with the second opinion. */
interface Numbers {
  all: number;
  alone: number;
  second: number;
}

interface Counted extends Numbers {
  readonly lost: string[];
  readonly refused: string[];
  readonly judged: Judged[];
  readonly sources: Map<string, Numbers>;
  readonly signs: Map<string, number>;
}

function count(inspector: Inspector, samples: readonly Labelled[], isAttack: boolean): Counted {
  const numbers = (): Numbers => ({ all: 0, alone: 0, second: 0 });
  const lists = { lost: [], refused: [], judged: [] };
  const counted: Counted = { ...numbers(), ...lists, sources: new Map(), signs: new Map() };
  for (const sample of samples) {
    const [alone, second] = [run(inspector, sample, null), run(inspector, sample, 'enforce')];
    const source = counted.sources.get(sample.source) ?? numbers();
    counted.sources.set(sample.source, source);
    for (const one of [counted, source]) {
      one.all += 1;
      if (alone.kind === 'block') one.alone += 1;
      if (second.kind === 'block') one.second += 1;
    }
    const ids = alone.matched.map(({ rule }) => rule.id).join();
    if (second.kind !== 'block' && alone.kind === 'block') counted.lost.push(`${sample.id}: ${ids}`);
    if (second.kind === 'block') counted.refused.push(`${sample.id}: ${ids} ${featuresText(second)}`);
    counted.judged.push(judgedOf(second, isAttack, sample.fold));
    const found = new Set((second.opinion?.features ?? []).flatMap(({ signs }) => signs));
    for (const name of found) counted.signs.set(name, (counted.signs.get(name) ?? 0) + 1);
  }
  return counted;
}

const featuresText = ({ opinion }: Verdict): string =>
  (opinion?.features ?? []).map(({ rule_id, signs }) => `${rule_id}[${signs.join()}]`).join(' ');

const share = (part: number, all: number): number => (100 * part) / all;

function report(title: string, attacks: Numbers, benign: Numbers): void {
  console.log(`${title}: ${attacks.all} attacks, ${benign.all} honest requests`);
  for (const [name, key] of [
    ['rules alone', 'alone'],
    ['with the second opinion', 'second'],
  ] as const) {
    const found = share(attacks[key], attacks.all);
    const passed = share(benign.all - benign[key], benign.all);
    const parts = [
      attacks.all === 0 ? '' : `found ${found.toFixed(2)} % (${attacks.all - attacks[key]} missed)`,
      benign.all === 0 ? '' : `let through ${passed.toFixed(2)} % (${benign[key]} refused)`,
      attacks.all * benign.all === 0 ? '' : `balanced ${((found + passed) / 2).toFixed(2)} %`,
    ];
    console.log(`  ${name.padEnd(24)} ${parts.filter((part) => part !== '').join(', ')}`);
  }
}

/** Each source of the corpus for itself: who collected it, and how, differs. */
function reportSources(attacks: readonly Counted[], honest: readonly Counted[]): void {
  const names = new Set([...attacks, ...honest].flatMap(({ sources }) => [...sources.keys()]));
  const sum = (counted: readonly Counted[], name: string): Numbers => {
    const found = counted.map(({ sources }) => sources.get(name) ?? { all: 0, alone: 0, second: 0 });
    const add = (key: keyof Numbers): number => found.reduce((total, one) => total + one[key], 0);
    return { all: add('all'), alone: add('alone'), second: add('second') };
  };
  for (const name of names) report(`source ${name}`, sum(attacks, name), sum(honest, name));
}

/** So many requests are measured at once; others on the machine disturb few of such stretches in every round. */
const stretch = 200;
const rounds = 8;

/** µs of CPU of each stretch of requests in the mean, the least of the rounds, without and with a second opinion. */
function costOf(inspector: Inspector, samples: readonly Labelled[]): readonly [off: number, on: number] {
  const sums: [number, number] = [0, 0];
  for (let from = 0; from < samples.length; from += stretch) {
    const some = samples.slice(from, from + stretch);
    const least: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 2 * rounds; round += 1) {
      const way = round % 2 === 0 ? 0 : 1;
      const before = process.cpuUsage();
      for (const sample of some) run(inspector, sample, way === 0 ? null : 'monitor');
      const { user, system } = process.cpuUsage(before);
      least[way] = Math.min(least[way], user + system);
    }
    sums[0] += least[0] / samples.length;
    sums[1] += least[1] / samples.length;
  }
  return sums;
}

function cost(inspector: Inspector, samples: readonly Labelled[]): void {
  const groups = new Map<string, Labelled[]>();
  for (const sample of samples) {
    const { kind, opinion = null } = run(inspector, sample, 'monitor');
    const isJudged = opinion !== null && opinion.features.length > 0;
    const whose = sample.id.startsWith('attack') ? 'attacks' : 'honest requests';
    const title = isJudged
      ? `${whose} with weak matches`
      : `${whose} without, ${kind === 'pass' ? 'let through' : 'blocked'}`;
    const group = groups.get(title) ?? [];
    groups.set(title, group);
    group.push(sample);
  }
  for (const [title, some] of groups) {
    const [off, on] = costOf(inspector, some);
    console.log(
      `CPU of ${some.length} ${title}: ${off.toFixed(1)} µs without a second opinion, ${on.toFixed(1)} µs with one, ` +
        `${(on - off).toFixed(1)} µs more`,
    );
  }
}

async function findRules(): Promise<Rules> {
  const module = (await import(join(root, 'build/cli/rule-set/install.js'))) as { installCrs: () => Promise<Rules> };
  return module.installCrs();
}

const options = {
  paranoia: { type: 'string', default: '1' },
  signs: { type: 'boolean', default: false },
  missed: { type: 'boolean', default: false },
  refused: { type: 'boolean', default: false },
  cost: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  const data = benchData(root, `second-opinion-pl${values.paranoia}`);
  const settings = { paranoia_level: Number(values.paranoia), second_opinion: 'enforce' };
  const { file } = await compileSettings(root, await findRules(), data, settings);
  const inspector = createCompiledInspector(loadRuleset(readFileSync(file), hyperscanLibrary()));
  const list = (lines: readonly string[]): void => lines.forEach((line) => console.log(`    ${line}`));
  const [attack, benign] = [trafficOf('attack'), trafficOf('benign')];
  if (values.cost) return cost(inspector, [...attack, ...benign]);
  const halves = ['tuning half', 'reported half'].map((title, half) => {
    const inHalf = (samples: readonly Labelled[]): Labelled[] => samples.filter((sample) => sample.half === half);
    const [attacks, honest] = [count(inspector, inHalf(attack), true), count(inspector, inHalf(benign), false)];
    report(title, attacks, honest);
    console.log(`  attacks that only the rules alone block: ${attacks.lost.length}`);
    if (values.missed) list(attacks.lost);
    if (values.refused) list(honest.refused);
    const found = ({ signs }: Counted, name: string): number => signs.get(name) ?? 0;
    if (values.signs)
      for (const { name, weight, means } of allSigns)
        console.log(
          `    ${name.padEnd(21)} ${weight}  attacks ${found(attacks, name)}, honest ${found(honest, name)}: ${means}`,
        );
    return { attacks, honest };
  });
  const [attacks, honest] = [halves.map((one) => one.attacks), halves.map((one) => one.honest)];
  reportSources(attacks, honest);
  reportFolds([...attacks, ...honest].flatMap(({ judged }) => judged));
  const suite = count(inspector, regressionOf(), true);
  console.log(
    `regression suite: ${suite.all} stages, ${suite.alone} blocked by the rules alone, ${suite.lost.length} of them ` +
      `let through (${share(suite.lost.length, Math.max(1, suite.alone)).toFixed(2)} %), ` +
      `${suite.second} blocked with it`,
  );
  if (values.missed) list(suite.lost);
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
