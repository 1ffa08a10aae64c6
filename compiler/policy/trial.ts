// Trying rules out: a few requests through the interpreter (the oracle), without a proxy, a cache or a native addon.
// For rules that prove themselves with test requests, and for exclusions that have to be verified before they are
// offered.
import { createMemoryStore, type RequestHead } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import { defaultSettings } from '#settings';
import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { renderEngineConfig } from './engine-config.js';
import { toBytes } from './quoting.js';
import { compileProgram } from '../compile-program.js';
import type { SourceText } from '../text/source.js';

/** A request as people write it in JSON: text is sent as UTF-8. */
export interface TrialRequest {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface TrialMatch {
  readonly id: number;
  readonly phase: number;
  readonly message: string;
  /** `ARGS:q`; '' for a SecAction. */
  readonly variable: string;
  readonly value: string;
  readonly tags: readonly string[];
}

export interface TrialOutcome {
  readonly kind: 'pass' | 'flag' | 'block';
  readonly status: number | null;
  readonly interruptedBy: number | null;
  readonly inboundScore: number;
  /** Rules that match, in order, whether they log or not. */
  readonly matched: readonly TrialMatch[];
}

export interface Trial {
  run(request: TrialRequest): TrialOutcome;
  /** The same for a request as it was recorded, bytes as latin1. */
  runRecorded(head: RequestHead, body: Buffer | null): TrialOutcome;
}

/** As on the wire; Host, Content-Length and (for a body without one) a form's Content-Type are added when absent. */
export function toRequestHead(request: TrialRequest): { readonly head: RequestHead; readonly body: Buffer | null } {
  const body = request.body === '' ? null : Buffer.from(request.body, 'utf8');
  const headers = request.headers.flatMap(([name, value]) => [toBytes(name), toBytes(value)]);
  const has = (wanted: string): boolean => request.headers.some(([name]) => name.toLowerCase() === wanted);
  if (!has('host')) headers.push('Host', 'www.example.org');
  if (body !== null && !has('content-type')) headers.push('Content-Type', 'application/x-www-form-urlencoded');
  if (body !== null && !has('content-length')) headers.push('Content-Length', String(body.length));
  return {
    head: {
      method: request.method,
      uri: toBytes(request.uri),
      protocol: 'HTTP/1.1',
      headers,
      clientIp: '192.0.2.10',
      clientPort: 40_000,
      serverIp: '192.0.2.1',
      serverPort: 80,
    },
    body,
  };
}

/** Rules that do not log count as well: a trial wants to see every match. `nowMs` is what TIME_EPOCH says. */
export function createTrial(program: Program, nowMs = 0): Trial {
  const seeing: Program = {
    ...program,
    items: program.items.map((item) => (item.kind === 'rule' && !item.log ? { ...item, log: true } : item)),
  };
  const inspector = createInterpreter(seeing);
  const trial: Trial = {
    run(request) {
      const { head, body } = toRequestHead(request);
      return trial.runRecorded(head, body);
    },
    runRecorded(head, body) {
      const transaction = inspector.begin(head, { uniqueId: 'trial', nowMs, store: createMemoryStore() });
      if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
      const verdict = inspector.finish(transaction);
      return {
        kind: verdict.kind,
        status: verdict.interruption?.status ?? null,
        interruptedBy: verdict.interruption?.ruleId ?? null,
        inboundScore: verdict.inboundScore,
        matched: verdict.matched.map(({ rule, phase, msg, variable, value, tags }) => ({
          id: rule.id,
          phase,
          message: msg,
          variable,
          value,
          tags,
        })),
      };
    },
  };
  return trial;
}

export interface RuleTrial {
  /** null when the text does not compile. */
  readonly program: Program | null;
  readonly diagnostics: readonly Diagnostic[];
}

const defaultActions = [1, 2, 3, 4, 5].map((phase) => `SecDefaultAction "phase:${phase},log,auditlog,pass"\n`).join('');

/** One rule text on its own, behind the engine's usual configuration (body processors, limits) and without the CRS. */
export function compileRuleTrial(rules: SourceText): RuleTrial {
  const { program, diagnostics } = compileProgram([
    // a rule against external entities is to see them: elsewhere such a document is refused before any rule
    {
      path: 'gatehouse/engine.conf',
      text: renderEngineConfig({ ...defaultSettings(), xml_external_references: 'allow' }) + defaultActions,
    },
    rules,
  ]);
  return { program, diagnostics: diagnostics.filter(({ file }) => file === rules.path) };
}
