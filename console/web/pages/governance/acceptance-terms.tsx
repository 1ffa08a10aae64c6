// What may be changed of an acceptance: a later end by a person who decides; or it is taken back before a decision.
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { termsText as text } from '../../texts/vm/records/terms.js';
import { TermForm } from './term-form.js';

type Acceptance = Item<'GET /api/v1/acceptances'>;

export function AcceptanceTerms(props: {
  readonly of: Acceptance;
  readonly mayExtend: boolean;
  readonly mayWithdraw: boolean;
  readonly onDone: () => void;
}): JSX.Element {
  const action = createAction();
  const params = (): { id: string } => ({ id: props.of.id });
  const withdraw = async (): Promise<void> => {
    if (await action.run(() => call('DELETE /api/v1/acceptances/{id}', { params: params() }))) props.onDone();
  };
  return (
    <section class="stack tight">
      <Show when={props.mayExtend && props.of.status === 'approved'}>
        <h3>{text.extend}</h3>
        <TermForm
          label={text.extend}
          days={90}
          send={(reason, until) =>
            call('POST /api/v1/acceptances/{id}/extend', {
              params: params(),
              body: { reason, expires_at: until ?? props.of.expires_at },
            })
          }
          onDone={props.onDone}
        />
      </Show>
      <Show when={props.mayWithdraw && props.of.status === 'pending'}>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button isSmall isBusy={action.isBusy()} onClick={() => void withdraw()}>
            {text.withdraw}
          </Button>
        </div>
      </Show>
    </section>
  );
}
