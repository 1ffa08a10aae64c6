// What a request costs in two checkouts, or with two listeners: that the road became slower by a little with each
// change was noticed only when it had become a lot.
//   node build/bench/road-cost/run.js --checkout before=DIRECTORY --checkout now=.
// starts one data plane for each, built as it stands there, and loads them in turns with the mix, or with the corpus
// perf-mix by --traffic perf-mix. The machine is
// another one from minute to minute (its neighbours, its clock), so that only figures of one round are compared: what
// is printed is the median over rounds of "this plane's CPU time per request / the first plane's in the same round".
// --set NAME:KEY=VALUE gives one of them another setting (the same directory may be named twice, to learn what a
// setting costs: --checkout off=. --checkout on=. --set on:second_opinion=enforce).
// With --gate PERCENT a plane whose share is beyond 100 + PERCENT ends it with exit code 1. --profile DIRECTORY writes
// a CPU profile of each thread there, which costs some of the time that it measures.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { measureLoad, warmUp, type LoadOptions } from '../load.js';
import { HarnessProblem, stopEverything, temporaryDirectory } from '../processes.js';
import { quantile, summarize } from '../statistics.js';
import { benchData, startBackend, startGatehouse, type Rules, type System } from '../systems.js';
import { encodeTemplates, loadPerfMix, mix, type Template } from '../traffic.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const connections = 32;

interface Checkout {
  readonly name: string;
  readonly directory: string;
  readonly listener: 'net' | 'uws' | 'node';
}

interface Measured {
  readonly checkout: Checkout;
  /** CPU time in µs per request, by round. */
  readonly us: number[];
  non2xxShare: number;
}

/** `now=../x` or `now=../x,net`. */
function parseCheckout(text: string): Checkout {
  const found = /^([\w.-]+)=([^,]+)(?:,(net|uws|node))?$/.exec(text);
  if (found === null)
    throw new HarnessProblem(
      `--checkout ${text}: say NAME=DIRECTORY or NAME=DIRECTORY,LISTENER, with net, uws or node for the listener.`,
    );
  const [, name = '', directory = '', listener = 'net'] = found;
  return { name, directory: resolve(directory), listener: listener as Checkout['listener'] };
}

/** A whole number above `min`, or a complaint that names the flag. */
function numberOf(flag: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min)
    throw new HarnessProblem(`--${flag} ${text}: a whole number of at least ${min} is needed.`);
  return value;
}

const noText: string[] = [];
const flags = {
  checkout: { type: 'string', multiple: true, default: noText },
  set: { type: 'string', multiple: true, default: noText },
  rounds: { type: 'string', default: '12' },
  seconds: { type: 'string', default: '2' },
  paranoia: { type: 'string', default: '1' },
  traffic: { type: 'string', default: 'mix' },
  unprotected: { type: 'boolean', default: false },
  gate: { type: 'string' },
  profile: { type: 'string' },
} satisfies NonNullable<ParseArgsConfig['options']>;

/** What no flag is, and a flag without its value, are told like every other wrong one. */
function readFlags() {
  try {
    return parseArgs({ options: flags }).values;
  } catch (error) {
    throw new HarnessProblem(
      `${error instanceof Error ? error.message : String(error)}; there are: --${Object.keys(flags).join(', --')}.`,
    );
  }
}

/** The requests that `--traffic` names; the corpus lies beside the project and may be absent. */
function trafficOf(name: string): readonly Template[] {
  if (name === 'mix') return mix;
  if (name !== 'perf-mix') throw new HarnessProblem(`--traffic ${name}: say mix or perf-mix.`);
  const perfMix = loadPerfMix(root);
  if (perfMix === null)
    throw new HarnessProblem('--traffic perf-mix: the corpus is not there; GATEHOUSE_SHARED names the folder with it.');
  return perfMix;
}

function readOptions() {
  const values = readFlags();
  const checkouts = values.checkout.map(parseCheckout);
  if (checkouts.length < 2)
    throw new HarnessProblem('Two are compared: --checkout before=DIRECTORY --checkout now=. (each built there).');
  if (new Set(checkouts.map(({ name }) => name)).size < checkouts.length)
    throw new HarnessProblem('Each --checkout needs a name of its own.');
  return {
    checkouts,
    settings: settingsOf(values.set, checkouts),
    rounds: numberOf('rounds', values.rounds, 3),
    seconds: numberOf('seconds', values.seconds, 1),
    paranoia: numberOf('paranoia', values.paranoia, 1),
    traffic: trafficOf(values.traffic),
    isProtected: !values.unprotected,
    gatePercent: values.gate === undefined ? null : numberOf('gate', values.gate, 1),
    profile: values.profile === undefined ? null : resolve(values.profile),
  };
}

type Options = ReturnType<typeof readOptions>;

