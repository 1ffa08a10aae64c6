// An import that was a mistake is taken back, as long as none of the same scope came after it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';
import { Button, Notice } from '../../../kit/basics.js';
import { Confirm, tell } from '../../../kit/overlays.js';
import { assetsText as text } from '../../../texts/vm/assets.js';

export function ImportUndo(props: { readonly id: string; readonly onUndone: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const undo = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const done = await call('POST /api/v1/imports/{id}/rollback', { params: { id: props.id } });
      const numbers = [done.sightings_removed, done.findings_deleted, done.findings_reopened].map(showCount);
      tell(text.rolledBack(numbers[0], numbers[1], numbers[2]));
    });
    if (!isDone) return;
    setAsking(false);
    props.onUndone();
  };
  return (
    <>
      <div>
        <Button onClick={() => setAsking(true)}>{text.rollback}</Button>
      </div>
      <Confirm
        isOpen={isAsking()}
        title={text.rollbackTitle}
        action={text.rollback}
        isBusy={action.isBusy()}
        onConfirm={() => void undo()}
        onClose={() => setAsking(false)}
      >
        <p>{text.rollbackAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
