// Several of many: boxes to tick, a field that narrows them down, and how many are chosen.
import { createMemo, createSignal, createUniqueId, For, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { kitText as text } from '../../texts/kit.js';
import { Button } from '../basics.js';
import { Foreign } from '../foreign.js';
import { matching, withChoice, type Choice } from './matching.js';

/** Above so many a person looks for a word instead of reading all. */
const readMax = 12;
/** As many boxes as a page draws at once. */
const drawnMax = 200;

export function CheckList(props: {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  /** Told what is looked for, where `choices` are not all there are. */
  readonly onWords?: (words: string) => void;
  readonly help?: JSX.Element;
  readonly isDisabled?: boolean;
}): JSX.Element {
  const id = createUniqueId();
  const [typed, setTyped] = createSignal('');
  const found = createMemo(() => matching(props.choices, typed(), drawnMax));
  const all = (isIn: boolean): void =>
    props.onChange(found().shown.reduce((chosen, { value }) => withChoice(chosen, value, isIn), props.chosen));
  return (
    <fieldset class="field bare" disabled={props.isDisabled ?? false} aria-describedby={`${id}-count`}>
      <legend class="label">{props.label}</legend>
      <Show when={props.help}>
        <span class="help">{props.help}</span>
      </Show>
      <div class="row wrap">
        <Show when={props.choices.length > readMax}>
          <input
            class="input check-words"
            type="search"
            aria-label={text.narrow(props.label)}
            placeholder={text.narrowDown}
            value={typed()}
            onInput={(event) => {
              setTyped(event.currentTarget.value);
              props.onWords?.(event.currentTarget.value.trim());
            }}
          />
        </Show>
        <Button isSmall look="plain" onClick={() => all(true)}>
          {text.chooseShown}
        </Button>
        <Button isSmall look="plain" onClick={() => all(false)}>
          {text.chooseNone}
        </Button>
        <span class="small faint nums" id={`${id}-count`} role="status">
          {text.chosenOf(showCount(props.chosen.length), showCount(props.choices.length))}
        </span>
      </div>
      <div class="check-list">
        <For each={found().shown}>
          {(choice) => (
            <label class="choice">
              <input
                type="checkbox"
                checked={props.chosen.includes(choice.value)}
                onChange={(event) =>
                  props.onChange(withChoice(props.chosen, choice.value, event.currentTarget.checked))
                }
              />
              <span>
                <Foreign text={choice.title} max={200} />
                <Show when={choice.note}>
                  <span class="help">
                    <Foreign text={choice.note} max={200} />
                  </span>
                </Show>
              </span>
            </label>
          )}
        </For>
        <Show when={found().shown.length === 0}>
          <span class="muted small">{text.nothingFits}</span>
        </Show>
        <Show when={found().left > 0}>
          <span class="muted small">{text.moreFit(showCount(found().left))}</span>
        </Show>
      </div>
    </fieldset>
  );
}
