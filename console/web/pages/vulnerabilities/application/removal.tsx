// The end of an application, with its findings where somebody says so.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { Switch } from '../../../kit/form.js';
import { Confirm, tell } from '../../../kit/overlays.js';
import { assetsText as text } from '../../../texts/vm/assets.js';
import type { Application } from '../words.js';

export function Removal(props: { readonly of: Application; readonly onRemoved: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const [isPurge, setPurge] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    const options = { params: { id: props.of.id }, query: isPurge() ? { purge: true } : {} };
    if (!(await action.run(() => call('DELETE /api/v1/applications/{id}', options)))) return;
    tell(text.removed);
    props.onRemoved();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.remove}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.removeTitle}
        action={text.remove}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>
          <Foreign text={props.of.name} max={200} />
        </p>
        <p>{text.removeAbout}</p>
        <Switch label={text.withFindings} isOn={isPurge()} onChange={setPurge} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
