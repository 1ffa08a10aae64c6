// A stand-in for the engine, for tests of the road: no rules, a few needles. Its "artifact" is JSON:
// {"needles": [text…], "version": n, "body": bool, "throws": phase}. Never part of a running product.
import type {
  CollectionStore,
  Inspector,
  Interruption,
  RequestHead,
  ResponseHead,
  Steps,
  TransactionEnvironment,
  Verdict,
} from '#engine';
import type { LoadedInspection } from '../inspection/inspection.js';

interface Plan {
  readonly needles: readonly string[];
  readonly version: number;
  readonly seesResponses?: boolean;
  readonly throwsInPhase?: number;
  readonly responseNeedle?: string;
  readonly location?: string;
  readonly action?: 'deny' | 'drop' | 'redirect';
  /** Loading ends when its thread has begun so many requests since; in one go it cannot be loaded. */
  readonly requestsWhileLoading?: number;
}

/** What this thread's inspectors have begun. */
const begun = { requests: 0 };
const stepsMax = 10_000_000;

interface DoubleTransaction {
  engineMode: string;
  interruption: Interruption | null;
  withheld: Interruption | null;
  phases: number[];
  sawType: boolean;
  request: RequestHead;
}

function latin1(text: string): string {
  return text
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('+', ' ');
}

export function createStore(): CollectionStore {
  return {
    open: () => ({
      get: () => null,
      set: () => {},
      add: () => {},
      unset: () => {},
      expire: () => {},
      deprecate: () => {},
      entries: () => [],
    }),
  };
}

/** About two megabytes of heap. */
const garbage = (): object[] => Array.from({ length: 32_768 }, (_, nth) => ({ nth, text: `${nth}` }));

/** As a bug in inspection would: a little with each request, or all of it with one. */
const leaked: object[][] = [];
/** As a fault in native code: this request does not go on, although the signal may reach another thread, and later. */
function endAll(): never {
  process.kill(process.pid, 'SIGABRT');
  for (;;);
}

function fillHeap(text: string): void {
  if (text.includes('x-eat-heap')) for (;;) leaked.push(garbage());
  if (text.includes('x-abort')) endAll();
  if (text.includes('x-hang')) for (;;);
  if (text.includes('x-leak')) for (let nth = 0; nth < 4; nth += 1) leaked.push(garbage());
}

function begin(request: RequestHead, _environment: TransactionEnvironment): DoubleTransaction {
  begun.requests += 1;
  return {
    engineMode: 'On',
    interruption: null,
    withheld: null,
    phases: [],
    sawType: false,
    request,
    tx: new Map<string, string>(),
  } as DoubleTransaction;
}

export function loadInspection(artifact: Uint8Array): LoadedInspection {
  const plan = JSON.parse(Buffer.from(artifact).toString('utf8')) as Plan;
  if (!Array.isArray(plan.needles)) throw new Error('not an artifact of the test double');
  const look = (
    transaction: DoubleTransaction,
    phase: number,
    text: string,
    needles: readonly string[],
  ): Interruption | null => {
    transaction.phases.push(phase);
    if (plan.throwsInPhase === phase && text.includes('boom')) throw new Error(`the double fails in phase ${phase}`);
    if (text.includes('x-crash-worker'))
      setTimeout(() => {
        throw new Error('a bug, thrown where nobody catches it');
      }, 0);
    fillHeap(text);
    if (!needles.some((needle) => text.includes(needle))) return null;
    const interruption: Interruption = {
      ruleId: 949110,
      action: plan.action ?? 'deny',
      status: plan.action === 'redirect' ? 302 : 403,
      phase,
      data: plan.action === 'redirect' ? (plan.location ?? 'https://example.com/blocked') : '',
    };
    if (transaction.engineMode === 'DetectionOnly') {
      transaction.withheld ??= interruption;
      return null;
    }
    transaction.interruption = interruption;
    return interruption;
  };
  const inspector = {
    begin,
    requestHeaders: (transaction: DoubleTransaction) =>
      look(transaction, 1, latin1(transaction.request.uri) + transaction.request.headers.join('\n'), plan.needles),
    requestBody: (transaction: DoubleTransaction, body: Buffer | null) =>
      look(transaction, 2, body === null ? '' : latin1(body.toString('latin1')), plan.needles),
    responseHeaders: (transaction: DoubleTransaction, response: ResponseHead) => {
      transaction.sawType = response.headers.some((value) => value.startsWith('text/html'));
      return look(transaction, 3, response.headers.join('\n'), []);
    },
    wantsResponseBody: (transaction: DoubleTransaction) => plan.seesResponses === true && transaction.sawType,
    responseBody: (transaction: DoubleTransaction, body: Buffer | null) =>
      look(
        transaction,
        4,
        body === null ? '' : body.toString('latin1'),
        plan.responseNeedle === undefined ? [] : [plan.responseNeedle],
      ),
    finish: (transaction: DoubleTransaction): Verdict => ({
      kind: transaction.interruption !== null ? 'block' : transaction.withheld !== null ? 'flag' : 'pass',
      interruption: transaction.interruption ?? transaction.withheld,
      matched: [],
      inboundScore: transaction.interruption === null ? 0 : 5,
      outboundScore: 0,
      truncated: false,
      phases: [...transaction.phases, 5],
    }),
  };
  return { inspector: inspector as unknown as Inspector, files: [], probes: [], release: () => {} };
}

export function* loadingInspection(artifact: Uint8Array): Steps<LoadedInspection> {
  const inspection = loadInspection(artifact);
  const { requestsWhileLoading = 0 } = JSON.parse(Buffer.from(artifact).toString('utf8')) as Plan;
  const enough = begun.requests + requestsWhileLoading;
  for (let step = 0; begun.requests < enough; step += 1) {
    if (step === stepsMax) throw new Error('no request was answered while the double was loading');
    yield;
  }
  return inspection;
}

export function doubleArtifact(plan: Plan): Uint8Array {
  return Buffer.from(JSON.stringify(plan), 'utf8');
}
