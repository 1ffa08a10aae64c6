// Why a component is there: the ways that lead to it.
import { For, Show, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { Card, Foreign } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { sbomsText as text } from '../../texts/vm/sources/sboms.js';

export function Why(props: { readonly id: string }): JSX.Element {
  const found = createQuery('GET /api/v1/sca/components/{id}/paths', () => ({ params: { id: props.id } }));
  return (
    <Card title={text.why}>
      <Read of={found}>
        {(answer) => (
          <For each={answer().items} fallback={<p class="muted small">{text.whyNone}</p>}>
            {(bill) => (
              <div class="stack tight">
                <Show when={bill.has_graph} fallback={<p class="muted small">{text.noGraph}</p>}>
                  <ul class="code">
                    <For each={bill.paths}>
                      {(way) => (
                        <li>
                          <Foreign
                            text={way.map(({ name, version }) => [name, version].filter(Boolean).join(' ')).join(' → ')}
                            max={500}
                          />
                        </li>
                      )}
                    </For>
                  </ul>
                </Show>
                <Show when={bill.is_cut}>
                  <p class="muted small">{text.more}</p>
                </Show>
              </div>
            )}
          </For>
        )}
      </Read>
    </Card>
  );
}
