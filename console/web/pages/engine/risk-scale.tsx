// A risk on the ladder: where each verdict begins, and where the client stands.
import { For, type JSX } from 'solid-js';
import { verdictText as text } from '../../texts/engine/verdict.js';

export interface Ladder {
  readonly RATE_LIMIT: number;
  readonly CHALLENGE: number;
  readonly BLOCK: number;
}

/** T, T − 20 and T − 35, the lower two never below 1 (docs/detection-engine.md). */
export const ladderOf = (threshold: number): Ladder => ({
  BLOCK: threshold,
  CHALLENGE: Math.max(1, threshold - 20),
  RATE_LIMIT: Math.max(1, threshold - 35),
});

export function RiskScale(props: { readonly risk: number; readonly ladder: Ladder }): JSX.Element {
  const parts = (): readonly (readonly [name: string, from: number, to: number])[] => [
    ['allow', 0, props.ladder.RATE_LIMIT],
    ['rate', props.ladder.RATE_LIMIT, props.ladder.CHALLENGE],
    ['challenge', props.ladder.CHALLENGE, props.ladder.BLOCK],
    ['block', props.ladder.BLOCK, 100],
  ];
  const says = (): string =>
    text.scale(props.risk, props.ladder.RATE_LIMIT, props.ladder.CHALLENGE, props.ladder.BLOCK);
  return (
    <svg class="risk-scale" width="100%" height="34" role="img" aria-label={says()}>
      <For each={parts()}>
        {([name, from, to]) => (
          <rect class={`is-${name}`} x={`${from}%`} y="4" width={`${Math.max(0, to - from)}%`} height="10" />
        )}
      </For>
      <For each={parts().slice(1)}>
        {([, from]) => (
          <text x={`${from}%`} y="29" text-anchor="middle">
            {from}
          </text>
        )}
      </For>
      <rect class="is-risk" x={`${Math.min(99.2, props.risk)}%`} y="0" width="4" height="18" rx="2" />
    </svg>
  );
}
