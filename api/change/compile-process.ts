// The compile process: settings → artifact on disk, and replays. Everything slow or synchronous about a change happens
// here, so that the API goes on answering, and below the priority of whatever serves. It stays warm: the rule set is
// read once, rulesets of the last two artifacts are kept for the next replay. compile-entry.ts comes first.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  compileProgram,
  createFileCache,
  diskReader,
  emitArtifact,
  giveBackMemory,
  loadCoreRuleSet,
  loadOfflineInspector as loadRehearsal,
  offlineInspectorOf as rehearseEmitted,
  rememberIn,
  renderPolicy,
  resolvePolicy,
  type Diagnostic,
  type EmittedArtifact,
  type OfflineInspector as Rehearsal,
  type SourceReader,
} from '#compiler';
import { giveWay } from '../processes/give-way.js';
import { findArtifact, storeArtifact } from './artifacts.js';
import type {
  CompileStart,
  Failure,
  FromCompileProcess,
  ReplayRequest,
  ToCompileProcess,
  TryRequest,
} from './compile-messages.js';
import type { ApplyDiagnostic } from './contract.js';
import { replayImpact, runOne } from './replay.js';

const start = JSON.parse(process.argv[2] ?? '') as CompileStart;
const answer = (message: FromCompileProcess): void => void process.send?.(message);
const diagnosticsMax = 200;
const rehearsalsKept = 2;
/** Automata at hand for the next compile: those of paranoia level 4 are 35 MB. */
const cacheBytesMax = 48 * 1024 * 1024;

const reader: SourceReader = {
  ...diskReader,
  read: (path) =>
    diskReader.read(path) ??
    (path === 'unicode.mapping' && start.unicodeMapping !== null ? diskReader.read(start.unicodeMapping) : null),
};
const cache = rememberIn(createFileCache(start.cacheDirectory), cacheBytesMax);
/** The one in use. */
let ruleSet: {
  readonly directory: string;
  readonly key: string;
  readonly loaded: ReturnType<typeof loadCoreRuleSet>;
} | null = null;
/** Rule text → artifact, for changes that leave the rules alone; the artifact itself is looked for on disk. */
const known = new Map<string, { readonly sha256: string; readonly diagnostics: readonly ApplyDiagnostic[] }>();
const rehearsals = new Map<string, Rehearsal>();
type Emitted = Pick<EmittedArtifact, 'content' | 'hash'>;
/** What was compiled last, until its replay. */
let emitted: Emitted | null = null;
/** On their way to the disk, by hash: the next turn does not wait for that, and nobody may take them for missing. */
const storing = new Map<string, Emitted>();

/** Read once, and again where another one is in use now or its files were replaced. */
function ruleSetIn(directory: string): ReturnType<typeof loadCoreRuleSet> {
  const key = `${directory} ${statSync(join(directory, 'rules'), { throwIfNoEntry: false })?.mtimeMs ?? ''}`;
  if (ruleSet?.key === key && ruleSet.loaded.crs !== null) return ruleSet.loaded;
  ruleSet = { directory, key, loaded: loadCoreRuleSet(directory, reader) };
  return ruleSet.loaded;
}

function toDiagnostic(found: Diagnostic): ApplyDiagnostic {
  const directory = ruleSet?.directory ?? '';
  return {
    severity: found.severity === 'info' ? 'note' : found.severity,
    code: found.code,
    message: found.message,
    file:
      directory !== '' && found.file.startsWith(directory) ? `crs${found.file.slice(directory.length)}` : found.file,
    line: found.line,
    column: found.column,
    excerpt: found.excerpt.slice(0, 500),
    path: found.path,
    hint: found.hint,
  };
}

/** Notes are thousands in a whole rule set; people see what they can act on. */
function shown(found: readonly Diagnostic[]): ApplyDiagnostic[] {
  return found
    .filter(({ severity }) => severity !== 'info')
    .slice(0, diagnosticsMax)
    .map(toDiagnostic);
}

function failureOf(error: unknown): Failure {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return { reason: error instanceof Error ? error.message : String(error), code: code ?? null };
}

type CompileMessage = Extract<ToCompileProcess, { readonly kind: 'compile' }>;

interface Answer {
  readonly reply: FromCompileProcess;
  /** The reason why the artifact is not on disk; null = it is. */
  readonly stored: Promise<Failure | null>;
}
const alreadyStored = Promise.resolve(null);

