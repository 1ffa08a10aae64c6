// Own rules of toxic combinations: the form of a new one, and the removal of one.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { Button, Notice } from '../../../kit/basics.js';
import { AreaField, TextField } from '../../../kit/form.js';
import { Confirm } from '../../../kit/overlays.js';
import { ownGraphText as text } from '../../../texts/vm/models/own-graph.js';
import { slotsOf } from './slots.js';

export function ToxicRuleForm(props: { readonly onAdded: () => void }): JSX.Element {
  const [slug, setSlug] = createSignal('');
  const [name, setName] = createSignal('');
  const [slots, setSlots] = createSignal('');
  const [note, setNote] = createSignal('');
  const action = createAction();
  const add = async (): Promise<void> => {
    const body = { slug: slug().trim(), name: name().trim(), slots: slotsOf(slots()), score_note: note() };
    if (await action.run(() => call('POST /api/v1/graph/toxic-rules', { body }))) props.onAdded();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <TextField label={text.slug} value={slug()} onInput={setSlug} help={text.slugHelp} isRequired />
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <AreaField label={text.slots} value={slots()} onInput={setSlots} help={text.slotsHelp} rows={3} />
      <TextField label={text.note} value={note()} onInput={setNote} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button type="submit" look="primary" isBusy={action.isBusy()} disabled={slotsOf(slots()).length < 2}>
          {text.add}
        </Button>
      </div>
    </form>
  );
}

export function ToxicRuleRemoval(props: {
  readonly id: string;
  readonly name: string;
  readonly onDone: () => void;
}): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/graph/toxic-rules/{id}', { params: { id: props.id } })))) return;
    setAsking(false);
    props.onDone();
  };
  return (
    <>
      <Button isSmall aria-label={text.removeOne(props.name)} onClick={() => setAsking(true)}>
        {text.remove}
      </Button>
      <Confirm
        isOpen={isAsking()}
        title={text.removeRule}
        action={text.remove}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>{text.removeRuleAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
