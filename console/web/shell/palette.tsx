// The command palette (Ctrl K): every page, and what is often done, by its name.
import { useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show, type JSX } from 'solid-js';
import { logOut, mayAs } from '../client/session.js';
import { allPages } from './navigation.js';
import { toggleTheme } from './theme.js';

interface Command {
  readonly title: string;
  readonly group: string;
  readonly words: string;
  run(): void;
}

const commandsFor = (navigate: (path: string) => void): readonly Command[] => [
  ...allPages
    .filter(({ role }) => mayAs(role))
    .map(({ title, words, path }) => ({ title, group: 'Page', words, run: () => navigate(path) })),
  { title: 'My account', group: 'Page', words: 'password two-factor sessions', run: () => navigate('/account') },
  { title: 'New custom rule', group: 'Do', words: 'add seclang', run: () => navigate('/waf/rules/new') },
  { title: 'Review and apply changes', group: 'Do', words: 'deploy activate', run: () => navigate('/admin/changes') },
  { title: 'Switch between dark and light', group: 'Do', words: 'theme colour', run: toggleTheme },
  { title: 'Log out', group: 'Do', words: 'sign out end session', run: () => void logOut() },
];

/** Every word that was typed is in its name or beside it. */
function isMeant({ title, words }: Command, text: string): boolean {
  const typed = text.toLowerCase().split(/\s+/).filter(Boolean);
  return typed.every((word) => `${title} ${words}`.toLowerCase().includes(word));
}

export function Palette(props: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element {
  const navigate = useNavigate();
  let element: HTMLDialogElement | undefined;
  let input: HTMLInputElement | undefined;
  const [text, setText] = createSignal('');
  const [at, setAt] = createSignal(0);
  const commands = commandsFor(navigate);
  const found = createMemo(() => commands.filter((one) => isMeant(one, text())));
  createEffect(() => {
    if (props.isOpen) {
      setText('');
      setAt(0);
      element?.showModal();
      input?.focus();
    } else element?.close();
  });
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
    <dialog ref={element} class="dialog palette" aria-label="Commands" onClose={props.onClose} onKeyDown={onKeyDown}>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Go to a page, or do something"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at()}`}
        placeholder="Go to a page, or do something"
        value={text()}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Commands">
        <For each={found()}>
          {(command, index) => (
            <li
              id={`palette-${index()}`}
              role="option"
              aria-selected={index() === at()}
              onMouseMove={() => setAt(index())}
              onClick={() => run(command)}
            >
              <span>{command.title}</span>
              <span class="faint">{command.group}</span>
            </li>
          )}
        </For>
      </ul>
      <Show when={found().length === 0}>
        <p class="state">Nothing is called that.</p>
      </Show>
    </dialog>
  );
}

/** Ctrl K or Cmd K anywhere. */
export function onPaletteKey(open: () => void): void {
  const listen = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    open();
  };
  onMount(() => document.addEventListener('keydown', listen));
  onCleanup(() => document.removeEventListener('keydown', listen));
}
