// A rule on requests that were recorded: what it would have matched, before it acts on any.
import { compileRuleTrial, createTrial } from '#compiler';
import type { ReplaySample } from '../change/replay.js';
import { hasMaskedValue, lacksBody } from '../records/masked.js';

export interface RecordedJob {
  readonly id: number;
  /** Rule text that compiles, one code unit per byte. */
  readonly text: string;
  /** Newest first. */
  readonly samples: readonly ReplaySample[];
}

export interface RecordedMatch {
  readonly requestId: string;
  readonly atMs: number;
  readonly site: string;
  readonly method: string;
  readonly uri: string;
  readonly clientIp: string;
  /** Where it matched, as `ARGS:q`; '' where it goes by what other rules found. */
  readonly variable: string;
}

export interface RecordedMatches {
  /** Of the samples; the others were left out because the time was over. */
  readonly lookedAt: number;
  readonly matched: number;
  /** Of those looked at that did not match: in these a value was masked, which nobody can compare any more. */
  readonly masked: number;
  /** Of those looked at that did not match: of these the body was not kept. */
  readonly bodyNotKept: number;
  /** The newest of them. */
  readonly examples: readonly RecordedMatch[];
}

const examplesMax = 10;
/** Milliseconds; people wait for it while they write. */
const budgetMs = 3000;

const shownOf = (variable: string): string => (variable.startsWith('TX:') ? '' : variable);
/** Bytes as latin1 are text again where they are UTF-8. */
const asText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** Through the interpreter, the rule alone. `clock`: milliseconds from any origin. */
export function matchRecorded(
  { id, text, samples }: RecordedJob,
  clock: () => number = () => performance.now(),
): RecordedMatches {
  const { program } = compileRuleTrial({ path: `rule ${id}`, text });
  if (program === null) throw new Error(`rule ${id} was said to compile and does not`);
  const trial = createTrial(program);
  const until = clock() + budgetMs;
  const examples: RecordedMatch[] = [];
  let [lookedAt, matched, masked, bodyNotKept] = [0, 0, 0, 0];
  for (const sample of samples) {
    if (clock() > until) break;
    const { requestId, atMs, site, method, uri, protocol, headers, clientIp } = sample;
    const head = { method, uri, protocol, headers: [...headers], clientIp, clientPort: 0, serverIp: '', serverPort: 0 };
    const body = sample.body === null ? null : Buffer.from(sample.body, 'latin1');
    lookedAt += 1;
    const match = trial.runRecorded(head, body).matched.find((one) => one.id === id);
    if (match === undefined) {
      if (hasMaskedValue(sample)) masked += 1;
      if (lacksBody(sample)) bodyNotKept += 1;
      continue;
    }
    matched += 1;
    if (examples.length < examplesMax)
      examples.push({ requestId, atMs, site, method, uri: asText(uri), clientIp, variable: shownOf(match.variable) });
  }
  return { lookedAt, matched, masked, bodyNotKept, examples };
}
