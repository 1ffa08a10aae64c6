// Words of the vulnerability manager as they are shown: its states and severities are the API's own, so that a filter
// that is typed, a report and a page say the same.
import { createMemo, type Accessor } from 'solid-js';
import type { Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import type { Tone } from '../../kit/basics.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';

export type Finding = Item<'GET /api/v1/findings'>;
export type Application = Item<'GET /api/v1/applications'>;

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

const tones: Readonly<Record<string, Tone>> = { critical: 'danger', high: 'danger', medium: 'warn', low: 'info' };
export const severityTone = (severity: string): Tone => tones[severity] ?? 'neutral';

/** `fix_pending` → `fix pending`. */
export const plain = (word: string): string => word.replaceAll('_', ' ');

const openStates = new Set(['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened']);
export const isOpenState = (state: string): boolean => openStates.has(state);

/** As many as one answer holds; names of others are shown as their numbers. */
const applicationsMax = 500;

export interface Applications {
  readonly rows: Accessor<readonly Application[]>;
  /** False until the answer is there. */
  readonly isKnown: Accessor<boolean>;
  nameOf(id: string | null): string;
  /** For a select: each by its number, after `first`. */
  options(first: string): readonly (readonly [string, string])[];
}

/** The applications that somebody may see; none where that is not allowed. */
export function createApplications(): Applications {
  const query = { limit: applicationsMax, sort: 'name' as const };
  const { data } = createQuery('GET /api/v1/applications', () => ({ query }));
  const rows = createMemo((): readonly Application[] => data()?.items ?? []);
  const names = createMemo(() => new Map(rows().map(({ id, name }) => [id, name ?? id])));
  return {
    rows,
    isKnown: () => data() !== undefined,
    nameOf: (id) => (id === null ? '–' : (names().get(id) ?? id)),
    options: (first) => [['', first], ...rows().map(({ id, name }) => [id, name ?? id] as const)],
  };
}

/** Where a chain has its page, by the id that the API gives it. */
export const chainAt = (id: string): string => `/vulnerabilities/chains/${encodeURIComponent(id)}`;

/** The filter of findings that shows what a severity of an application counts. */
export const findingsOf = (applicationId: string, severity = ''): string =>
  `/vulnerabilities?application_id=${applicationId}${severity === '' ? '' : `&severity=${severity}`}`;

/** Every state that a finding can have; the open ones first. */
export const stateNames: readonly string[] = [
  ...openStates,
  ...['resolved', 'false_positive', 'risk_accepted', 'muted', 'duplicate', 'out_of_scope'],
];

export const stateOptions: readonly (readonly [string, string])[] = [
  ['', text.stillOpen],
  ['closed', text.noLonger],
  ['all', text.openAndClosed],
  ...stateNames.map((state) => [state, plain(state)] as const),
];
