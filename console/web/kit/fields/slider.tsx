// A number that is chosen by moving, with what it is now and what it is measured against.
import { createUniqueId, Show, type JSX } from 'solid-js';

export function Slider(props: {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly onInput: (value: number) => void;
  readonly help?: JSX.Element;
}): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <div class="row between">
        <label for={id}>{props.label}</label>
        <output class="nums" for={id}>
          {props.value}
        </output>
      </div>
      <input
        id={id}
        class="slider"
        type="range"
        min={props.min}
        max={props.max}
        step="1"
        value={props.value}
        aria-describedby={`${id}-help`}
        onInput={(event) => props.onInput(event.currentTarget.valueAsNumber)}
      />
      <Show when={props.help}>
        <span class="help" id={`${id}-help`}>
          {props.help}
        </span>
      </Show>
    </div>
  );
}
