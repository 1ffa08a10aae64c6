// The switch for all scans: what it says, and for those who may start scans the way to press it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import type { QueryState } from '../../../client/query.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { TextField } from '../../../kit/form.js';
import { Confirm } from '../../../kit/overlays.js';
import { Unread } from '../../../kit/page-state.js';
import { activeText as text } from '../../../texts/vm/sources/active-scans.js';

export function Halt(props: {
  readonly of: QueryState<Reply<'GET /api/v1/scan-switch'>>;
  readonly mayPress: boolean;
  readonly onPressed: () => void;
}): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const [reason, setReason] = createSignal('');
  const action = createAction();
  const isHalted = (): boolean => props.of.data()?.halted === true;
  const press = async (halted: boolean, why: string): Promise<void> => {
    const isDone = await action.run(() => call('PUT /api/v1/scan-switch', { body: { halted, reason: why } }));
    setAsking(false);
    if (isDone) props.onPressed();
  };
  return (
    <>
      <Show when={isHalted()}>
        <Notice tone="danger" title={text.switchOn}>
          <p>
            <Foreign text={text.switchBy(props.of.data()?.changed_by ?? '', props.of.data()?.reason ?? '')} max={600} />
          </p>
          <Show when={props.mayPress}>
            <Button isBusy={action.isBusy()} onClick={() => void press(false, text.letRunReason)}>
              {text.letRun}
            </Button>
          </Show>
        </Notice>
      </Show>
      <Show when={props.of.problem()}>
        {(found) => <Unread problem={found().message} retry={() => props.of.reload()} />}
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={props.mayPress && props.of.data()?.halted === false}>
        <div>
          <Button look="danger" icon="ban" onClick={() => setAsking(true)}>
            {text.stopAll}
          </Button>
        </div>
      </Show>
      <Confirm
        isOpen={isAsking()}
        title={text.stopAllTitle}
        action={text.stopAll}
        isBusy={action.isBusy()}
        onConfirm={() => void press(true, reason().trim() || text.stopAll)}
        onClose={() => setAsking(false)}
      >
        <div class="stack">
          <p>{text.stopAllAbout}</p>
          <TextField label={text.reason} value={reason()} onInput={setReason} />
        </div>
      </Confirm>
    </>
  );
}
