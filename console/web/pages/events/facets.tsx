// What stands out among the events that are shown: a click narrows the list to it.
import { useSearchParams } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { Foreign } from '../../kit/basics.js';
import { visibleText } from '../../kit/visible-text.js';
import { messageOfRule, type EventDetails } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { eventsText as text } from '../../texts/events.js';

const facets = [
  ['rule_id', text.rules],
  ['client_ip', text.clients],
  ['site', text.sites],
  ['verdict', text.verdicts],
] as const;
const shownMax = 5;
const readMax = 2000;

export function Facets(props: { readonly events: readonly SecurityEvent[] }): JSX.Element {
  const [, setSearch] = useSearchParams();
  const read = createMemo(() => props.events.slice(0, readMax));
  const messages = createMemo(() => {
    const known = new Map<number, string>();
    for (const { rule_id: id, details } of read())
      if (id !== null && !known.get(id)) known.set(id, messageOfRule(id, (details ?? {}) as EventDetails));
    return known;
  });
  const counted = createMemo(() =>
    facets.map(([name, title]) => {
      const counts = new Map<string, number>();
      for (const event of read()) {
        const value = event[name];
        if (value !== null) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
      }
      const about = (value: string): string => (name === 'rule_id' ? (messages().get(Number(value)) ?? '') : '');
      const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, shownMax);
      return { name, title, rows, about, most: rows[0]?.[1] ?? 1 };
    }),
  );
  return (
    <Show when={props.events.length > 0}>
      <details class="card">
        <summary class="summary">
          {text.whatStandsOut}
          <span class="faint">{text.amongTheNewestShownOf(showCount(read().length))}</span>
        </summary>
        <div class="body grid-4">
          <For each={counted()}>
            {(facet) => (
              <div class="stack tight">
                <h3>{facet.title}</h3>
                <div class="bars">
                  <For each={facet.rows}>
                    {([value, count]) => (
                      <button
                        type="button"
                        class="bar button plain"
                        onClick={() => setSearch({ [facet.name]: value })}
                        aria-label={text.onlyEvents(facet.title.toLowerCase(), value, count)}
                      >
                        <progress max={facet.most} value={count} aria-hidden="true" />
                        <span class="truncate" title={visibleText(facet.about(value))}>
                          <span class="mono">
                            <Foreign text={value} max={40} />
                          </span>{' '}
                          <span class="faint">
                            <Foreign text={facet.about(value)} max={80} />
                          </span>
                        </span>
                        <span class="nums">{count}</span>
                      </button>
                    )}
                  </For>
                </div>
              </div>
            )}
          </For>
        </div>
      </details>
    </Show>
  );
}