/** By name of a checkout, the settings that `--set` gives it. */
function settingsOf(texts: readonly string[], checkouts: readonly Checkout[]): Record<string, object> {
  const settings: Record<string, Record<string, unknown>> = {};
  for (const text of texts) {
    const [, name = '', key = '', value = ''] = /^([\w.-]+):(\w+)=(.*)$/.exec(text) ?? [];
    if (!checkouts.some((checkout) => checkout.name === name))
      throw new HarnessProblem(`--set ${text}: say NAME:KEY=VALUE, with the name of one of the checkouts.`);
    (settings[name] ??= {})[key] = /^[[{"\d]|^(?:true|false|null)$/.test(value) ? JSON.parse(value) : value;
  }
  return settings;
}

/** Those of this checkout, for all: the rules are not what is compared. */
async function findRules(): Promise<Rules> {
  const module = (await import(join(root, 'build/cli/rule-set/install.js'))) as { installCrs: () => Promise<Rules> };
  return module.installCrs();
}

function startPlane(options: Options, checkout: Checkout, backendPort: number, rules: Rules): Promise<System> {
  const { name, directory, listener } = checkout;
  const env = { GATEHOUSE_DATA: benchData(root, `road-cost-${name}`) };
  let nodeFlags: string[] = [];
  if (options.profile !== null) {
    const target = join(options.profile, name);
    mkdirSync(target, { recursive: true });
    nodeFlags = ['--cpu-prof', `--cpu-prof-dir=${target}`]; // NODE_OPTIONS may not have them
  }
  return startGatehouse({
    root: directory,
    backendPort,
    paranoia: options.paranoia,
    workers: 1,
    rules,
    listener,
    isProtected: options.isProtected,
    settings: options.settings[name] ?? {},
    env,
    nodeFlags,
  });
}

/** Every other round the other way round, so that whoever comes second is not always the same. */
async function measure(options: Options, systems: readonly System[], templates: string): Promise<Measured[]> {
  const loads = systems.map(
    ({ port, pid }): LoadOptions => ({
      port,
      pid,
      seconds: options.seconds,
      connections,
      script: join(root, 'bench/fresh.lua'),
      templates,
    }),
  );
  for (const load of loads) await warmUp(load, Math.max(5, options.seconds));
  const measured = options.checkouts.map((checkout): Measured => ({ checkout, us: [], non2xxShare: 0 }));
  const order = [...loads.keys()];
  for (let round = 0; round < options.rounds; round += 1) {
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const result = await measureLoad(loads[index] as LoadOptions);
      const one = measured[index] as Measured;
      one.us.push(result.cpuUsPerRequest);
      one.non2xxShare = Math.max(one.non2xxShare, result.non2xxShare);
    }
    process.stderr.write(`round ${round + 1} of ${options.rounds}\n`);
  }
  return measured;
}

/** Prints the table; whether every plane keeps within the gate. */
function report(measured: readonly Measured[], gatePercent: number | null): boolean {
  const first = measured[0] as Measured;
  let isKept = true;
  console.log(
    'plane, listener: CPU µs per request (least, lower quartile, median); share of the first, round by round',
  );
  for (const { checkout, us, non2xxShare } of measured) {
    const shares = us.map((value, round) => (100 * value) / (first.us[round] as number));
    const share = summarize(shares).median;
    const isBeyond = gatePercent !== null && share > 100 + gatePercent;
    if (isBeyond) isKept = false;
    const figures = [quantile(us, 0), quantile(us, 0.25), summarize(us).median].map((value) => value.toFixed(1));
    const range = `${quantile(shares, 0.25).toFixed(0)} to ${quantile(shares, 0.75).toFixed(0)}`;
    const faults = non2xxShare > 0 ? `; ${(non2xxShare * 100).toFixed(1)} % not 2xx, which costs less` : '';
    console.log(
      `${checkout.name}, ${checkout.listener}: ${figures.join(', ')}; ${share.toFixed(0)} % (half of them ${range})` +
        `${isBeyond ? `: BEYOND the gate of ${gatePercent} %` : ''}${faults}`,
    );
  }
  return isKept;
}

async function main(): Promise<boolean> {
  const options = readOptions();
  const home = temporaryDirectory('road-cost');
  const stops: (() => Promise<void>)[] = [];
  try {
    const rules = await findRules();
    const backend = await startBackend(root);
    stops.push(backend.stop);
    const systems: System[] = [];
    for (const checkout of options.checkouts) {
      const system = await startPlane(options, checkout, backend.port, rules);
      stops.push(system.stop);
      systems.push(system);
    }
    const templates = join(home.path, 'mix');
    writeFileSync(templates, encodeTemplates(options.traffic));
    return report(await measure(options, systems, templates), options.gatePercent);
  } finally {
    for (const stop of stops.reverse()) await stop();
    home.remove();
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopEverything();
    process.exit(130);
  });
try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  stopEverything();
  console.error(error instanceof HarnessProblem ? error.message : error);
  process.exitCode = 2;
}
