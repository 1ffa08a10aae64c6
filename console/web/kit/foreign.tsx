// Texts of others on the page: always text, with what would not show made visible.
import { For, type JSX } from 'solid-js';
import { visiblePieces } from './visible-text.js';

/** A word that is longer than this would push what stands beside it out of sight: it is broken. */
const longWord = /\S{48}/;

/** Whatever somebody else wrote: always text, with what would not show made visible. */
export function Foreign(props: { readonly text: string | null | undefined; readonly max?: number }): JSX.Element {
  const cut = (): string => {
    const text = props.text ?? '';
    return props.max !== undefined && text.length > props.max ? `${text.slice(0, props.max)}…` : text;
  };
  return (
    <bdi class={longWord.test(cut()) ? 'breaks' : undefined}>
      <For each={visiblePieces(cut())}>
        {(piece) => (piece.isOdd ? <span class="odd-byte">{piece.text}</span> : <>{piece.text}</>)}
      </For>
    </bdi>
  );
}

/**
 * A text of several lines, as a person wrote it or as JSON is laid out: its line breaks are breaks, and everything else
 * that would not show is named. Each line stands alone, so that none turns its neighbours round.
 */
export function ForeignLines(props: { readonly text: string | null | undefined; readonly max: number }): JSX.Element {
  const lines = (): readonly string[] => {
    const text = props.text ?? '';
    return (text.length > props.max ? `${text.slice(0, props.max)}…` : text).split(/\r?\n/);
  };
  return (
    <span class="lines">
      <For each={lines()}>
        {(line, index) => (
          <>
            {index() === 0 ? '' : '\n'}
            <Foreign text={line} />
          </>
        )}
      </For>
    </span>
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
