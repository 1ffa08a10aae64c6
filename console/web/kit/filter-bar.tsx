// Filters that live in the address: every view can be linked, and the back button takes a filter away again. A filter
// is typed as `name:value`; anything else is looked for in the URI.
import { useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, For, Show, type Accessor, type JSX } from 'solid-js';
import { Button, Foreign } from './basics.js';
import { Icon } from './icons.js';
import { tell } from './overlays.js';
import { kitText as words } from '../texts/kit.js';

export interface FilterBarProps {
  /** Names that may be filtered by. */
  readonly names: readonly string[];
  readonly placeholder: string;
  /** Of a value that stands in the address by its number; null: as it stands there. */
  readonly nameOf?: (name: string, value: string) => string | null;
}

export type Filters = Readonly<Record<string, string>>;

/** The filters of the address, without other parameters. */
export function useFilters(names: readonly string[]): Accessor<Filters> {
  const [search] = useSearchParams();
  return createMemo(() =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ),
  );
}

export function FilterBar(props: FilterBarProps): JSX.Element {
  const [, setSearch] = useSearchParams();
  const filters = useFilters(props.names);
  const [text, setText] = createSignal('');
  const add = (): void => {
    const typed = text().trim();
    if (typed === '') return;
    const [, name, value] = /^([a-z_]+):(.+)$/.exec(typed) ?? [null, 'q', typed];
    if (name === undefined || value === undefined || !props.names.includes(name)) {
      tell(words.thereNoFilterFilters(name, props.names.join(', ')), true);
      return;
    }
    setSearch({ [name]: value.trim() });
    setText('');
  };
  return (
    <div class="filters" role="search">
      <input
        class="input filter-input"
        aria-label={words.filter}
        placeholder={props.placeholder}
        value={text()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add();
        }}
      />
      <For each={Object.entries(filters())}>
        {([name, value]) => (
          <span class="filter-chip">
            <span class="faint">{name}</span> <Foreign text={props.nameOf?.(name, value) ?? value} max={60} />
            <Button
              look="plain"
              isSmall
              aria-label={words.removeFilter(name)}
              onClick={() => setSearch({ [name]: '' })}
            >
              <Icon name="close" />
            </Button>
          </span>
        )}
      </For>
      <Show when={Object.keys(filters()).length > 1}>
        <Button
          look="plain"
          isSmall
          onClick={() => setSearch(Object.fromEntries(props.names.map((name) => [name, ''])))}
        >
          {words.clear}
        </Button>
      </Show>
    </div>
  );
}
