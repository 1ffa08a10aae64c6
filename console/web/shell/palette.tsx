// The command palette (Ctrl K): every page, every setting and what is often done, by name; and what is protected.
import { useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show, type JSX } from 'solid-js';
import { shellText as words } from '../texts/shell.js';
import { commandsFor, findCommands, settingCommands, type Command } from './commands.js';
import { createThings } from './things.js';

const shownMax = 60;

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onKeys: () => void;
}

/** What may be chosen, and what is typed: settings are looked for once something is. */
function createChoice(props: PaletteProps) {
  const navigate = useNavigate();
  const [text, setText] = createSignal('');
  const [at, setAt] = createSignal(0);
  const [settings, setSettings] = createSignal<readonly Command[]>([]);
  const commands = createMemo(() => commandsFor({ navigate, showKeys: props.onKeys }));
  const things = createThings(text, navigate);
  const found = createMemo(() => {
    const all = text().trim() === '' ? commands() : [...commands(), ...settings()];
    return [...findCommands(all, text()).slice(0, shownMax), ...things()];
  });
  const begin = (): void => {
    setText('');
    setAt(0);
    if (settings().length > 0) return;
    // without them pages are found all the same
    void settingCommands(navigate).then(setSettings, () => setSettings([]));
  };
  return { text, setText, at, setAt, found, begin };
}

function Choices(props: {
  readonly found: readonly Command[];
  readonly at: number;
  readonly onAt: (index: number) => void;
  readonly onRun: (command: Command) => void;
}): JSX.Element {
  let list: HTMLUListElement | undefined;
  createEffect(() => list?.children[props.at]?.scrollIntoView({ block: 'nearest' }));
  return (
    <ul id="palette-list" role="listbox" aria-label={words.commands} ref={list}>
      <For each={props.found}>
        {(command, index) => (
          <li
            id={`palette-${index()}`}
            role="option"
            aria-selected={index() === props.at}
            onMouseMove={() => props.onAt(index())}
            onClick={() => props.onRun(command)}
          >
            <span>{command.title}</span>
            <span class="faint">{command.group}</span>
          </li>
        )}
      </For>
    </ul>
  );
}

/**
 * Escape. The browser tells of the closing that would follow later than of the next key: who opens it again at once
 * would have it closed.
 */
function cancelled(event: Event, close: () => void): void {
  event.preventDefault();
  close();
}

export function Palette(props: PaletteProps): JSX.Element {
  let element: HTMLDialogElement | undefined;
  let input: HTMLInputElement | undefined;
  const { text, setText, at, setAt, found, begin } = createChoice(props);
  createEffect(
    on(
      () => props.isOpen,
      (isOpen) => {
        if (!isOpen) return element?.close();
        begin();
        element?.showModal();
        input?.focus();
      },
    ),
  );
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    props.onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = Math.max(1, found().length);
    if (event.key === 'ArrowDown') setAt((at() + 1) % count);
    else if (event.key === 'ArrowUp') setAt((at() - 1 + count) % count);
    else if (event.key === 'Enter') run(found()[at()]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={element}
      class="dialog palette"
      aria-label={words.commands}
      onCancel={(event) => cancelled(event, props.onClose)}
      onClose={() => element?.open === false && props.onClose()}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        if (event.target === element) props.onClose(); // the backdrop
      }}
    >
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={words.goPageOrDo}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found().length > 0 ? `palette-${at()}` : undefined}
        placeholder={words.goPageOrDo}
        value={text()}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <Choices found={found()} at={at()} onAt={setAt} onRun={run} />
      <Show when={found().length === 0}>
        <p class="state" role="status">
          {words.nothingCalled}
        </p>
      </Show>
    </dialog>
  );
}

/** Ctrl K or Cmd K anywhere. */
export function onPaletteKey(open: () => void): void {
  const listen = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open();
  };
  onMount(() => document.addEventListener('keydown', listen));
  onCleanup(() => document.removeEventListener('keydown', listen));
}
