// Texts of others on the page: always text, with what would not show made visible.
import { For, type JSX } from 'solid-js';
import { visiblePieces } from './visible-text.js';

/** Whatever somebody else wrote: always text, with what would not show made visible. */
export function Foreign(props: { readonly text: string | null | undefined; readonly max?: number }): JSX.Element {
  const cut = (): string => {
    const text = props.text ?? '';
    return props.max !== undefined && text.length > props.max ? `${text.slice(0, props.max)}…` : text;
  };
  return (
    <bdi>
      <For each={visiblePieces(cut())}>
        {(piece) => (piece.isOdd ? <span class="odd-byte">{piece.text}</span> : <>{piece.text}</>)}
      </For>
    </bdi>
  );
}

/**
 * What a component was handed, with odd characters of its strings named: names, reasons and refusals quote what others
 * wrote, wherever they are shown.
 */
export function told(shown: JSX.Element): JSX.Element {
  if (Array.isArray(shown)) return shown.map(told);
  if (typeof shown !== 'string' || !visiblePieces(shown).some(({ isOdd }) => isOdd)) return shown;
  return <Foreign text={shown} />;
}
