// One of many, found by typing: a combobox with a list below it (WAI-ARIA: focus stays in the field, the list says by
// `aria-activedescendant` where it is). What was found last stays until the next answer is there.
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show, type JSX } from 'solid-js';
import { kitText as text } from '../../texts/kit.js';
import { Foreign } from '../foreign.js';
import { visibleText } from '../visible-text.js';
import { findAmong, type Choice, type Choices } from './choices.js';

const pauseMs = 200;

interface ChooserProps {
  readonly id: string;
  /** Of its help; absent: it stands without a label of its own. */
  readonly describedBy?: string;
  readonly label: string;
  readonly value: string;
  readonly choices: Choices;
  readonly isDisabled?: boolean;
  readonly onChange: (value: string) => void;
}

/** What fits the words: at once among what is here, and from the server a pause after the last key. */
function createFound(props: ChooserProps, words: () => string, isOpen: () => boolean) {
  const [found, setFound] = createSignal<readonly Choice[]>([]);
  const [problem, setProblem] = createSignal<string | null>(null);
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = async (finder: NonNullable<Choices['finder']>, typed: string, mine: number): Promise<void> => {
    try {
      const answer = await finder.find(typed);
      if (mine === asked) setFound(answer);
    } catch (error) {
      if (mine === asked) setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  createEffect(
    on([words, isOpen], ([typed, open]) => {
      clearTimeout(timer);
      const mine = ++asked;
      if (!open) return;
      setProblem(null);
      const { finder } = props.choices;
      const isHere = finder === undefined || (typed.trim() === '' && props.choices.length > 0);
      if (isHere) setFound(findAmong(props.choices, typed));
      else timer = setTimeout(() => void ask(finder, typed.trim(), mine), pauseMs);
    }),
  );
  onCleanup(() => {
    clearTimeout(timer);
    asked += 1;
  });
  return { found, problem };
}

/** The title of what is chosen: of what is here, of what was found, or as the server has it. */
function createTitle(props: ChooserProps) {
  const [others, setOthers] = createSignal<ReadonlyMap<string, string>>(new Map());
  const remember = ([value, title]: Choice): void => void setOthers((all) => new Map(all).set(value, title));
  const here = createMemo(() => new Map(props.choices));
  const title = (): string => here().get(props.value) ?? others().get(props.value) ?? props.value;
  createEffect(() => {
    const { value, choices } = props;
    if (value === '' || here().has(value) || others().has(value) || choices.finder === undefined) return;
    // one that cannot be read is shown as it stands in the address
    void choices.finder.titleOf(value).then(
      (known) => remember([value, known ?? value]),
      () => undefined,
    );
  });
  return { title, remember };
}

const idOf = (id: string, index: number): string => `${id}-choice-${index}`;

function Found(props: {
  readonly of: readonly Choice[];
  readonly at: number;
  /** Of the field. */
  readonly id: string;
  readonly label: string;
  readonly onAt: (index: number) => void;
  readonly onChoose: (choice: Choice) => void;
}): JSX.Element {
  let list: HTMLUListElement | undefined;
  createEffect(() => void (props.of.length > 0 && list?.scrollIntoView({ block: 'nearest' })));
  createEffect(() => list?.children[props.at]?.scrollIntoView({ block: 'nearest' }));
  return (
    <ul id={`${props.id}-list`} role="listbox" aria-label={props.label} ref={list}>
      <For each={props.of}>
        {(choice, index) => (
          <li
            id={idOf(props.id, index())}
            role="option"
            aria-selected={index() === props.at}
            onMouseMove={() => props.onAt(index())}
            onMouseDown={(event) => {
              event.preventDefault(); // the focus stays in the field
              props.onChoose(choice);
            }}
          >
            <Foreign text={choice[1]} max={200} />
          </li>
        )}
      </For>
    </ul>
  );
}

export function Chooser(props: ChooserProps): JSX.Element {
  const [words, setWords] = createSignal('');
  const [isOpen, setOpen] = createSignal(false);
  const [at, setAt] = createSignal(0);
  const { found, problem } = createFound(props, words, isOpen);
  const { title, remember } = createTitle(props);
  const open = (): void => {
    if (isOpen()) return;
    setWords('');
    setAt(0);
    setOpen(true);
  };
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    remember(choice);
    setOpen(false);
    props.onChange(choice[0]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = Math.max(1, found().length);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (isOpen()) setAt((at() + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
      else open();
    } else if (event.key === 'Enter' && isOpen()) choose(found()[at()]);
    else if (event.key === 'Escape' && isOpen()) setOpen(false);
    else return;
    event.preventDefault(); // a form is not sent, and a dialog not closed, by what is meant for the list
    event.stopPropagation();
  };
  return (
    <div class="chooser">
      <input
        id={props.id}
        class="input"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen()}
        aria-controls={`${props.id}-list`}
        aria-activedescendant={isOpen() && found().length > 0 ? idOf(props.id, at()) : undefined}
        aria-describedby={props.describedBy}
        disabled={props.isDisabled ?? false}
        aria-label={props.describedBy === undefined ? props.label : undefined}
        placeholder={isOpen() ? text.typeToFind : ''}
        value={isOpen() ? words() : visibleText(title())}
        onClick={open}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          open();
          setWords(typed);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <Show when={isOpen()}>
        <Found of={found()} at={at()} id={props.id} label={props.label} onAt={setAt} onChoose={choose} />
        <Show when={found().length === 0 || problem() !== null}>
          <p class="chooser-note" role="status">
            {problem() ?? text.nothingFits}
          </p>
        </Show>
      </Show>
    </div>
  );
}
