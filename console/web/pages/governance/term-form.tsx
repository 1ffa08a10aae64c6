// A reason and a number of days: what stops a clock, gives an acceptance a later end, or waives a violation.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { Button, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { termsText as text } from '../../texts/vm/records/terms.js';

const dayMs = 86_400_000;

export function TermForm(props: {
  readonly label: string;
  readonly about?: string;
  /** Days may be left out. */
  readonly isOpenEnded?: boolean;
  readonly days?: number;
  /** `until`: null where no days are given. */
  readonly send: (reason: string, until: string | null) => Promise<unknown>;
  readonly onDone: () => void;
}): JSX.Element {
  const [reason, setReason] = createSignal('');
  const [days, setDays] = createSignal(props.days === undefined ? '' : String(props.days));
  const action = createAction();
  const isNumber = (): boolean => /^[1-9]\d{0,3}$/.test(days());
  const isReady = (): boolean =>
    reason().trim() !== '' && (isNumber() || (props.isOpenEnded === true && days() === ''));
  const send = async (): Promise<void> => {
    const until = isNumber() ? new Date(Date.now() + Number(days()) * dayMs).toISOString() : null;
    if (await action.run(() => props.send(reason().trim(), until))) props.onDone();
  };
  return (
    <div class="stack tight">
      <Show when={props.about}>{(words) => <p class="muted small">{words()}</p>}</Show>
      <TextField label={text.reason} value={reason()} onInput={setReason} />
      <TextField label={text.days} type="number" value={days()} onInput={setDays} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button isSmall isBusy={action.isBusy()} disabled={!isReady()} onClick={() => void send()}>
          {props.label}
        </Button>
      </div>
    </div>
  );
}
