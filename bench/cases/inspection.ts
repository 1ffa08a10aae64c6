// Whole inspections in process, without sockets: what the engine itself costs, compiled and interpreted, with and
// without its memo, on the same traffic as the proxy case. Then single transformations. Inspections are measured in CPU
// time of this process, transformations by the clock.
import {
  createCompiledInspector,
  createMemoryStore,
  hyperscanLibrary,
  loadRuleset,
  type CompiledInspector,
  type Inspector,
  type Ruleset,
} from '#engine';
import { createInterpreter, transformations } from '#engine/compile';
import { artifactOf } from '../artifacts.js';
import type { BenchContext } from '../context.js';
import { createGenerator, parseRequest, type ParsedRequest, type Template } from '../traffic.js';

/**
 * Phases 1, 2, 3 and 5 of one request, as the proxy would run them with an empty reply. Returns whether it was stopped.
 */
function inspect(
  inspector: Inspector,
  request: ParsedRequest,
  body: Buffer | null,
  store: ReturnType<typeof createMemoryStore>,
  number: number,
): boolean {
  const head = {
    method: request.method,
    uri: request.uri,
    protocol: request.protocol,
    headers: request.headers,
    clientIp: '198.51.100.7',
    clientPort: 40_000,
    serverIp: '127.0.0.1',
    serverPort: 8080,
  };
  const transaction = inspector.begin(head, { uniqueId: `bench-${number}`, nowMs: 1_800_000_000_000 + number, store });
  let interruption = inspector.requestHeaders(transaction);
  interruption ??= inspector.requestBody(transaction, body);
  if (interruption === null)
    inspector.responseHeaders(transaction, {
      status: 200,
      protocol: 'HTTP/1.1',
      headers: ['Content-Type', 'text/plain', 'Content-Length', '2'],
    });
  inspector.finish(transaction);
  return interruption !== null;
}

/** µs of CPU per inspection; requests are made before the clock starts. */
function timeInspections(
  inspector: Inspector,
  templates: readonly Template[],
  count: number,
): { readonly usEach: number; readonly stopped: number } {
  const generate = createGenerator(templates, Math.random);
  const prepared = Array.from({ length: count }, () => {
    const request = parseRequest(generate().raw);
    return { request, body: request.body === '' ? null : Buffer.from(request.body, 'latin1') };
  });
  const store = createMemoryStore();
  const before = process.cpuUsage();
  let stopped = 0;
  for (const [index, { request, body }] of prepared.entries())
    if (inspect(inspector, request, body, store, index)) stopped++;
  const used = process.cpuUsage(before);
  return { usEach: (used.user + used.system) / count, stopped };
}

const noMemo = { memo: null } as const;

function isCompiled(inspector: Inspector | CompiledInspector): inspector is CompiledInspector {
  return 'counters' in inspector;
}

function measureEngines(context: BenchContext, ruleset: Ruleset, paranoia: number): void {
  const { options, recorder, traffics } = context;
  for (const [traffic, templates] of traffics) {
    const requests = options.short ? 4000 : 20_000;
    const engines = [
      { name: 'compiled', create: () => createCompiledInspector(ruleset), requests },
      { name: 'compiled, no memo', create: () => createCompiledInspector(ruleset, noMemo), requests },
      { name: 'interpreter', create: () => createInterpreter(ruleset.program), requests: options.short ? 50 : 300 },
    ] as const;
    for (const engine of engines) {
      const inspector: Inspector | CompiledInspector = engine.create();
      const key = `inspection / ${traffic} / PL${paranoia} / ${engine.name}`;
      timeInspections(inspector, templates, Math.max(20, engine.requests >> 1)); // warm-up
      const counters = isCompiled(inspector) ? inspector.counters() : null;
      for (let repetition = 0; repetition < options.repetitions; repetition++) {
        const { usEach, stopped } = timeInspections(inspector, templates, engine.requests);
        recorder.add(`${key} / CPU`, 'µs', 'lower', usEach);
        recorder.add(`${key} / stopped`, '%', 'none', (stopped / engine.requests) * 100);
      }
      if (isCompiled(inspector) && counters !== null) {
        const { lookups, found, scans, scannedBytes } = inspector.counters();
        const all = engine.requests * options.repetitions;
        if (lookups > counters.lookups)
          recorder.add(
            `${key} / memo hits`,
            '%',
            'none',
            ((found - counters.found) / (lookups - counters.lookups)) * 100,
          );
        recorder.add(`${key} / values looked up`, 'per request', 'none', (lookups - counters.lookups) / all);
        recorder.add(`${key} / scans`, 'per request', 'none', (scans - counters.scans) / all);
        recorder.add(`${key} / bytes scanned`, 'per request', 'none', (scannedBytes - counters.scannedBytes) / all);
        inspector.release();
      }
      context.progress(`inspection: ${traffic}, PL${paranoia}, ${engine.name}`);
    }
  }
}

export async function inspectionCase(context: BenchContext): Promise<void> {
  for (const paranoia of context.options.paranoia) {
    const bytes = await artifactOf(context.root, context.rules, paranoia);
    const startedMs = performance.now();
    const ruleset = loadRuleset(bytes, hyperscanLibrary());
    context.recorder.add(`load / PL${paranoia} / loadRuleset`, 'ms', 'lower', performance.now() - startedMs);
    context.recorder.add(`load / PL${paranoia} / artifact`, 'MB', 'lower', bytes.length / 1_048_576);
    measureEngines(context, ruleset, paranoia);
    ruleset.release();
  }
}

const samples: readonly (readonly [string, string])[] = [
  ['plain word', 'quietharbour'],
  ['encoded', '%3Cb%3Ea%20%26amp%3B%20b%3C%2Fb%3E%u0041+c'],
  ['2 KiB of prose', 'the lamp by the window was lit, and nobody had lit it. '.repeat(38).slice(0, 2048)],
];

export function transformationsCase(context: BenchContext): void {
  const { options, recorder } = context;
  const rounds = options.short ? 20_000 : 200_000;
  const runContext = { unicodeMap: null };
  let kept = 0; // results are used, so that nothing is optimised away
  for (const [name, { apply }] of transformations) {
    for (const [sample, value] of samples) {
      const count = value.length > 1000 ? Math.ceil(rounds / 20) : rounds;
      for (let index = 0; index < count / 4; index++) kept += apply(value, runContext).length;
      for (let repetition = 0; repetition < Math.min(3, options.repetitions); repetition++) {
        const startedMs = performance.now();
        for (let index = 0; index < count; index++) kept += apply(value, runContext).length;
        recorder.add(
          `transformation / ${name} / ${sample}`,
          'ns',
          'lower',
          ((performance.now() - startedMs) * 1_000_000) / count,
        );
      }
    }
  }
  if (kept < 0) throw new RangeError('unreachable: lengths are not negative');
}
