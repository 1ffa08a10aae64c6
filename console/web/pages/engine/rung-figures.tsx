// How many clients and principals have which verdict now; each number opens them.
import { For, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { Figure } from '../../kit/basics.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { rungs, type Rung } from './words.js';

type Soc = Reply<'GET /api/ai/soc'>;

/** From which risk on a verdict holds. */
function reachOf(rung: Rung, { ladder }: Soc): string {
  return rung === 'ALLOW' ? text.below(ladder.RATE_LIMIT) : text.fromRisk(ladder[rung]);
}

export function RungFigures(props: { readonly of: Soc }): JSX.Element {
  return (
    <For each={rungs}>
      {(rung) => (
        <Figure
          label={text.figureOf(text.rungs[rung])}
          value={showCount(props.of.rungs[rung] + props.of.principal_rungs[rung])}
          note={reachOf(rung, props.of)}
          href={`/engine?rung=${rung}`}
        />
      )}
    </For>
  );
}
