// Somebody knows better than the formula: the risk of a finding is set by hand, with a reason and perhaps a day on
// which that ends.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { endOfDay } from '../../../client/moments.js';
import { Button, Notice } from '../../../kit/basics.js';
import { AreaField, TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { findingsText as text } from '../../../texts/vm/findings.js';

/** A whole number from 0 to 100; null: it is none. */
function riskIn(written: string): number | null {
  const value = Number(written);
  return written.trim() !== '' && Number.isInteger(value) && value >= 0 && value <= 100 ? value : null;
}

export function RiskOverride(props: {
  readonly id: string;
  /** What it is set to; null: the formula's counts. */
  readonly byHand: number | null;
  readonly onChanged: () => void;
}): JSX.Element {
  const [risk, setRisk] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [until, setUntil] = createSignal('');
  const action = createAction();
  const save = async (to: number | null): Promise<void> => {
    const end = until() === '' || to === null ? undefined : endOfDay(until());
    const body = { risk: to, reason: reason().trim(), ...(end === undefined ? {} : { until: end }) };
    const put = () => call('PUT /api/v1/vulnerabilities/{id}/risk-override', { params: { id: props.id }, body });
    if (!(await action.run(put))) return;
    tell(to === null ? text.riskTakenBack : text.riskSet(to));
    setRisk('');
    setReason('');
    props.onChanged();
  };
  const isWrong = (): boolean => risk().trim() !== '' && riskIn(risk()) === null;
  const hasReason = (): boolean => reason().trim() !== '';
  return (
    <details class="fold">
      <summary>{text.setRisk}</summary>
      <div class="stack">
        <p class="muted small">{text.setRiskAbout}</p>
        <div class="narrow-grid">
          <TextField
            label={text.newRisk}
            value={risk()}
            onInput={setRisk}
            unit={text.ofHundred}
            problem={isWrong() ? text.riskRange : null}
          />
          <TextField label={text.riskUntil} type="date" value={until()} onInput={setUntil} help={text.riskUntilHelp} />
        </div>
        <AreaField label={text.riskReason} value={reason()} onInput={setReason} rows={2} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Button
            isBusy={action.isBusy()}
            disabled={riskIn(risk()) === null || !hasReason()}
            onClick={() => void save(riskIn(risk()))}
          >
            {text.setRisk}
          </Button>
          <Show when={props.byHand !== null}>
            <Button isBusy={action.isBusy()} disabled={!hasReason()} onClick={() => void save(null)}>
              {text.takeRiskBack}
            </Button>
          </Show>
        </div>
      </div>
    </details>
  );
}
