// The clock of a finding: stopped with a reason, and let run again.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { Button, Notice } from '../../../kit/basics.js';
import { termsText as text } from '../../../texts/vm/records/terms.js';
import { TermForm } from '../../governance/term-form.js';

export function FindingClock(props: {
  readonly id: string;
  /** As `sla.state` has it. */
  readonly state: string;
  readonly onChanged: () => void;
}): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const params = (): { id: string } => ({ id: props.id });
  const done = (): void => {
    setAsking(false);
    props.onChanged();
  };
  const resume = async (): Promise<void> => {
    if (await action.run(() => call('POST /api/v1/sla/clocks/{id}/resume', { params: params(), body: {} }))) done();
  };
  return (
    <section class="stack tight">
      <h3>{text.clock}</h3>
      <div>
        <Show
          when={props.state === 'paused'}
          fallback={
            <Button isSmall onClick={() => setAsking((is) => !is)}>
              {text.pause}
            </Button>
          }
        >
          <Button isSmall isBusy={action.isBusy()} onClick={() => void resume()}>
            {text.resume}
          </Button>
        </Show>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={isAsking()}>
        <TermForm
          label={text.pause}
          about={text.pauseAbout}
          isOpenEnded
          send={(reason, until) =>
            call('POST /api/v1/sla/clocks/{id}/pause', {
              params: params(),
              body: { reason, ...(until === null ? {} : { until }) },
            })
          }
          onDone={done}
        />
      </Show>
    </section>
  );
}
