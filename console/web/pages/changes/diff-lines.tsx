import { For, Show, type JSX } from 'solid-js';
import { Foreign } from '../../kit/basics.js';
import { changesText as text } from '../../texts/changes.js';

export interface Change {
  readonly path: string;
  readonly kind: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const valueMax = 600;

/** What differs, by JSON pointer: what was, what is. */
export function DiffLines(props: { readonly changes: readonly Change[] }): JSX.Element {
  return (
    <div>
      <For each={props.changes} fallback={<span class="faint">{text.noDifferences}</span>}>
        {(change) => (
          <div class="diff-line">
            <code class="mono">
              <Foreign text={change.path} />
            </code>
            <div class="stack tight mono small">
              <Show when={change.kind !== 'added'}>
                <del>
                  − <Foreign text={shown(change.from)} max={valueMax} />
                </del>
              </Show>
              <Show when={change.kind !== 'removed'}>
                <ins>
                  + <Foreign text={shown(change.to)} max={valueMax} />
                </ins>
              </Show>
            </div>
          </div>
        )}
      </For>
    </div>
  );
}
