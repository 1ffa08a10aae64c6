// The assertions of the CRS regression format, in the order and meaning of go-ftw. Pure: what was observed against
// what was expected gives a reason to fail, or null.

export interface FtwOutput {
  readonly log?: {
    readonly expect_ids?: readonly number[];
    readonly no_expect_ids?: readonly number[];
    readonly match_regex?: string;
    readonly no_match_regex?: string;
  };
  readonly status?: number | null;
  readonly response_contains?: string | null;
  readonly expect_error?: boolean | null;
  readonly isolated?: boolean | null;
}

export interface FtwObserved {
  /** The client could not read a response (closed connection, no status line). */
  readonly hasTransportError: boolean;
  readonly status: number;
  /** Status line, headers and body as text. */
  readonly response: string;
  readonly logLines: readonly string[];
  readonly ids: readonly number[];
}

function list(ids: readonly number[]): string {
  return ids.length === 0 ? 'none' : [...new Set(ids)].join(' ');
}

function judgeLog(log: NonNullable<FtwOutput['log']>, isolated: boolean, observed: FtwObserved): string | null {
  const { ids, logLines } = observed;
  const matches = (pattern: string): boolean => {
    const expression = new RegExp(pattern);
    return logLines.some((line) => expression.test(line));
  };
  if (typeof log.match_regex === 'string' && log.match_regex !== '' && !matches(log.match_regex))
    return `no log line matches /${log.match_regex}/; triggered: ${list(ids)}`;
  const missing = (log.expect_ids ?? []).filter((id) => !ids.includes(id));
  if (missing.length > 0) return `expected ${missing.join(' ')}, which did not match; triggered: ${list(ids)}`;
  if (isolated && new Set(ids).size !== 1) return `expected exactly one rule; triggered: ${list(ids)}`;
  if (typeof log.no_match_regex === 'string' && log.no_match_regex !== '' && matches(log.no_match_regex))
    return `a log line matches /${log.no_match_regex}/`;
  const unwanted = (log.no_expect_ids ?? []).filter((id) => ids.includes(id));
  return unwanted.length > 0 ? `${unwanted.join(' ')} matched and must not` : null;
}

/** Null = passed, else the first assertion that failed. */
export function judgeStage(output: FtwOutput, observed: FtwObserved): string | null {
  if (output.expect_error === true) return observed.hasTransportError ? null : 'expected a transport error';
  if (observed.hasTransportError) return 'the response has no status line';
  if (typeof output.status === 'number' && output.status !== 0 && output.status !== observed.status)
    return `expected status ${output.status}, got ${observed.status}`;
  if (
    typeof output.response_contains === 'string' &&
    output.response_contains !== '' &&
    !new RegExp(output.response_contains).test(observed.response)
  )
    return `the response does not match /${output.response_contains}/`;
  const log = output.log ?? null;
  return log === null ? null : judgeLog(log, output.isolated === true, observed);
}
