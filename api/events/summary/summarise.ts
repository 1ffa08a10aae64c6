// One sentence for an event, made here and nowhere else: lists, drawers, exports, copies and shared pages show what
// this returns. Pure. It reads what is stored, which is masked; it never makes a value longer than it is shown.
import { categoryOfRule, eventCategories, isSummaryRule, weightOf, type EventCategory } from './categories.js';
import { gateWords } from './gates.js';
import { isInternal, matchedValue, readDetails, type StoredDetails, type StoredMessage } from './message.js';
import { placeOf } from './places.js';
import { escaped, showValue } from './shown-value.js';

export const summarySeverities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type SummarySeverity = (typeof summarySeverities)[number];

export interface EventSummary {
  /** The whole sentence on one line: no control or direction character is left in it. */
  readonly text: string;
  readonly category: EventCategory;
  readonly category_name: string;
  readonly severity: SummarySeverity;
  /** What happened, without place and value: `SQL injection`. */
  readonly what: string;
  readonly place: string | null;
  readonly name: string | null;
  /** Decoded, at most 160 characters around what matched; untrusted. */
  readonly value: string | null;
  /** Stretches of `value` that matched. */
  readonly hits: readonly (readonly [number, number])[];
}

export interface SummarisedEvent {
  readonly kind: string;
  readonly uri: string;
  readonly node: string;
  readonly rule_id: number | null;
  readonly details: unknown;
}

const bySeverity: Readonly<Record<string, SummarySeverity>> = {
  0: 'critical',
  1: 'critical',
  2: 'critical',
  3: 'high',
  4: 'medium',
  5: 'low',
  6: 'info',
  7: 'info',
};
const severityOf = ({ severity }: StoredMessage): SummarySeverity => bySeverity[severity] ?? 'info';
const rank = (message: StoredMessage): number => summarySeverities.indexOf(severityOf(message));

interface Found {
  readonly category: EventCategory;
  readonly severity: SummarySeverity;
  readonly what: string;
  readonly place?: string | null;
  readonly name?: string | null;
  readonly value?: string | null;
  readonly hit?: string | null;
}

const quote = (text: string): string => `\`${escaped(text)}\``;

function toSummary({
  category,
  severity,
  what,
  place = null,
  name = null,
  value = null,
  hit = null,
}: Found): EventSummary {
  const shown = value === null || value === '' ? null : showValue(value, hit);
  const where = place === null ? '' : ` in ${place}${name === null ? '' : ` ${quote(clip(name))}`}`;
  return {
    text: `${escaped(what)}${where}${shown === null ? '' : `: ${quote(shown.value)}`}`,
    category,
    category_name: eventCategories[category].name,
    severity,
    what,
    place,
    name: name === null ? null : clip(name),
    value: shown?.value ?? null,
    hits: shown?.hits ?? [],
  };
}

const nameCharsMax = 80;
const clip = (text: string): string => (text.length <= nameCharsMax ? text : `${text.slice(0, nameCharsMax)}…`);

/** Of the messages that say something, the one that says most: what blocked by itself, then evidence, then severity. */
function telling(event: SummarisedEvent, { messages, interruption }: StoredDetails): StoredMessage | null {
  const found = messages.filter(({ rule_id: id }) => !isSummaryRule(id));
  const stop = found.find(({ rule_id: id }) => id === interruption?.ruleId);
  if (stop !== undefined) return stop;
  const weight = (one: StoredMessage): number => weightOf(categoryOfRule(one.rule_id));
  const hasPlace = (one: StoredMessage): boolean => {
    const value = matchedValue(one);
    return value !== null && !isInternal(value.variable);
  };
  const [best] = [...found].sort(
    (a, b) =>
      weight(b) - weight(a) ||
      rank(a) - rank(b) ||
      Number(b.rule_id === event.rule_id) - Number(a.rule_id === event.rule_id) ||
      Number(hasPlace(b)) - Number(hasPlace(a)),
  );
  return best ?? null;
}

/** Categories whose name says too little: their rule says what it was. */
const namedByRule: ReadonlySet<EventCategory> = new Set([
  'protocol',
  'protocol-attack',
  'upload',
  'disclosure',
  'web-shell',
  'custom',
  'virtual-patch',
  'other',
]);

function whatOf(category: EventCategory, { rule_id: id, message }: StoredMessage): string {
  const { name } = eventCategories[category];
  if (!namedByRule.has(category)) return name;
  const said = message
    .trim()
    .replace(/[.:\s]+$/, '')
    .slice(0, 200);
  if (category === 'other') return said === '' ? `Rule ${id}` : said;
  if (said === '') return `${name} ${id}`;
  return said.toLowerCase().startsWith(name.toLowerCase()) ? said : `${name}: ${said}`;
}

const categoryOfMessage = ({ tags, rule_id: id }: StoredMessage): EventCategory =>
  tags.includes('gatehouse/site-auth') ? 'auth' : categoryOfRule(id);

function ofMessage(message: StoredMessage, uri: string): EventSummary {
  const category = categoryOfMessage(message);
  const severity = severityOf(message);
  const gate = gateWords(message);
  if (gate !== null) return toSummary({ category, severity, what: gate.what, value: gate.value });
  const matched = matchedValue(message);
  const place = matched === null || isInternal(matched.variable) ? null : placeOf(matched.variable, uri);
  const what = whatOf(category, message);
  if (place === null || matched === null) return toSummary({ category, severity, what });
  return toSummary({ category, severity, what, ...place, value: matched.value, hit: matched.hit });
}

function ofAttackMode({ raw }: StoredDetails, node: string): EventSummary {
  const rate = typeof raw['requests_per_minute'] === 'number' ? raw['requests_per_minute'] : null;
  const usual = typeof raw['baseline_rpm'] === 'number' ? raw['baseline_rpm'] : null;
  const rates = rate === null ? '' : `: ${rate} requests a minute${usual === null ? '' : `, usually ${usual}`}`;
  const entered = raw['change'] !== 'leave';
  return toSummary({
    category: 'attack-mode',
    severity: entered ? 'high' : 'info',
    what: `Attack mode ${entered ? 'started' : 'ended'}${node === '' ? '' : ` on node ${node}`}${rates}`,
  });
}

/** The category of its sentence, without the sentence: what counts events by category stores this. */
export function categoryOf(event: SummarisedEvent): EventCategory {
  if (event.kind === 'attack-mode') return 'attack-mode';
  const details = readDetails(event.details);
  const message = telling(event, details);
  if (message === null) return details.error === null ? categoryOfRule(event.rule_id) : 'engine-error';
  return categoryOfMessage(message);
}

export function summarise(event: SummarisedEvent): EventSummary {
  const details = readDetails(event.details);
  if (event.kind === 'attack-mode') return ofAttackMode(details, event.node);
  const message = telling(event, details);
  if (details.error !== null && message === null)
    return toSummary({
      category: 'engine-error',
      severity: 'high',
      what: 'Inspection failed',
      value: details.error.slice(0, 1000),
    });
  if (message !== null) return ofMessage(message, event.uri);
  const category = categoryOfRule(event.rule_id);
  const { name } = eventCategories[category];
  const what = event.rule_id === null ? 'Event without a rule' : category === 'other' ? `Rule ${event.rule_id}` : name;
  return toSummary({ category, severity: 'info', what });
}
