// Fields above a list that narrow it down; what they say stands in the address, so that every view can be linked.
import { useSearchParams } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { SelectField, TextField } from '../form.js';
import type { Choices } from './choices.js';

export interface AddressFilter {
  /** Of the parameter. */
  readonly name: string;
  readonly label: string;
  /** Absent: words to look for. The first is the one for no filter, with the value ''. */
  readonly options?: () => Choices;
}

export function AddressFilters(props: { readonly of: readonly AddressFilter[] }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const value = (name: string): string => {
    const given = search[name];
    return typeof given === 'string' ? given : '';
  };
  const set = (name: string) => (chosen: string) => setSearch({ [name]: chosen }, { replace: true });
  return (
    <div class="narrow-grid" role="search">
      <For each={props.of}>
        {({ name, label, options }) => (
          <Show
            when={options}
            fallback={<TextField type="search" label={label} value={value(name)} onInput={set(name)} />}
          >
            {(choices) => <SelectField label={label} value={value(name)} options={choices()()} onChange={set(name)} />}
          </Show>
        )}
      </For>
    </div>
  );
}
