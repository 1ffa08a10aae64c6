// How many findings there are of each kind under the filters of the page. A count narrows the list to what it counts;
// pressed again it takes that filter away.
import { useSearchParams } from '@solidjs/router';
import { createSignal, For, Show, type Accessor, type JSX } from 'solid-js';
import type { Query, Reply } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';
import { createQuery, type QueryState } from '../../../client/query.js';
import { createAsked } from '../../../kit/asked.js';
import { Button, Foreign } from '../../../kit/basics.js';
import { Read } from '../../../kit/page-state.js';
import { findingsText as text } from '../../../texts/vm/findings.js';
import { postureText } from '../../../texts/vm/posture.js';
import { plain, type Applications } from '../words.js';
import { isChosen, rowsOfFacet, type FacetRow } from './facet-rows.js';

type Counted = Reply<'GET /api/v1/findings/facets'>;
type FacetName = keyof Counted;

const facets: readonly (readonly [FacetName, string])[] = [
  ['severity', text.bySeverity],
  ['status', text.byState],
  ['source', text.bySource],
  ['application_id', text.byApplication],
  ['cwe', text.byWeakness],
];
const nameOfValue: Partial<Readonly<Record<FacetName, (value: string) => string>>> = {
  status: plain,
  source: (value) => (postureText.sources as Readonly<Record<string, string>>)[value] ?? value,
};
/** The API counts so many of each; where there are as many there may be more. */
const countedMax = 50;
/** Rows of a facet before somebody asks for the others. */
const shownMax = 6;

function Facet(props: {
  readonly name: FacetName;
  readonly title: string;
  readonly rows: readonly FacetRow[];
  readonly nameOf: (value: string) => string;
}): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [isWhole, setWhole] = createSignal(false);
  const given = (): string => (typeof search[props.name] === 'string' ? search[props.name] : '') as string;
  const shown = (): readonly FacetRow[] => (isWhole() ? props.rows : props.rows.slice(0, shownMax));
  const whole = (): string =>
    props.rows.length < countedMax ? text.allOf(showCount(props.rows.length)) : text.mostOf(showCount(countedMax));
  const most = (): number => Math.max(1, ...props.rows.map(({ count }) => count));
  return (
    <section class="stack tight">
      <h3>{props.title}</h3>
      <div class="bars">
        <For each={shown()} fallback={<span class="muted small">{text.noneCounted}</span>}>
          {({ value, count }) => (
            <button
              type="button"
              class="bar button plain"
              aria-pressed={isChosen(props.name, value, given())}
              onClick={() => setSearch({ [props.name]: isChosen(props.name, value, given()) ? '' : value })}
            >
              <progress max={most()} value={count} aria-hidden="true" />
              <span class="truncate">
                <span class="visually-hidden">{text.only(props.title)} </span>
                <Foreign text={props.nameOf(value)} max={60} />
              </span>{' '}
              <span class="nums">{showCount(count)}</span>
            </button>
          )}
        </For>
      </div>
      <Show when={props.rows.length > shownMax}>
        <div>
          <Button look="plain" isSmall onClick={() => setWhole((is) => !is)}>
            {isWhole() ? text.fewer : whole()}
          </Button>
        </div>
      </Show>
    </section>
  );
}

export interface Counts {
  readonly query: QueryState<Counted>;
  /** false: a saved filter is chosen, which nothing counts by. */
  readonly isOffered: Accessor<boolean>;
  readonly isOpen: Accessor<boolean>;
  open(isOpen: boolean): void;
}

/** Counted once they are open, which the address says. `filters` null: there is nothing to count by. */
export function createCounts(filters: Accessor<Query<'GET /api/v1/findings/facets'> | null>): Counts {
  const [isOpen, open] = createAsked('counts');
  const query = createQuery('GET /api/v1/findings/facets', () => {
    const asked = filters();
    return isOpen() && asked !== null ? { query: asked } : null;
  });
  return { query, isOffered: () => filters() !== null, isOpen, open };
}

export function FindingFacets(props: { readonly of: Counts; readonly applications: Applications }): JSX.Element {
  // drawn open it says so once more: the address has it already
  const toggled = (isOpen: boolean): void => void (isOpen !== props.of.isOpen() && props.of.open(isOpen));
  const nameOf = (name: FacetName) => (value: string) =>
    nameOfValue[name]?.(value) ?? (name === 'application_id' ? props.applications.nameOf(value) : value);
  return (
    <Show when={props.of.isOffered()}>
      <details class="card" open={props.of.isOpen()} onToggle={(event) => toggled(event.currentTarget.open)}>
        <summary class="summary">
          {text.counts} <span class="faint">{text.countsAbout}</span>
        </summary>
        <Show when={props.of.isOpen()}>
          <Read of={props.of.query}>
            {(data) => (
              <div class="body grid grid-4">
                <For each={facets}>
                  {([name, title]) => (
                    <Facet name={name} title={title} rows={rowsOfFacet(name, data()[name])} nameOf={nameOf(name)} />
                  )}
                </For>
              </div>
            )}
          </Read>
        </Show>
      </details>
    </Show>
  );
}
