// A report goes out as the attachment of mails.
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Item } from '../../../client/http.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { Overlay, tell } from '../../../kit/overlays.js';
import { reportsText as text } from '../../../texts/vm/records/reports.js';
import { createReceivers, ReceiverFields } from './receivers.js';

export type Report = Item<'GET /api/v1/reports'>;

function SendForm(props: { readonly of: Report; readonly onSent: () => void }): JSX.Element {
  const receivers = createReceivers();
  const action = createAction();
  const send = async (): Promise<void> => {
    let count = 0;
    const isDone = await action.run(async () => {
      const options = { params: { id: props.of.id }, body: receivers.body() };
      count = (await call('POST /api/v1/reports/{id}/send', options)).items.length;
    });
    if (!isDone) return;
    tell(text.queued(String(count)));
    props.onSent();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <p>
        <Foreign text={props.of.title} max={200} />
      </p>
      <p class="muted">{text.sendAbout}</p>
      <ReceiverFields of={receivers} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={!receivers.isReady()}>
          {text.send}
        </Button>
      </div>
    </form>
  );
}

export function SendReport(props: {
  readonly of: Report | null;
  readonly onClose: () => void;
  readonly onSent: () => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.of !== null} title={text.sendTitle} onClose={props.onClose}>
      <Show when={props.of}>{(report) => <SendForm of={report()} onSent={props.onSent} />}</Show>
    </Overlay>
  );
}
