// Asks for the risk of chosen findings, or of a vulnerability everywhere, to be accepted; who asks does not decide.
import { createSignal, Show, type JSX } from 'solid-js';
import { call } from '../../client/http.js';
import { dayAfter, endOfDay } from '../../client/moments.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { EntryForm } from '../../kit/resource/entry-form.js';
import { governanceText as text } from '../../texts/vm/governance.js';

const decisions = ['accept', 'reduce', 'avoid', 'transfer'] as const;
type Decision = (typeof decisions)[number];
type AtEnd = 'resume' | 'restart';

export function RequestAcceptance(props: {
  /** Findings; absent: a vulnerability by its name, which is typed. */
  readonly ids?: readonly string[];
  readonly onDone: () => void;
}): JSX.Element {
  const [cve, setCve] = createSignal('');
  const [title, setTitle] = createSignal('');
  const [decision, setDecision] = createSignal<Decision>('accept');
  const [why, setWhy] = createSignal('');
  const [controls, setControls] = createSignal('');
  const [until, setUntil] = createSignal(dayAfter(Date.now(), 90));
  const [atEnd, setAtEnd] = createSignal<AtEnd>('resume');
  const isNamed = (): boolean => props.ids !== undefined || /^[A-Za-z0-9][A-Za-z0-9._:-]{2,59}$/.test(cve().trim());
  const ask = async (): Promise<void> => {
    const body = {
      title: title().trim(),
      decision: decision(),
      ...(props.ids === undefined ? { cve: cve().trim() } : { vuln_ids: [...props.ids] }),
      justification: why(),
      ...(controls().trim() === '' ? {} : { compensating_controls: controls() }),
      expires_at: endOfDay(until()) ?? until(),
      on_expiry: atEnd(),
    };
    const { left_out_total: leftOut } = await call('POST /api/v1/acceptances', { body });
    tell(leftOut > 0 ? text.askedBut(leftOut) : text.asked);
  };
  return (
    <EntryForm
      label={text.ask}
      isWhole={isNamed() && title().trim() !== '' && why().trim() !== ''}
      send={ask}
      onDone={props.onDone}
    >
      <Show
        when={props.ids}
        fallback={
          <TextField
            label={text.vulnerability}
            value={cve()}
            onInput={setCve}
            placeholder={text.vulnerabilityExample}
            help={text.vulnerabilityHelp}
            isRequired
          />
        }
      >
        {(ids) => <p class="muted">{text.askedFor(ids().length)}</p>}
      </Show>
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
    </EntryForm>
  );
}
