// What the rules made of one request: as data for programs, as text for people.
import type { SecondOpinion, Transaction, Verdict } from '#engine';
import { scoreCountedBy, severityNames } from '#compiler';
import type { WireRequest } from './wire.js';

type Rule = Verdict['matched'][number]['rule'];

const shownCharactersMax = 300;

/** Bytes as printable text: a terminal must not be steered by a request. */
function printable(text: string): string {
  let shown = '';
  for (let index = 0; index < Math.min(text.length, shownCharactersMax); index += 1) {
    const code = text.charCodeAt(index);
    shown += code < 0x20 || code > 0x7e ? `\\x${code.toString(16).padStart(2, '0')}` : (text[index] as string);
  }
  return text.length > shownCharactersMax ? `${shown}… (${text.length} bytes)` : shown;
}

export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly protocol: string;
    readonly headers: number;
    readonly bodyBytes: number;
    readonly bodyProcessor: string;
    readonly objection: string | null;
  };
  readonly matched: readonly {
    readonly id: number;
    readonly phase: number;
    readonly severity: string | null;
    /** What a match of it adds to an anomaly score; 0 for one that only reports or decides. */
    readonly score: number;
    readonly msg: string;
    readonly logdata: string;
    readonly variable: string;
    readonly value: string;
    readonly tags: readonly string[];
    readonly file: string;
    readonly line: number;
  }[];
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** null: the site wants none, or nothing is or would be blocked. */
  readonly secondOpinion: SecondOpinion | null;
  readonly engineMode: string;
  readonly verdict: 'pass' | 'flag' | 'block';
  readonly interruption: Verdict['interruption'];
  readonly truncated: boolean;
  readonly phases: readonly number[];
}

/**
 * By its setvars: `setvar:tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}` adds what that variable holds.
 */
function scoreOf(rule: Rule, { tx }: Transaction): number {
  let sum = 0;
  for (const action of rule.links.flatMap(({ actions }) => actions)) {
    if (action.kind !== 'setvar' || action.operation !== 'add' || action.collection !== 'TX') continue;
    if (!action.key.every((part) => typeof part === 'string') || scoreCountedBy(action.key.join('')) === null) continue;
    const text = action.value
      .map((part) => (typeof part === 'string' ? part : (tx.get(part.key ?? '') ?? '')))
      .join('');
    sum += Number.parseInt(text, 10) || 0;
  }
  return sum;
}

const scoreText = (score: number): string => (score === 0 ? 'score -' : `score +${score}`);

/** The explanation of a finished transaction, as data. */
export function explainTransaction(
  transaction: Transaction,
  verdict: Verdict,
  wire: WireRequest,
  files: readonly string[],
): Explanation {
  const { method, uri, protocol, headers } = wire.head;
  return {
    request: {
      method,
      uri,
      protocol,
      headers: headers.length / 2,
      bodyBytes: transaction.requestBodyBytes,
      bodyProcessor: transaction.requestBodyProcessor,
      objection: wire.objection,
    },
    matched: verdict.matched.map(({ rule, phase, msg, logdata, variable, value, tags }) => ({
      id: rule.id,
      phase,
      severity: rule.severity === null ? null : (severityNames[rule.severity] ?? String(rule.severity)),
      score: scoreOf(rule, transaction),
      msg,
      logdata,
      variable,
      value,
      tags,
      file: files[rule.links[0]?.file ?? -1] ?? '',
      line: rule.links[0]?.line ?? 0,
    })),
    inboundScore: verdict.inboundScore,
    outboundScore: verdict.outboundScore,
    secondOpinion: verdict.opinion ?? null,
    engineMode: transaction.engineMode,
    verdict: verdict.kind,
    interruption: verdict.interruption,
    truncated: verdict.truncated,
    phases: verdict.phases,
  };
}

function describeVerdict({ verdict, interruption, engineMode }: Explanation): string {
  if (interruption === null) return `PASS (engine ${engineMode})`;
  const { action, status, ruleId, phase } = interruption;
  const what = `${action}, status ${status}, by rule ${ruleId} in phase ${phase}`;
  return verdict === 'block' ? `BLOCK: ${what}` : `FLAG: DetectionOnly withheld ${what}`;
}

const decisions = {
  agree: 'agrees that it is to be blocked',
  overrule: 'too little supports a block',
  raise: 'signs support a block although the rules do not',
} as const;

function describeOpinion({ mode, decision, rules_score, score, threshold, features }: SecondOpinion): string[] {
  return [
    `Second opinion (${mode}): ${decisions[decision]}; ` +
      `score ${score}, of the rules ${rules_score}, threshold ${threshold}.`,
    ...features.map(
      (one) =>
        `    ${one.rule_id}  ${printable(one.variable)}  +${one.points}  support ${one.support}` +
        `${one.is_supported ? '' : ', not enough'}: ${one.signs.length === 0 ? 'no sign' : one.signs.join(', ')}`,
    ),
  ];
}

/** For people to read. */
export function formatExplanation(explanation: Explanation): string {
  const { request, matched } = explanation;
  const processor = request.bodyProcessor === '' ? '' : ` read as ${request.bodyProcessor}`;
  const lines = [
    `${printable(request.method)} ${printable(request.uri)} ${printable(request.protocol)}`,
    `${request.headers} headers, body of ${request.bodyBytes} bytes${processor}`,
  ];
  if (request.objection !== null) lines.push(`The proxy would answer 400: ${request.objection}.`);
  lines.push('');
  if (matched.length === 0) lines.push('No rule matched.');
  for (const rule of matched) {
    lines.push(
      `${rule.id}  phase ${rule.phase}  ${rule.severity ?? '-'}  ${scoreText(rule.score)}  ${printable(rule.msg)}`,
    );
    if (rule.variable !== '') lines.push(`    ${printable(rule.variable)} = ${printable(rule.value)}`);
    if (rule.logdata !== '') lines.push(`    ${printable(rule.logdata)}`);
    lines.push(`    ${rule.file}:${rule.line}`);
  }
  const score = `Score: inbound ${explanation.inboundScore}, outbound ${explanation.outboundScore}.`;
  const limit = explanation.truncated ? ' A limit was reached: not everything was inspected.' : '';
  if (explanation.secondOpinion !== null) lines.push('', ...describeOpinion(explanation.secondOpinion));
  lines.push(
    '',
    `${score} Phases ${explanation.phases.join(' ')}.${limit}`,
    `Verdict: ${describeVerdict(explanation)}`,
  );
  return lines.join('\n');
}
