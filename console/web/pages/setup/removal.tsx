// Removing one entry of a list in the settings, after a question.
import { createSignal, Show, type JSX } from 'solid-js';
import type { SettingsValues } from '../../client/settings-draft.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { Confirm } from '../../kit/overlays.js';
import type { EntryChange } from './entries.js';
import { createEntrySave } from './entry-save.js';

interface RemovalText {
  readonly remove: string;
  readonly removeAsk: string;
  readonly removeAbout: string;
}

export function Removal(props: {
  readonly text: RemovalText;
  readonly name: string;
  /** The note after it; absent: that the removal has to be applied. */
  readonly saved?: string;
  readonly change: (stored: SettingsValues) => EntryChange;
  readonly onRemoved: () => void;
}): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const save = createEntrySave([], props.saved);
  const remove = async (): Promise<void> => {
    if (await save.run(props.change, false)) props.onRemoved();
  };
  return (
    <div>
      <Button onClick={() => setAsking(true)}>{props.text.remove}</Button>
      <Confirm
        isOpen={isAsking()}
        title={props.text.removeAsk}
        action={props.text.remove}
        isBusy={save.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>
          <Foreign text={props.name} max={200} />
        </p>
        <p>{props.text.removeAbout}</p>
        <Show when={save.problems().rest}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </div>
  );
}
