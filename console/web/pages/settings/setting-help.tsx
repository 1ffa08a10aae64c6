// Below a field: what the setting does, and in one muted line its range and its default.
import { For, Show, type JSX } from 'solid-js';
import { boundsOf } from './bounds.js';
import type { SettingSchema } from './schema.js';

/** Descriptions set names in backticks, as documentation does: the names are set as code. */
export function Described(props: { readonly text: string }): JSX.Element {
  return <For each={props.text.split('`')}>{(part, at) => (at() % 2 === 0 ? part : <code>{part}</code>)}</For>;
}

export function helpOf(schema: SettingSchema): JSX.Element {
  return (
    <>
      <Described text={schema.description ?? ''} />
      <Show when={boundsOf(schema)}>{(bounds) => <span class="faint bounds">{bounds()}</span>}</Show>
    </>
  );
}
