// Rule text → oracle and compiled engine side by side, for tests that write rules instead of using the CRS.
import { createCompiledInspector, hyperscanLibrary, loadRuleset, type Inspector } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import { formatDiagnostics } from '../diagnostics/format.js';
import { emitArtifact } from '../artifact/emit.js';
import type { CompileCache } from '../plan/database-compiler.js';
import { compileProgram } from '../compile-program.js';
import { compareAll, type Variant, type Sample } from './agreement.js';

export interface ShortRequest {
  readonly method?: string;
  readonly uri?: string;
  readonly headers?: readonly string[];
  readonly body?: string; // latin1
  readonly response?: { readonly status?: number; readonly headers?: readonly string[]; readonly body: string };
}

function sampleOf(request: ShortRequest, id: string): Sample {
  const { response, body } = request;
  return {
    id,
    head: {
      method: request.method ?? 'GET',
      uri: request.uri ?? '/',
      protocol: 'HTTP/1.1',
      headers: request.headers ?? [],
      clientIp: '192.0.2.7',
      clientPort: 40_000,
      serverIp: '192.0.2.80',
      serverPort: 80,
    },
    body: body === undefined ? null : Buffer.from(body, 'latin1'),
    response:
      response === undefined
        ? null
        : {
            head: {
              status: response.status ?? 200,
              protocol: 'HTTP/1.1',
              headers: response.headers ?? ['Content-Type', 'text/html'],
            },
            body: Buffer.from(response.body, 'latin1'),
          },
  };
}

/** Throws when the text has errors: tests mean their rules. */
export function programOf(text: string): Program {
  const { program, diagnostics } = compileProgram([{ path: 'rules.conf', text }]);
  if (program === null) throw new Error(`${formatDiagnostics(diagnostics)}\n${text}`);
  return program;
}

/** Remembers compiled databases for as long as a test file runs. */
export function createMemoryCache(): CompileCache {
  const known = new Map<string, Uint8Array>();
  return { find: (key) => known.get(key) ?? null, keep: (key, bytes) => void known.set(key, bytes) };
}

export interface Pair {
  readonly program: Program;
  readonly oracle: Inspector;
  readonly variants: readonly Variant[];
  release(): void;
}

/** Both engines for one rule text; the compiled one with and without its memo. */
export async function createPair(text: string, cache: CompileCache): Promise<Pair> {
  const program = programOf(text);
  const { bytes } = await emitArtifact(program, { cache, threads: 1 });
  const ruleset = loadRuleset(bytes, hyperscanLibrary());
  const variants: Variant[] = [
    { name: 'memo', inspector: createCompiledInspector(ruleset) },
    { name: 'no memo', inspector: createCompiledInspector(ruleset, { memo: null }) },
  ];
  return {
    program,
    oracle: createInterpreter(program),
    variants,
    release() {
      for (const { inspector } of variants) inspector.release();
      ruleset.release();
    },
  };
}

/** Differences between the engines over the requests in order, each request sent once; [] when they agree. */
export async function compareText(
  text: string,
  requests: readonly ShortRequest[],
  cache: CompileCache,
): Promise<readonly string[]> {
  const pair = await createPair(text, cache);
  try {
    return compareAll(
      pair.oracle,
      pair.variants,
      requests.map((request, index) => sampleOf(request, `request ${index} ${JSON.stringify(request)}`)),
    ).differences;
  } finally {
    pair.release();
  }
}
