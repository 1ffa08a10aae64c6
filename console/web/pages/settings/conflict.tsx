import { For, type JSX } from 'solid-js';
import { conflicts, leaveConflicts, resolveConflicts } from '../../client/settings-draft.js';
import { Button } from '../../kit/basics.js';
import { Overlay, tellProblem } from '../../kit/overlays.js';
import { settingsText as text } from '../../texts/settings.js';

/** Two people changed the same setting: both values side by side, and nothing is overwritten without a choice. */
export function ConflictDialog(): JSX.Element {
  const choose = (keep: 'mine' | 'theirs'): void => void resolveConflicts(keep).catch(tellProblem);
  return (
    <Overlay
      isOpen={conflicts().length > 0}
      look="wide"
      title={text.somebodyElseSavedMeanwhile}
      onClose={leaveConflicts}
      footer={
        <>
          <Button onClick={() => choose('theirs')}>{text.keepTheirs}</Button>
          <Button look="primary" onClick={() => choose('mine')}>
            {text.saveMineOver}
          </Button>
        </>
      }
    >
      <For each={conflicts()}>
        {(one) => (
          <div class="stack tight">
            <h3 class="mono">{one.name}</h3>
            <div class="grid-2">
              <div>
                <span class="faint small">{text.theirsSaved}</span>
                <pre class="code">{JSON.stringify(one.theirs, null, 2)}</pre>
              </div>
              <div>
                <span class="faint small">{text.mine}</span>
                <pre class="code">{JSON.stringify(one.mine, null, 2)}</pre>
              </div>
            </div>
          </div>
        )}
      </For>
    </Overlay>
  );
}
