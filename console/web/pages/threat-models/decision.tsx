// What somebody decides of a threat: its state with a reason or a control, and findings that show it.
import { createEffect, createSignal, on, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { threatModelsText as text } from '../../texts/vm/models/threat-models.js';
import { states, type Threat } from './threats.js';

const idsOf = (typed: string): string[] => typed.split(/[\s,]+/).filter((one) => one !== '');
const linkedOf = ({ findings }: Threat): string =>
  findings.flatMap(({ id, linked_by_hand: is }) => (is ? [id] : [])).join(', ');

export function Decision(props: { readonly of: Threat; readonly onDecided: () => void }): JSX.Element {
  const [state, setState] = createSignal(props.of.status);
  const [reason, setReason] = createSignal('');
  const [control, setControl] = createSignal(props.of.control);
  const [linked, setLinked] = createSignal(linkedOf(props.of));
  const action = createAction();
  createEffect(
    on(
      () => [props.of.id, props.of.version],
      () => {
        setState(props.of.status);
        setReason('');
        setControl(props.of.control);
        setLinked(linkedOf(props.of));
      },
    ),
  );
  const save = async (): Promise<void> => {
    const { id, model_id: model, status } = props.of;
    const body = {
      ...(state() === status ? {} : { status: state() }),
      ...(reason() === '' ? {} : { reason: reason() }),
      control: control(),
      ...(linked() === linkedOf(props.of) ? {} : { vuln_ids: idsOf(linked()) }),
    };
    const options = { params: { id: model, tid: id }, body, ifMatch: matchOf(props.of) };
    if (!(await action.run(() => call('PATCH /api/v1/threat-models/{id}/threats/{tid}', options)))) return;
    tell(text.saved);
    props.onDecided();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h3>{text.decide}</h3>
      <SelectField label={text.nextState} value={state()} options={states} onChange={setState} />
      <TextField label={text.reason} value={reason()} onInput={setReason} />
      <AreaField label={text.control} value={control()} onInput={setControl} rows={2} />
      <TextField label={text.linked} help={text.linkedHelp} value={linked()} onInput={setLinked} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button type="submit" look="primary" isBusy={action.isBusy()}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
