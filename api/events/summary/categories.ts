// Attack categories, each once: the key that filters and facets use, its name, and which rules belong to it. Rules are
// known by number, because events store the number of the rule that decided in a column of its own.

interface CategoryRow {
  readonly name: string;
  /** First and last number, both included. */
  readonly rules: readonly (readonly [first: number, last: number])[];
  /** A rule of a category of less evidence never names an event that has one of more. */
  readonly weight: number;
}

export const eventCategories = {
  sqli: { name: 'SQL injection', rules: [[942_000, 942_999]], weight: 3 },
  xss: { name: 'Cross-site scripting', rules: [[941_000, 941_999]], weight: 3 },
  rce: { name: 'Command injection', rules: [[932_000, 932_999]], weight: 3 },
  php: { name: 'PHP injection', rules: [[933_000, 933_999]], weight: 3 },
  java: { name: 'Java attack', rules: [[944_000, 944_999]], weight: 3 },
  code: { name: 'Code injection', rules: [[934_000, 934_999]], weight: 3 },
  lfi: { name: 'Path traversal', rules: [[930_000, 930_999]], weight: 3 },
  rfi: { name: 'Remote file inclusion', rules: [[931_000, 931_999]], weight: 3 },
  fixation: { name: 'Session fixation', rules: [[943_000, 943_999]], weight: 3 },
  'web-shell': { name: 'Web shell', rules: [[955_000, 955_999]], weight: 3 },
  disclosure: {
    name: 'Data leak in response',
    rules: [
      [950_000, 954_999],
      [956_000, 958_999],
    ],
    weight: 3,
  },
  'virtual-patch': { name: 'Known vulnerability', rules: [[1_007_000, 1_007_999]], weight: 3 },
  custom: { name: 'Custom rule', rules: [[1_000_000, 1_005_999]], weight: 3 },
  scoring: { name: 'Match scoring', rules: [[1_006_600, 1_006_699]], weight: 3 },
  'protocol-attack': { name: 'Protocol attack', rules: [[921_000, 921_999]], weight: 2 },
  upload: { name: 'Malformed upload', rules: [[922_000, 922_999]], weight: 2 },
  scanner: { name: 'Security scanner', rules: [[913_000, 913_999]], weight: 2 },
  schema: { name: 'API specification', rules: [[1_006_500, 1_006_509]], weight: 2 },
  graphql: { name: 'GraphQL', rules: [[1_006_510, 1_006_519]], weight: 2 },
  'deny-list': { name: 'Deny list', rules: [[1_006_000, 1_006_000]], weight: 2 },
  ban: { name: 'Ban', rules: [[1_006_200, 1_006_201]], weight: 2 },
  limit: { name: 'Rate limit', rules: [[1_006_100, 1_006_102]], weight: 2 },
  'attack-mode': { name: 'Attack mode', rules: [[1_006_103, 1_006_103]], weight: 2 },
  detection: {
    name: 'Detection engine',
    rules: [
      [1_006_001, 1_006_001],
      [1_006_104, 1_006_104],
    ],
    weight: 2,
  },
  crash: { name: 'Crash guard', rules: [[1_006_210, 1_006_210]], weight: 2 },
  challenge: { name: 'Challenge', rules: [[1_006_300, 1_006_300]], weight: 2 },
  bot: { name: 'Bot', rules: [[1_006_400, 1_006_409]], weight: 2 },
  auth: { name: 'Site authentication', rules: [[1_010_000, 1_019_999]], weight: 2 },
  method: { name: 'Method not allowed', rules: [[911_000, 911_999]], weight: 1 },
  protocol: { name: 'Protocol violation', rules: [[920_000, 920_999]], weight: 1 },
  'engine-error': { name: 'Inspection error', rules: [], weight: 0 },
  other: { name: 'Other', rules: [], weight: 0 },
} as const satisfies Readonly<Record<string, CategoryRow>>;

export type EventCategory = keyof typeof eventCategories;

const rows = Object.entries(eventCategories) as [EventCategory, CategoryRow][];

export const categoryNames: readonly EventCategory[] = rows.map(([key]) => key);
export const isCategory = (text: string): text is EventCategory => Object.hasOwn(eventCategories, text);
export const weightOf = (category: EventCategory): number => eventCategories[category].weight;

/** Rules that only add up or report what others found (949, 959, 980). */
export const isSummaryRule = (id: number): boolean => [949, 959, 980].includes(Math.floor(id / 1000));

export function categoryOfRule(id: number | null): EventCategory {
  if (id === null) return 'other';
  return rows.find(([, { rules }]) => rules.some(([first, last]) => id >= first && id <= last))?.[0] ?? 'other';
}
