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
const linesMax = 60;

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** A value as lines: of an object, or a list of some, each member that says something, with its name. */
function linesOf(value: unknown, name = ''): string[] {
  const isList = Array.isArray(value) && value.some((one) => typeof one === 'object' && one !== null);
  if (typeof value !== 'object' || value === null || (Array.isArray(value) && !isList))
    return [name === '' ? shown(value) : `${name}: ${shown(value)}`];
  return Object.entries(value).flatMap(([member, inner]) =>
    isEmpty(inner) ? [] : linesOf(inner, name === '' ? member : `${name}.${member}`),
  );
}

/** The lines of both sides without those that are the same in both. */
function sidesOf({ kind, from, to }: Change): { readonly gone: string[]; readonly come: string[] } {
  const [before, after] = [kind === 'added' ? [] : linesOf(from), kind === 'removed' ? [] : linesOf(to)];
  const gone = before.filter((line) => !after.includes(line));
  const come = after.filter((line) => !before.includes(line));
  if (gone.length + come.length === 0) return { gone: before.slice(0, linesMax), come: after.slice(0, linesMax) };
  return { gone: gone.slice(0, linesMax), come: come.slice(0, linesMax) };
}

function Lines(props: { readonly sign: string; readonly of: readonly string[] }): JSX.Element {
  return (
    <For each={props.of}>
      {(line) => (
        <div>
          {props.sign} <Foreign text={line} max={valueMax} />
        </div>
      )}
    </For>
  );
}

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
                  <Lines sign="−" of={sidesOf(change).gone} />
                </del>
              </Show>
              <Show when={change.kind !== 'removed'}>
                <ins>
                  <Lines sign="+" of={sidesOf(change).come} />
                </ins>
              </Show>
            </div>
          </div>
        )}
      </For>
    </div>
  );
}
