// A form that sends one thing: its fields, what was refused, and its button. And the question before a deletion.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { kitText } from '../../texts/kit.js';
import { Button, Notice } from '../basics.js';
import { Confirm } from '../overlays.js';

export function EntryForm(props: {
  /** Of the button; "Save" where it is absent. */
  readonly label?: string;
  /** Whether all is there that the button needs. */
  readonly isWhole: boolean;
  /** Throws Refused, which is shown above the button. */
  readonly send: () => Promise<unknown>;
  readonly onDone?: () => void;
  /** Beside the button. */
  readonly beside?: JSX.Element;
  readonly children: JSX.Element;
}): JSX.Element {
  const action = createAction();
  const send = async (): Promise<void> => {
    if (props.isWhole && (await action.run(() => props.send()))) props.onDone?.();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {props.children}
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Button type="submit" look="primary" isBusy={action.isBusy()} disabled={!props.isWhole}>
          {props.label ?? kitText.save}
        </Button>
        {props.beside}
      </div>
    </form>
  );
}

export function Removal(props: {
  readonly title: string;
  readonly about: string;
  /** What is deleted, where the question names it. */
  readonly name?: JSX.Element;
  readonly remove: () => Promise<unknown>;
  readonly onRemoved: () => void;
}): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    if (await action.run(() => props.remove())) props.onRemoved();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{kitText.delete}</Button>
      <Confirm
        isOpen={isAsking()}
        title={props.title}
        action={kitText.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <Show when={props.name}>{(name) => <p>{name()}</p>}</Show>
        <p>{props.about}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
