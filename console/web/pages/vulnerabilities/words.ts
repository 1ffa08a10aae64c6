// Words of the vulnerability manager as they are shown: its states and severities are the API's own, so that a filter
// that is typed, a report and a page say the same.
import { createMemo, type Accessor } from 'solid-js';
import { call, type Item } from '../../client/http.js';
import { createOtherNames } from '../../client/other-names.js';
import { createQuery } from '../../client/query.js';
import type { Tone } from '../../kit/basics.js';
import { foundMax, withFinder, type Choice, type Choices, type Finder } from '../../kit/fields/choices.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';

export type Finding = Item<'GET /api/v1/findings'>;
export type Application = Item<'GET /api/v1/applications'>;

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

const tones: Readonly<Record<string, Tone>> = { critical: 'danger', high: 'danger', medium: 'warn', low: 'info' };
export const severityTone = (severity: string): Tone => tones[severity] ?? 'neutral';

/** `fix_pending` → `fix pending`, `lateral-movement` → `lateral movement`. */
export const plain = (word: string): string => word.replaceAll(/[_-]/g, ' ');

const openStates = new Set(['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened']);
export const isOpenState = (state: string): boolean => openStates.has(state);

/** As many as one answer holds; others are found by words, and their names asked for one by one. */
const applicationsMax = 500;

export interface Applications {
  readonly rows: Accessor<readonly Application[]>;
  /** False until the answer is there. */
  readonly isKnown: Accessor<boolean>;
  nameOf(id: string | null): string;
  /** For a select: each by its number, after `first`. */
  options(first: string): Choices;
}

/** Applications that are not among those that were read, by words of their names. */
const findApplications: Finder = {
  find: async (q) => {
    const { items } = await call('GET /api/v1/applications', { query: { q, limit: foundMax, sort: 'name' } });
    return items.map(({ id, name }) => [id, name ?? id] as const);
  },
  titleOf: async (id) => (await call('GET /api/v1/applications/{id}', { params: { id } })).name,
};

/** The applications that somebody may see; none where that is not allowed. */
export function createApplications(): Applications {
  const query = { limit: applicationsMax, sort: 'name' as const };
  const { data, problem } = createQuery('GET /api/v1/applications', () => ({ query }));
  const rows = createMemo((): readonly Application[] => data()?.items ?? []);
  const otherName = createOtherNames(findApplications.titleOf); // a number stands where it may not be read
  const names = createMemo(() => new Map(rows().map(({ id, name }) => [id, name ?? id])));
  return {
    rows,
    isKnown: () => data() !== undefined,
    nameOf: (id) => {
      if (id === null) return '–';
      if (data() === undefined && problem() === null) return '…'; // a number would be read as its name
      return names().get(id) ?? (rows().length < applicationsMax ? id : (otherName(id) ?? id));
    },
    options: (first) => {
      const here: readonly Choice[] = [['', first], ...rows().map(({ id, name }) => [id, name ?? id] as const)];
      return rows().length < applicationsMax ? here : withFinder(here, findApplications);
    },
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

/** For a select of projects: each by its number, after `first`. */
export function createProjectOptions(): (first: string) => Choices {
  const query = { limit: applicationsMax, sort: 'name' as const };
  const { data } = createQuery('GET /api/v1/projects', () => ({ query }));
  const choiceOf = ({ id, name }: Item<'GET /api/v1/projects'>): Choice => [id, name ?? id];
  return (first) => {
    const here: readonly Choice[] = [['', first], ...(data()?.items ?? []).map(choiceOf)];
    if (here.length <= applicationsMax) return here;
    return withFinder(here, {
      find: async (q) =>
        (await call('GET /api/v1/projects', { query: { q, limit: foundMax, sort: 'name' } })).items.map(choiceOf),
      titleOf: async (id) => (await call('GET /api/v1/projects/{id}', { params: { id } })).name,
    });
  };
}
