// Has a finding explained, on request.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Button, Notice } from '../../kit/basics.js';
import { assistantText as text } from '../../texts/vm/models/assistant.js';
import { AnswerView, type Answer } from './answer.js';

/** Nothing is shown while the assistant is switched off. */
export function ExplainFinding(props: { readonly id: string }): JSX.Element {
  const status = createQuery('GET /api/v1/assistant/status');
  const [told, setTold] = createSignal<Answer | null>(null);
  const action = createAction();
  const ask = (): Promise<boolean> =>
    action.run(async () => {
      setTold(await call('POST /api/v1/assistant/explain-finding', { body: { vuln_id: props.id } }));
    });
  return (
    <Show when={status.data()?.enabled === true && status.data()?.may_ask === true}>
      <section class="stack tight">
        <div>
          <Button isBusy={action.isBusy()} onClick={() => void ask()}>
            {text.explain}
          </Button>
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={told()}>{(answer) => <AnswerView of={answer()} />}</Show>
      </section>
    </Show>
  );
}
