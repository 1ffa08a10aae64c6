// Below a row that stands for another system: a button that sends it something real, and what came of it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { Button, Foreign, Notice } from '../basics.js';

interface Outcome {
  readonly ok: boolean;
  readonly detail: string;
}

export function ReceiverTest<R extends Outcome>(props: {
  readonly label: string;
  readonly send: () => Promise<R>;
  readonly titleOf: (outcome: R) => string;
  /** As `more` of a resource has it. */
  readonly keep: (stored: Promise<boolean>) => void;
}): JSX.Element {
  const [outcome, setOutcome] = createSignal<R | null>(null);
  const action = createAction();
  const run = (): Promise<boolean> =>
    action.run(async () => {
      const answer = await props.send();
      setOutcome(() => answer);
    });
  return (
    <section class="stack tight">
      <div>
        <Button isBusy={action.isBusy()} onClick={() => props.keep(run())}>
          {props.label}
        </Button>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={outcome()}>
        {(given) => (
          <Notice tone={given().ok ? 'good' : 'danger'} title={props.titleOf(given())}>
            <Foreign text={given().detail} max={500} />
          </Notice>
        )}
      </Show>
    </section>
  );
}