/** `anew`: even if the same was compiled before, so that this process has run its own code once more. */
async function compile({ token, policy: input, crsDirectory, anew }: CompileMessage): Promise<Answer> {
  const steps: Record<string, number> = {};
  let stepAt = performance.now();
  const step = (name: string): void => {
    steps[name] = Math.round(performance.now() - stepAt);
    stepAt = performance.now();
  };
  const { crs, diagnostics: fromRuleSet } = ruleSetIn(crsDirectory);
  if (crs === null)
    return { reply: { kind: 'refused', token, diagnostics: shown(fromRuleSet) }, stored: alreadyStored };
  const { policy, diagnostics: fromSettings } = resolvePolicy(input, crs);
  if (policy === null)
    return { reply: { kind: 'refused', token, diagnostics: shown(fromSettings) }, stored: alreadyStored };
  const sources = renderPolicy(policy);
  const hash = createHash('sha256');
  for (const { path, text } of sources) hash.update(`${path.length} ${path} ${text.length}\n`).update(text, 'latin1');
  const key = hash.digest('hex');
  step('policy');
  const same = anew ? undefined : known.get(key);
  if (same !== undefined) {
    const bytes = findArtifact(start.artifactsDirectory, same.sha256);
    if (bytes !== null)
      return { reply: { kind: 'compiled', token, ...same, bytes: bytes.length, steps }, stored: alreadyStored };
  }
  const { program, diagnostics: fromRules } = compileProgram(sources, { reader });
  step('program');
  const diagnostics = shown([...fromSettings, ...fromRules]);
  if (program === null) return { reply: { kind: 'refused', token, diagnostics }, stored: alreadyStored };
  const artifact = await emitArtifact(program, {
    cache,
    clock: () => performance.now(),
    ...(start.threads === null ? {} : { threads: start.threads }),
  });
  const { foldMs, planMs, probeMs, encodeMs } = artifact.report;
  Object.assign(steps, { fold: foldMs, plan: planMs, probe: probeMs, encode: encodeMs });
  if (known.size > 100) known.clear();
  known.set(key, { sha256: artifact.hash, diagnostics });
  emitted = { content: artifact.content, hash: artifact.hash };
  const underWay = emitted;
  storing.set(artifact.hash, underWay);
  const problem = storeArtifact(start.artifactsDirectory, artifact.hash, artifact.bytes)
    .then(
      () => null,
      (error: unknown) => {
        const { reason, code } = failureOf(error);
        return { reason: `the artifact cannot be kept: ${reason}`, code };
      },
    )
    .finally(() => {
      // a later compile may have made the same again
      if (storing.get(artifact.hash) === underWay) storing.delete(artifact.hash);
    });
  return {
    reply: { kind: 'compiled', token, sha256: artifact.hash, bytes: artifact.bytes.length, diagnostics, steps },
    stored: problem,
  };
}

function rehearse(sha256: string): Rehearsal | null {
  const warm = rehearsals.get(sha256);
  if (warm !== undefined) {
    rehearsals.delete(sha256);
    rehearsals.set(sha256, warm); // most recently used last
    return warm;
  }
  let made: Rehearsal | null;
  const inMemory = emitted?.hash === sha256 ? emitted : storing.get(sha256);
  if (inMemory !== undefined) made = rehearseEmitted(inMemory);
  else {
    const bytes = findArtifact(start.artifactsDirectory, sha256);
    if (bytes === null) return null;
    made = loadRehearsal(bytes, sha256);
    if (made === null) return null;
  }
  rehearsals.set(sha256, made);
  return made;
}

function replay(token: number, request: ReplayRequest): FromCompileProcess {
  const startedMs = performance.now();
  const [before, after] = [rehearse(request.beforeSha256), rehearse(request.afterSha256)];
  emitted = null;
  if (before === null || after === null) return { kind: 'replayed', token, impact: null };
  const budgetMs = request.budgetMs - (performance.now() - startedMs);
  const impact = replayImpact(
    request.samples,
    { ...before, config: request.beforeConfig },
    { ...after, config: request.afterConfig },
    { examplesMax: request.examplesMax, budgetMs, clock: () => performance.now() },
  );
  return { kind: 'replayed', token, impact };
}

function tryOut(token: number, { sha256, config, samples }: TryRequest): FromCompileProcess {
  const rehearsal = rehearse(sha256);
  emitted = null;
  const outcomes = rehearsal === null ? null : samples.map((sample) => runOne({ ...rehearsal, config }, sample));
  return { kind: 'tried', token, outcomes };
}

/** Answered first: nobody waits for the memory of rule sets that are no longer needed. */
function tidyUp(): void {
  for (const [sha256, old] of rehearsals) {
    if (rehearsals.size <= rehearsalsKept) break;
    rehearsals.delete(sha256);
    old.release();
  }
  resting = setTimeout(rest, restMs, 2);
}
const restMs = 3000;
let resting: NodeJS.Timeout | undefined;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Artifacts of the last changes, 20 MB each, lie outside the heap of JavaScript, which has no reason of its own to
 * collect them: without this it does so a hundred megabytes later. Takes 50 ms a round; what one round finds is freed
 * beside it, so that only the next can give it back.
 */
function rest(rounds: number): void {
  collectGarbage();
  giveBackMemory();
  if (rounds > 1) resting = setTimeout(rest, 1000, rounds - 1);
}

/** One at a time, in order of arrival: two compiles at once would only share the same cores. */
let turn: Promise<void> = Promise.resolve();
process.on('message', (message: ToCompileProcess) => {
  if (message.kind === 'give-way') return giveWay();
  clearTimeout(resting);
  turn = turn.then(async () => {
    answer({ kind: 'begun', token: message.token });
    try {
      const { reply, stored } =
        message.kind === 'compile'
          ? await compile(message)
          : {
              reply:
                message.kind === 'replay'
                  ? replay(message.token, message.request)
                  : tryOut(message.token, message.request),
              stored: alreadyStored,
            };
      answer(reply);
      tidyUp();
      // the next turn need not wait for the disk
      if (reply.kind === 'compiled')
        void stored.then((problem) => answer({ kind: 'stored', token: message.token, problem }));
    } catch (error) {
      answer({
        kind: 'failed',
        token: message.token,
        ...failureOf(error),
      });
    }
  });
});
