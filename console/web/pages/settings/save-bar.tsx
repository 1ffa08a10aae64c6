// What is typed is a draft until it is saved; what is saved protects once it is applied.
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import { Refused } from '../../client/http.js';
import { changed, discard, save } from '../../client/settings-draft.js';
import { Button } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { UnsavedGuard } from '../../kit/unsaved.js';
import { settingsText as text } from '../../texts/settings.js';

/** Saves what differs, and says what came of it. */
export function SaveBar(props: { readonly names?: readonly string[]; readonly onSaved?: () => void }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const waiting = createMemo(() => changed().filter((name) => props.names === undefined || props.names.includes(name)));
  const send = async (): Promise<void> => {
    setBusy(true);
    try {
      if (!(await save(waiting()))) return;
      tell(text.savedProtectsOnceApplied);
      props.onSaved?.();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="save-bar">
      <Show when={waiting().length > 0}>
        <div class="notice info row between wrap" role="status">
          <span>
            {text.notSaved(waiting().length)}
            <span class="mono small">{waiting().join(', ')}</span>
          </span>
          <span class="row">
            <Button onClick={() => discard(waiting())}>{text.discard}</Button>
            <Button look="primary" isBusy={isBusy()} onClick={() => void send()}>
              {text.save}
            </Button>
          </span>
        </div>
      </Show>
    </div>
  );
}

const draftPages: ReadonlySet<string> = new Set(['/waf', '/inventory/specifications']);

/** Asks before the draft of the settings is left behind; the pages that show it may be walked between. */
export function DraftGuard(): JSX.Element {
  const keeps = (path: string): boolean => path.startsWith('/admin/settings') || draftPages.has(path);
  return <UnsavedGuard isDirty={changed().length > 0} onDiscard={discard} keeps={keeps} />;
}
