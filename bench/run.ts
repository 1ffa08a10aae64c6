// `node build/bench/run.js [--short] [--case NAME]… [--repetitions N] [--seconds N] [--minutes N] [--paranoia 1,4]
// [--workers 1,2] [--listener auto|uws|node] [--out FILE]`; BENCH_PEERS=1 adds nginx and nginx + ModSecurity. README.md
// has the rest.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { apiReadsCase } from './cases/api-reads.js';
import { applyCase } from './cases/apply.js';
import { chainsCase } from './cases/chains.js';
import { compileCase } from './cases/compile.js';
import { denyListCase } from './cases/deny-list.js';
import { discoveryCase } from './cases/apis/discovery.js';
import { gatesCase } from './cases/gates.js';
import { hostileCase } from './cases/hostile.js';
import { ingestCase } from './cases/apis/ingest.js';
import { inspectionCase, transformationsCase } from './cases/inspection.js';
import { memoryCase } from './cases/memory.js';
import { proxyCase } from './cases/proxy.js';
import { recordsCase } from './records/records.js';
import { reloadCase } from './cases/reload.js';
import { schemaCase } from './cases/schema.js';
import { siemOutageCase } from './records/siem-outage.js';
import { vmChainsCase } from './cases/vm/chains.js';
import { vmImportCase } from './cases/vm/import.js';
import { vmPreviewCase } from './cases/vm/preview.js';
import { vmListCase } from './cases/vm/list.js';
import { vmSastCase } from './cases/vm/sast.js';
import { vmRealToolsCase } from './cases/vm/real-tools.js';
import { toSvg } from './chart.js';
import type { BenchContext, BenchOptions } from './context.js';
import { edgeCountersCase } from './edge/counters.js';
import { edgeFloodCase } from './edge/flood.js';
import { edgeRapidResetCase } from './edge/rapid-reset.js';
import { edgeRedisCase } from './edge/redis-away.js';
import { edgeSlowCase } from './edge/slow-clients.js';
import { HarnessProblem, machine, stopEverything } from './processes.js';
import { toMarkdown } from './report.js';
import { Recorder, type Results } from './results.js';
import { summarize } from './statistics.js';
import type { Rules } from './systems.js';
import { loadPerfMix, mix, type Template } from './traffic.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const cases: Readonly<Record<string, (context: BenchContext) => void | Promise<void>>> = {
  proxy: proxyCase,
  inspection: inspectionCase,
  transformations: transformationsCase,
  compile: compileCase,
  reload: reloadCase,
  apply: applyCase,
  gates: gatesCase,
  schema: schemaCase,
  hostile: hostileCase,
  memory: memoryCase,
  'deny-list': denyListCase,
  records: recordsCase,
  'siem-outage': siemOutageCase,
  ingest: ingestCase,
  discovery: discoveryCase,
  'api-reads': apiReadsCase,
  chains: chainsCase,
  'vm-chains': vmChainsCase,
  'vm-list': vmListCase,
  'vm-sast': vmSastCase,
  'vm-import': vmImportCase,
  'vm-preview': vmPreviewCase,
  'vm-real-tools': vmRealToolsCase,
  'edge-flood': edgeFloodCase,
  'edge-slow': edgeSlowCase,
  'edge-rapid-reset': edgeRapidResetCase,
  'edge-redis': edgeRedisCase,
  'edge-counters': edgeCountersCase,
};

function numbers(text: string, name: string): number[] {
  const list = text.split(',').map(Number);
  if (list.some((number) => !Number.isInteger(number) || number < 1))
    throw new HarnessProblem(`--${name} ${text}: write whole numbers with commas, such as 1,4`);
  return list;
}

