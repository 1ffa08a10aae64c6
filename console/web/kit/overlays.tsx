// What lies above a page: dialogs and drawers (the browser's own <dialog>: focus stays inside, Escape closes, the page
// behind is inert) and short notes that go by themselves.
import { createEffect, createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { askLateAgain, waiting } from '../client/waiting.js';
import { Button } from './basics.js';
import { told } from './foreign.js';
import { Icon } from './icons.js';
import { kitText as words } from '../texts/kit.js';

interface OverlayProps {
  readonly isOpen: boolean;
  readonly title: JSX.Element;
  readonly onClose: () => void;
  readonly children: JSX.Element;
  readonly footer?: JSX.Element;
  readonly look?: 'wide' | 'drawer';
  /** false: only its buttons close it (a login that is due, say). */
  readonly mayClose?: boolean;
}

const firstField = '.body :is(input:not([type="checkbox"], [type="radio"], [type="file"]), select, textarea):enabled';

/** Whoever opened a form goes on with its first field; the browser would begin with the button that closes it. */
function beginForm(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>(firstField)?.focus();
}

/** Who opened it may have gone with what was done: the page then goes on from its content, not from its beginning. */
function goOn(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
}

/** Dialogs that are open, the one on top last. */
const [opened, setOpened] = createSignal<readonly HTMLDialogElement[]>([]);

export function Overlay(props: OverlayProps): JSX.Element {
  let element: HTMLDialogElement | undefined;
  /** Something was typed or chosen in it: a click beside it must not throw that away. */
  let isTyped = false;
  let isPressedBeside = false;
  const close = (): void => {
    setOpened((all) => all.filter((one) => one !== element));
    if (element?.open !== true) return;
    element.close();
    setTimeout(goOn); // what it closes with may take its opener away
  };
  createEffect(() => {
    if (props.isOpen && element !== undefined && !element.open) {
      const mine = element;
      isTyped = false;
      mine.showModal();
      if (props.look !== 'drawer') beginForm(mine);
      setOpened((all) => [...all, mine]);
    }
    if (!props.isOpen && element?.open === true) close();
  });
  onCleanup(close);
  const mayClose = (): boolean => props.mayClose !== false;
  // text that is marked from inside to beyond the edge ends in a click on the dialog, too
  const onPointerDown = (event: PointerEvent): void => void (isPressedBeside = event.target === element);
  const onClick = (event: MouseEvent): void => {
    if (event.target === element && isPressedBeside && !isTyped && mayClose()) props.onClose(); // the backdrop
  };
  const onCancel = (event: Event): void => {
    event.preventDefault();
    if (mayClose()) props.onClose();
  };
  return (
    <dialog
      ref={element}
      class={props.look === 'drawer' ? 'drawer' : `dialog ${props.look ?? ''}`}
      aria-label={typeof props.title === 'string' ? props.title : undefined}
      onPointerDown={onPointerDown}
      onInput={() => (isTyped = true)}
      onClick={onClick}
      onCancel={onCancel}
    >
      <Show when={props.isOpen}>
        <header>
          <h2>{told(props.title)}</h2>
          <Show when={mayClose()}>
            <Button look="plain" aria-label={words.close} onClick={() => props.onClose()}>
              <Icon name="close" />
            </Button>
          </Show>
        </header>
        <div class="body">{props.children}</div>
        <Show when={props.footer}>
          <footer>{props.footer}</footer>
        </Show>
      </Show>
    </dialog>
  );
}

/** Offered beside a note, such as taking back what it says. */
export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isProblem: boolean;
  readonly action: ToastAction | null;
}

const [toasts, setToasts] = createSignal<readonly Toast[]>([]);
const shownForMs = 6000;
/** With something to press: who comes by keyboard needs longer. */
const actionForMs = 20_000;
const toastsMax = 4;

const dismiss = (id: number): void => void setToasts((all) => all.filter((toast) => toast.id !== id));

/** A short note. Problems stay until they are closed. */
export function tell(text: string, isProblem = false, action: ToastAction | null = null): void {
  const id = Date.now() + Math.random();
  setToasts((all) => [...all, { id, text, isProblem, action }].slice(-toastsMax));
  if (!isProblem) setTimeout(() => dismiss(id), action === null ? shownForMs : actionForMs);
}

/** Says what was refused. */
export const tellProblem = (error: unknown): void => tell(error instanceof Error ? error.message : String(error), true);

/** They stand in the dialog on top, if there is one: what is outside of it can be neither seen nor pressed. */
export function Toasts(): JSX.Element {
  let list: HTMLDivElement | undefined;
  let home: HTMLDivElement | undefined;
  createEffect(() => {
    const place = opened().at(-1) ?? home;
    if (list !== undefined && list.parentElement !== place) place?.append(list);
  });
  return (
    <div ref={home}>
      <div class="toasts" role="region" aria-label={words.notes} aria-live="polite" ref={list}>
        <Show when={waiting() !== 'no'}>
          <div class="toast">
            <span>{waiting() === 'reads' ? words.answerIsLate : words.changeIsLate}</span>
            <Show when={waiting() === 'reads'}>
              <Button isSmall onClick={askLateAgain}>
                {words.tryAgain}
              </Button>
            </Show>
          </div>
        </Show>
        <For each={toasts()}>
          {(toast) => (
            <div class={`toast ${toast.isProblem ? 'danger' : ''}`}>
              <span>{told(toast.text)}</span>
              <Show when={toast.action}>
                {(action) => (
                  <Button
                    isSmall
                    onClick={() => {
                      dismiss(toast.id);
                      action().run();
                    }}
                  >
                    {action().label}
                  </Button>
                )}
              </Show>
              <Button look="plain" isSmall aria-label={words.dismiss} onClick={() => dismiss(toast.id)}>
                <Icon name="close" />
              </Button>
            </div>
          )}
        </For>
      </div>
    </div>
  );
}

/** Asks before something that cannot be taken back. */
export function Confirm(props: {
  readonly isOpen: boolean;
  readonly title: string;
  readonly action: string;
  /** Of the other button; absent: Cancel. */
  readonly cancel?: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <Overlay
      isOpen={props.isOpen}
      title={props.title}
      onClose={props.onClose}
      footer={
        <>
          <Button onClick={props.onClose}>{props.cancel ?? words.cancel}</Button>
          <Button look="danger" isBusy={props.isBusy ?? false} onClick={props.onConfirm}>
            {props.action}
          </Button>
        </>
      }
    >
      {props.children}
    </Overlay>
  );
}
