// The same requests through the oracle and every variant of the compiled engine: equal matches, TX and verdict. Used by
// agreement.test.ts and `make fuzz`.
import {
  createMemoryStore,
  type CompiledInspector,
  type Inspector,
  type RequestHead,
  type ResponseHead,
  type Transaction,
  type Verdict,
} from '#engine';

export interface Sample {
  readonly id: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly response: { readonly head: ResponseHead; readonly body: Buffer } | null;
}

export interface Outcome {
  readonly matched: readonly string[];
  readonly tx: readonly (readonly [string, string])[];
  readonly verdict: string;
}

/** Runs all five phases, as far as the response is given. */
export function runSample(inspector: Inspector, sample: Sample): Outcome {
  const transaction = inspector.begin(sample.head, {
    uniqueId: 'agreement',
    nowMs: 1_700_000_000_000,
    store: createMemoryStore(),
  });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, sample.body);
  if (sample.response !== null) {
    inspector.responseHeaders(transaction, sample.response.head);
    inspector.responseBody(transaction, inspector.wantsResponseBody(transaction) ? sample.response.body : null);
  }
  return outcomeOf(transaction, inspector.finish(transaction));
}

function outcomeOf(transaction: Transaction, verdict: Verdict): Outcome {
  return {
    matched: verdict.matched.map(
      (match) =>
        `${match.rule.id} ${match.variable} ${match.value} ${match.msg} ${match.logdata} ${match.tags.join(',')}`,
    ),
    tx: [...transaction.tx].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    verdict: JSON.stringify([
      verdict.kind,
      verdict.interruption,
      verdict.inboundScore,
      verdict.outboundScore,
      verdict.truncated,
      verdict.phases,
    ]),
  };
}

function matchAt({ matched }: Outcome, index: number): string {
  return matched[index] ?? '(none)';
}

/** Null when equal, else the first difference for people to read. */
function differenceOf(oracle: Outcome, other: Outcome): string | null {
  if (oracle.verdict !== other.verdict) return `verdict: oracle ${oracle.verdict}, compiled ${other.verdict}`;
  for (let index = 0; index < Math.max(oracle.matched.length, other.matched.length); index += 1) {
    if (oracle.matched[index] !== other.matched[index])
      return `match ${index}: oracle ${matchAt(oracle, index)}, compiled ${matchAt(other, index)}`;
  }
  const left = new Map(oracle.tx);
  const right = new Map(other.tx);
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    if (left.get(key) !== right.get(key))
      return `tx.${key}: oracle ${left.get(key) ?? '(unset)'}, compiled ${right.get(key) ?? '(unset)'}`;
  }
  return null;
}

export interface Variant {
  readonly name: string;
  readonly inspector: CompiledInspector;
}

/**
 * Differences found, at most `listMax` described; each sample is also run twice on memoising variants by the caller's
 * choice of samples.
 */
export function compareAll(
  oracle: Inspector,
  variants: readonly Variant[],
  samples: Iterable<Sample>,
  listMax = 10,
): { readonly compared: number; readonly differences: readonly string[] } {
  let compared = 0;
  const differences: string[] = [];
  for (const sample of samples) {
    const expected = runSample(oracle, sample);
    for (const { name, inspector } of variants) {
      const difference = differenceOf(expected, runSample(inspector, sample));
      if (difference !== null && differences.length < listMax) differences.push(`${sample.id} [${name}] ${difference}`);
    }
    compared += 1;
  }
  return { compared, differences };
}
