// What the messages of an event say, taken apart for people. The data plane writes them in ModSecurity's words.
export interface RuleMessage {
  readonly rule_id: number;
  readonly message: string;
  readonly data: string;
  readonly match: string;
  readonly severity: string;
  readonly tags: readonly string[];
  readonly file: string;
  readonly line: number;
}

export type StoredField = readonly [name: string, value?: string];

export interface EventDetails {
  readonly messages?: readonly RuleMessage[];
  /** A field whose value is not kept for privacy has a name alone. */
  readonly headers?: readonly StoredField[];
  readonly interruption?: { readonly ruleId?: number; readonly phase?: number; readonly status?: number } | null;
  readonly inspection_us?: number;
  readonly outbound_score?: number;
  readonly protocol?: string;
  readonly generation?: number;
  readonly truncated?: boolean;
  readonly error?: string | null;
  readonly phases?: readonly number[];
  /** Of a request that came over TLS. */
  readonly tls?: {
    readonly version?: string;
    readonly server_name?: string | null;
    readonly alpn?: string | null;
    readonly ja3?: string;
    readonly ja4?: string;
  } | null;
}

/** What a rule said in an event; '': it left no message. */
export const messageOfRule = (ruleId: number | null, { messages = [] }: EventDetails): string =>
  messages.find(({ rule_id: id, message }) => id === ruleId && message !== '')?.message ?? '';

export interface MatchParts {
  readonly operator: string;
  readonly variable: string;
  readonly value: string;
}

/** `Matched "Operator `rx'" against variable `ARGS:q' (Value: `…')`. */
export function partsOfMatch(match: string): MatchParts | null {
  const found = /^Matched "(?:Operator `)?([\s\S]*?)'?" against variable `([\s\S]*?)' \(Value: `([\s\S]*)'\s*\)?$/.exec(
    match,
  );
  if (found === null) return null;
  const [, operator = '', variable = '', value = ''] = found;
  return { operator, variable, value };
}

/** What the rule saw in the value: CRS writes `Matched Data: … found within …`. */
export function matchedData(data: string): string | null {
  const found = /^Matched Data: ([\s\S]*?) found within /.exec(data);
  return found?.[1] === undefined || found[1] === '' ? null : found[1];
}

export interface Stretch {
  readonly text: string;
  readonly isHit: boolean;
}

/** `value` cut at what matched, without regard to case where that is the only way it is found. */
export function highlight(value: string, hit: string | null): Stretch[] {
  if (hit === null || hit === '') return [{ text: value, isHit: false }];
  let at = value.indexOf(hit);
  if (at < 0) at = value.toLowerCase().indexOf(hit.toLowerCase());
  if (at < 0) return [{ text: value, isHit: false }];
  return [
    { text: value.slice(0, at), isHit: false },
    { text: value.slice(at, at + hit.length), isHit: true },
    { text: value.slice(at + hit.length), isHit: false },
  ].filter(({ text }) => text !== '');
}

const severityNames = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'];
export const severityName = (severity: string): string => severityNames[Number(severity)] ?? severity;

/** Points that CRS adds for a rule of that severity (crs-setup: critical 5, error 4, warning 3, notice 2). */
export const pointsOf = (severity: string): number => ({ 2: 5, 3: 4, 4: 3, 5: 2 })[severity] ?? 0;

/** Rules that only sum up what others found. */
export const isSummary = ({ rule_id }: Pick<RuleMessage, 'rule_id'>): boolean =>
  (rule_id >= 949_000 && rule_id < 950_000) ||
  (rule_id >= 959_000 && rule_id < 960_000) ||
  (rule_id >= 980_000 && rule_id < 990_000);

export interface CurlSource {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly StoredField[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The request as a command for a POSIX shell; bodies are not stored, so a body is not in it. `base` is where it is
 * sent, which is seldom what the client called it: the Host field goes along, since sites are told apart by it.
 */
export function asCurl({ method, uri, headers }: CurlSource, base: string): string {
  const skipped = new Set(['content-length', 'connection', 'transfer-encoding']);
  const fields = headers
    .filter(([name, value]) => value !== undefined && !skipped.has(name.toLowerCase()))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ['curl', '-i', '-X', quoted(method), ...fields, '--path-as-is', quoted(base + uri)].join(' ');
}
