// What both engines share around the rules: the order of phases, and the verdict. An engine adds its kind of
// transaction and one function: run the rules of a phase.
import { RemovalTable } from '../evaluate/removals.js';
import type { Phase, Program } from '../program/ir.js';
import { beginTransaction } from './begin.js';
import { fillResponseHead, takeRequestBody, takeResponseBody, wantsResponseBody } from './bodies.js';
import type { Inspector } from './inspector.js';
import { raiseAfterPhase2 } from '../second-opinion/decide.js';
import { leadingInteger } from './memory-store.js';
import type { Interruption, Transaction, TransactionEnvironment } from './transaction.js';
import type { Verdict } from './verdict.js';

/** Runs the rules of one phase in order; must stop where `phaseIsOver` says so. */
export type PhaseRunner<Kind extends Transaction> = (transaction: Kind, phase: Phase, removals: RemovalTable) => void;

function score(transaction: Transaction, name: string): number {
  return leadingInteger(transaction.tx.get(name) ?? '');
}

function verdictOf(transaction: Transaction): Verdict {
  const { interruption, withheldInterruption } = transaction;
  return {
    kind:
      interruption !== null && interruption.phase !== 5
        ? 'block'
        : (interruption ?? withheldInterruption) !== null
          ? 'flag'
          : 'pass',
    interruption: interruption ?? withheldInterruption,
    matched: transaction.matched,
    inboundScore: score(transaction, 'blocking_inbound_anomaly_score'),
    outboundScore: score(transaction, 'blocking_outbound_anomaly_score'),
    opinion: transaction.opinion,
    truncated: transaction.inspectionTruncated,
    phases: transaction.phasesRun,
  };
}

/** What the second opinion denies though no rule did. */
function raise(transaction: Transaction): void {
  const raised = raiseAfterPhase2(transaction);
  if (raised === null) return;
  if (transaction.engineMode === 'On') transaction.interruption = raised;
  else transaction.withheldInterruption = raised;
}

/** May phase `phase` run? After an interruption and under `allow` only logging does. */
function enterPhase(transaction: Transaction, phase: Phase): boolean {
  if (transaction.engineMode === 'Off') return false;
  if (transaction.allowed === 'phase') transaction.allowed = 'none';
  if (phase !== 5) {
    if (transaction.interruption !== null || transaction.allowed === 'all') return false;
    if (transaction.allowed === 'request') {
      if (phase <= 2) return false;
      transaction.allowed = 'none';
    }
  }
  transaction.phase = phase;
  transaction.skipRules = 0;
  transaction.skipAfter = null;
  transaction.phasesRun.push(phase);
  return true;
}

/**
 * The Inspector of an engine. `create` makes a transaction of the engine's kind; the Inspector takes back only what it
 * began itself. The program must be frozen: removal bitmaps are computed against it once.
 */
export function createSession<Kind extends Transaction>(
  program: Program,
  create: (environment: TransactionEnvironment) => Kind,
  runPhase: PhaseRunner<Kind>,
): Inspector {
  const { settings } = program;
  const removals = new RemovalTable(program);
  const responseTypes: ReadonlySet<string> = new Set(settings.responseBodyMimeTypes.map((type) => type.toLowerCase()));
  function run(transaction: Kind, phase: Phase): Interruption | null {
    if (enterPhase(transaction, phase)) runPhase(transaction, phase, removals);
    return transaction.interruption;
  }
  return {
    begin: (request, environment) => beginTransaction(create(environment), settings, request, environment),
    requestHeaders: (transaction: Kind) => run(transaction, 1),
    requestBody(transaction: Kind, body, wireBytes = body?.length ?? 0) {
      if (transaction.engineMode === 'Off' || transaction.interruption !== null) return transaction.interruption;
      takeRequestBody(transaction, body, wireBytes);
      run(transaction, 2);
      raise(transaction);
      return transaction.interruption;
    },
    responseHeaders(transaction: Kind, response) {
      if (transaction.interruption !== null) return transaction.interruption;
      if (transaction.response === null) fillResponseHead(transaction, response);
      return run(transaction, 3);
    },
    responseBody(transaction: Kind, body, wireBytes = body?.length ?? 0) {
      if (transaction.engineMode === 'Off' || transaction.interruption !== null) return transaction.interruption;
      if (body !== null && wantsResponseBody(transaction, responseTypes))
        takeResponseBody(transaction, body, wireBytes);
      return run(transaction, 4);
    },
    wantsResponseBody: (transaction) => wantsResponseBody(transaction, responseTypes),
    finish(transaction: Kind) {
      run(transaction, 5);
      return verdictOf(transaction);
    },
  };
}
