// A drawing of who sends what to whom. It keeps its size, so that its words can be read, and is scrolled where it is
// larger than its frame; the table beside it says the same.
import { For, type JSX } from 'solid-js';
import { visiblePieces } from '../../kit/visible-text.js';
import type { Drawing } from './hop-layout.js';

/** Within a drawing there is no markup for odd characters: their names stand in the text. */
const visible = (text: string): string =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('');

export function Picture(props: {
  readonly of: Drawing;
  readonly label: string;
  /** What an arrow between two says. */
  readonly says: (from: string, to: string) => string;
}): JSX.Element {
  return (
    <div class="picture-frame" role="group" tabindex="0" aria-label={props.label}>
      <svg
        class="hop-picture"
        width={props.of.width}
        height={props.of.height}
        viewBox={`0 0 ${props.of.width} ${props.of.height}`}
        role="img"
        aria-label={props.label}
      >
        <For each={props.of.edges}>
          {(edge) => (
            <path class={edge.isOpen ? 'edge is-open' : 'edge'} d={edge.path}>
              <title>{visible(props.says(edge.from, edge.to))}</title>
            </path>
          )}
        </For>
        <For each={props.of.nodes}>
          {(node) => (
            <g transform={`translate(${node.x} ${node.y})`}>
              <rect class={node.isOpen ? 'node is-open' : 'node'} width={node.width} height={node.height} rx="6" />
              <text x={node.width / 2} y={node.height / 2 + 4} text-anchor="middle">
                {visible(node.label)}
              </text>
              <title>{visible(node.name)}</title>
            </g>
          )}
        </For>
      </svg>
    </div>
  );
}
