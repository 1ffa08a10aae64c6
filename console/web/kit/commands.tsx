// Our own texts that quote commands: what stands between backticks is set as code. Never for texts of others.
import { For, type JSX } from 'solid-js';

export function WithCommands(props: { readonly text: string }): JSX.Element {
  return (
    <For each={props.text.split('`')}>
      {(piece, index) => (index() % 2 === 1 ? <code>{piece}</code> : <>{piece}</>)}
    </For>
  );
}
