// Which sections a pack has: all that the caller may read, unless some are left out. About one application there are
// fewer.
import { createSignal, For, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';

type Name = Item<'GET /api/v1/evidence/sections'>['name'];

export function createSections(isOfOne: () => boolean) {
  const known = createQuery('GET /api/v1/evidence/sections');
  const [left, setLeft] = createSignal<readonly Name[]>([]);
  const all = () => (known.data()?.items ?? []).filter((one) => one.of_application || !isOfOne());
  return {
    all,
    isIn: (name: Name): boolean => !left().includes(name),
    choose: (name: Name, isIn: boolean): void =>
      void setLeft((names) => [...names.filter((one) => one !== name), ...(isIn ? [] : [name])]),
    /** null: none is left out, and the server takes those that the caller may read. */
    chosen: (): Name[] | null =>
      left().length === 0 ? null : all().flatMap(({ name }) => (left().includes(name) ? [] : [name])),
  };
}

export function Sections(props: { readonly of: ReturnType<typeof createSections> }): JSX.Element {
  return (
    <details>
      <summary>{text.sections}</summary>
      <div class="grid-3">
        <For each={props.of.all()}>
          {({ name, title, about }) => (
            <label class="choice">
              <input
                type="checkbox"
                checked={props.of.isIn(name)}
                onChange={(event) => props.of.choose(name, event.currentTarget.checked)}
              />
              <span>
                {title}
                <span class="help sentence">{about}</span>
              </span>
            </label>
          )}
        </For>
      </div>
    </details>
  );
}
