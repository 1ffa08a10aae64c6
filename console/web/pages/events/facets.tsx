// Facets: what the events of the whole range have in common, counted by the control plane. A click filters, another one
// takes the filter away.
import { useSearchParams } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { Foreign, Notice } from '../../kit/basics.js';
import type { Filters } from '../../kit/filter-bar.js';
import { workbenchText as text } from '../../texts/events/workbench.js';

type Stats = Reply<'GET /api/events/stats'>;
type FacetName = keyof Stats['facets'];

const order = Object.keys(text.facets) as FacetName[];
const shownMax = 8;

export function Facets(props: { readonly of: Stats; readonly filters: Filters }): JSX.Element {
  const [, setSearch] = useSearchParams();
  const shown = (): readonly FacetName[] => order.filter((name) => props.of.facets[name].values.length > 0);
  const mostOf = (name: FacetName): number => props.of.facets[name].values[0]?.n ?? 1;
  const isChosen = (name: FacetName, value: string): boolean => props.filters[name] === value;
  return (
    <>
      <For each={props.of.notices}>{(notice) => <Notice tone="warn" title={notice} />}</For>
      <For each={props.of.locations}>
        {({ notice }) => <Show when={notice}>{(said) => <Notice tone="warn" title={said()} />}</Show>}
      </For>
      <Show when={shown().length > 0}>
        <details class="card">
          <summary class="summary">{text.facetsTitle}</summary>
          <div class="body grid-4 facets">
            <For each={shown()}>
              {(name) => (
                <section class="stack tight">
                  <h3>
                    {text.facets[name]}
                    <Show when={props.of.facets[name].is_estimate}>
                      <span class="small faint" title={text.estimateAbout}>
                        {' '}
                        {text.estimate}
                      </span>
                    </Show>
                  </h3>
                  <div class="bars">
                    <For each={props.of.facets[name].values.slice(0, shownMax)}>
                      {({ value, n, name: called }) => (
                        <button
                          type="button"
                          class="bar button plain"
                          aria-pressed={isChosen(name, value)}
                          aria-label={text.onlyEvents(text.facets[name], called ?? value, n)}
                          onClick={() => setSearch({ [name]: isChosen(name, value) ? '' : value })}
                        >
                          <progress max={mostOf(name)} value={n} aria-hidden="true" />
                          <span class="truncate">
                            <Show
                              when={called}
                              fallback={
                                <span class="mono">
                                  <Foreign text={value} max={60} />
                                </span>
                              }
                            >
                              {(given) => given()}
                            </Show>
                          </span>
                          <span class="nums">{showCount(n)}</span>
                        </button>
                      )}
                    </For>
                  </div>
                </section>
              )}
            </For>
          </div>
        </details>
      </Show>
    </>
  );
}
