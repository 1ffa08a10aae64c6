// Asks for the risk of chosen findings to be accepted; who asks does not decide.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { dayAfter, endOfDay } from '../../client/moments.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { governanceText as text } from '../../texts/vm/governance.js';

const decisions = ['accept', 'reduce', 'avoid', 'transfer'] as const;
type Decision = (typeof decisions)[number];
type AtEnd = 'resume' | 'restart';

export function RequestAcceptance(props: {
  readonly ids: readonly string[];
  readonly onDone: () => void;
}): JSX.Element {
  const [title, setTitle] = createSignal('');
  const [decision, setDecision] = createSignal<Decision>('accept');
  const [why, setWhy] = createSignal('');
  const [controls, setControls] = createSignal('');
  const [until, setUntil] = createSignal(dayAfter(Date.now(), 90));
  const [atEnd, setAtEnd] = createSignal<AtEnd>('resume');
  const action = createAction();
  const ask = async (): Promise<void> => {
    const body = {
      title: title().trim(),
      decision: decision(),
      vuln_ids: [...props.ids],
      justification: why(),
      ...(controls().trim() === '' ? {} : { compensating_controls: controls() }),
      expires_at: endOfDay(until()) ?? until(),
      on_expiry: atEnd(),
    };
    if (!(await action.run(() => call('POST /api/v1/acceptances', { body })))) return;
    tell(text.asked);
    props.onDone();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <p class="muted">{text.askedFor(props.ids.length)}</p>
      <TextField label={text.title} value={title()} onInput={setTitle} isRequired />
      <SelectField
        label={text.decision}
        value={decision()}
        options={decisions.map((word) => [word, word] as const)}
        onChange={setDecision}
      />
      <AreaField label={text.justification} help={text.justificationHelp} value={why()} onInput={setWhy} rows={3} />
      <AreaField label={text.controls} value={controls()} onInput={setControls} rows={2} />
      <TextField label={text.until} type="date" value={until()} onInput={setUntil} />
      <SelectField
        label={text.onExpiry}
        value={atEnd()}
        options={[
          ['resume', text.resume],
          ['restart', text.restart],
        ]}
        onChange={setAtEnd}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={title().trim() === '' || why().trim() === ''}
        >
          {text.ask}
        </Button>
      </div>
    </form>
  );
}
