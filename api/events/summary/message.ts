// What an event stores of a rule or a gate, taken apart. The data plane writes matches in ModSecurity's wording. The
// content is untrusted: every reader here takes time linear in the length of the text.

export interface StoredMessage {
  readonly rule_id: number;
  readonly message: string;
  readonly data: string;
  readonly match: string;
  readonly severity: string;
  readonly tags: readonly string[];
  /** Empty: a gate wrote it, no rule file has it. */
  readonly file: string;
}

/** The members of `details` that a summary reads. */
export interface StoredDetails {
  readonly messages: readonly StoredMessage[];
  readonly interruption: { readonly ruleId: number; readonly status: number | null } | null;
  readonly error: string | null;
  readonly raw: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readMessage(value: unknown): StoredMessage[] {
  if (!isObject(value) || typeof value['rule_id'] !== 'number') return [];
  const tags = Array.isArray(value['tags']) ? value['tags'].filter((tag) => typeof tag === 'string') : [];
  return [
    {
      rule_id: value['rule_id'],
      message: textOf(value['message']),
      data: textOf(value['data']),
      match: textOf(value['match']),
      severity: textOf(value['severity']),
      tags,
      file: textOf(value['file']),
    },
  ];
}

/** Nodes of another release may leave members out or add some; nothing of it is taken for granted. */
export function readDetails(details: unknown): StoredDetails {
  const raw = isObject(details) ? details : {};
  const stop = raw['interruption'];
  return {
    messages: Array.isArray(raw['messages']) ? raw['messages'].flatMap(readMessage) : [],
    interruption:
      isObject(stop) && typeof stop['ruleId'] === 'number'
        ? { ruleId: stop['ruleId'], status: typeof stop['status'] === 'number' ? stop['status'] : null }
        : null,
    error: textOf(raw['error']) === '' ? null : textOf(raw['error']),
    raw,
  };
}

export interface MatchedValue {
  /** `ARGS:q`. */
  readonly variable: string;
  readonly value: string;
  /** The part of the value that the rule quotes; null: it quotes none. */
  readonly hit: string | null;
}

const against = 'against variable `';
const valueMark = "' (Value: `";

/** `Matched "Operator `rx'" against variable `ARGS:q' (Value: `…')`, with what CRS quotes of it in its data. */
export function matchedValue({ match, data }: Pick<StoredMessage, 'match' | 'data'>): MatchedValue | null {
  const quoted = quotedIn(data);
  const from = match.indexOf(against);
  if (from < 0) return null;
  const nameFrom = from + against.length;
  const nameTo = match.indexOf(valueMark, nameFrom);
  if (nameTo < 0) {
    const end = match.indexOf("'", nameFrom);
    return end < 0 ? null : { variable: match.slice(nameFrom, end), value: '', hit: null };
  }
  const rest = match.slice(nameTo + valueMark.length);
  const value = rest.endsWith("')") ? rest.slice(0, -2) : rest;
  const variable = match.slice(nameFrom, nameTo);
  // a chain ends in variables of its own (TX:…): then the data name the place of the request
  if (quoted?.variable != null && isInternal(variable))
    return { variable: quoted.variable, value: quoted.value, hit: quoted.hit };
  return { variable, value, hit: quoted?.hit ?? null };
}

/** Variables that rules make: not a place of a request. */
export const isInternal = (variable: string): boolean =>
  /^(?:TX|MATCHED_VARS?|MATCHED_VARS?_NAMES?|ENV|RULE)(?:$|:)/.test(variable);

/** `Matched Data: HIT found within ARGS:q: VALUE`, as CRS writes it. */
function quotedIn(data: string): { hit: string; variable: string | null; value: string } | null {
  const begin = 'Matched Data: ';
  if (!data.startsWith(begin)) return null;
  const middle = ' found within ';
  const at = data.indexOf(middle);
  if (at < 0) return null;
  const hit = data.slice(begin.length, at);
  const rest = data.slice(at + middle.length);
  const end = rest.indexOf(': ');
  if (hit === '') return null;
  return end < 0
    ? { hit, variable: null, value: '' }
    : { hit, variable: rest.slice(0, end), value: rest.slice(end + 2) };
}