function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      short: { type: 'boolean', default: false },
      case: { type: 'string', multiple: true, default: [] },
      repetitions: { type: 'string' },
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      paranoia: { type: 'string' },
      workers: { type: 'string' },
      listener: { type: 'string', default: 'auto' },
      out: { type: 'string', default: 'bench/results/latest.json' },
    },
  });
  const { short } = values;
  const unknown = values.case.filter((name) => !(name in cases));
  if (unknown.length > 0)
    throw new HarnessProblem(`there is no case ${unknown.join(', ')}; cases are ${Object.keys(cases).join(', ')}`);
  if (!['auto', 'net', 'uws', 'node'].includes(values.listener))
    throw new HarnessProblem(`--listener ${values.listener}: choose auto, uws or node`);
  const all = availableParallelism();
  return {
    short,
    cases: values.case.length > 0 ? values.case : Object.keys(cases),
    peers: process.env['BENCH_PEERS'] === '1',
    paranoia: numbers(values.paranoia ?? (short ? '1' : '1,4'), 'paranoia'),
    workers: numbers(values.workers ?? (short || all === 1 ? '1' : `1,${all}`), 'workers'),
    repetitions: numbers(values.repetitions ?? (short ? '2' : '5'), 'repetitions')[0] as number,
    seconds: numbers(values.seconds ?? (short ? '2' : '6'), 'seconds')[0] as number,
    minutes: numbers(values.minutes ?? (short ? '1' : '10'), 'minutes')[0] as number,
    warmUpSeconds: short ? 2 : 8,
    listener: values.listener as BenchOptions['listener'],
    out: resolve(root, values.out),
  };
}

async function findRules(): Promise<Rules> {
  const { installCrs } = (await import(join(root, 'build/cli/rule-set/install.js'))) as {
    installCrs: () => Promise<Rules & { readonly version: string }>;
  };
  return installCrs();
}

function commit(): string {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    return execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
      cwd: root,
      encoding: 'utf8',
    }).trim() === ''
      ? hash
      : `${hash}+changes`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as { status?: number }).status !== undefined)
      return 'unknown'; // no git, or no repository
    throw error;
  }
}

function write(results: Results, out: string): void {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(results, null, 1)}\n`);
  const svg = toSvg(results);
  const stem = out.replace(/\.json$/, '');
  if (svg !== null) writeFileSync(`${stem}.svg`, svg);
  writeFileSync(`${stem}.md`, toMarkdown(results, svg === null ? null : `${basename(stem)}.svg`));
}

async function run(options: BenchOptions): Promise<number> {
  const recorder = new Recorder();
  const perfMix = loadPerfMix(root);
  if (perfMix === null)
    recorder.note(
      'perf-mix was left out: ../shared/corpora/traffic/perf-mix.jsonl is not there ' +
        '(GATEHOUSE_SHARED names another place)',
    );
  const traffics: [string, readonly Template[]][] = [
    ['mix', mix],
    ...(perfMix === null ? [] : ([['perf-mix', perfMix]] as [string, readonly Template[]][])),
  ];
  const progress = (text: string): void => console.error(`bench: ${text}`);
  const context: BenchContext = { root, options, rules: await findRules(), traffics, recorder, progress };
  const failures: string[] = [];
  for (const name of options.cases) {
    try {
      await cases[name]?.(context);
    } catch (error) {
      // One case that cannot run must not lose the figures of the others; the exit code tells.
      const message = error instanceof Error ? error.message : String(error);
      failures.push(name);
      recorder.note(`the case ${name} failed: ${message}`);
      // A problem of the machine is told in one line; for anything else the place in the code is needed.
      const told = error instanceof Error && !(error instanceof HarnessProblem) ? error.stack : message;
      console.error(`bench: the case ${name} failed: ${told}`);
    }
  }
  const rows = [...recorder.entries()].map(([key, { unit, better, values }]) => ({
    key,
    unit,
    better,
    measure: summarize(values),
  }));
  const { out, ...asked } = options; // `out` is a path of this machine
  const results: Results = {
    format: 1,
    at: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    node: process.versions.node,
    options: asked,
    rows,
    notes: recorder.notes,
  };
  write(results, out);
  console.log(toMarkdown(results, null));
  console.log(`written: ${out} and beside it .md and .svg`);
  return failures.length > 0 ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopEverything();
    process.exit(130);
  });
}
if (!existsSync(join(root, 'build/cli/main.js'))) {
  console.error('bench: nothing is built; run `make setup` first');
  process.exit(1);
}
try {
  process.exitCode = await run(readOptions(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof HarnessProblem) && (error as NodeJS.ErrnoException).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    throw error;
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 2;
}
