// Leaving a page. What was typed and not saved is not left behind without a question: within the console by a dialog
// of its own, when the window closes by the browser's. Who asks for another page while something is being saved gets
// there.
import { useBeforeLeave, useNavigate, type BeforeLeaveEventArgs } from '@solidjs/router';
import { createEffect, createSignal, onCleanup, untrack, type JSX } from 'solid-js';
import { kitText as text } from '../texts/kit.js';
import { Confirm } from './overlays.js';

/** Pages that were held back by a question and are left now. */
let departures = 0;

/**
 * Leads to another page once something is done that takes a while, such as saving: not when its user has left, or
 * asked to leave, for another page meanwhile, who would be pulled away from it.
 */
export function useDeparture(): (path: string) => void {
  const navigate = useNavigate();
  const before = departures;
  let isHere = true;
  onCleanup(() => (isHere = false));
  return (path) => {
    if (isHere && departures === before) navigate(path);
  };
}

export function UnsavedGuard(props: {
  readonly isDirty: boolean;
  /** What was typed is given up. */
  readonly onDiscard: () => void;
  /** Pages that show the same draft; the address without its query. */
  readonly keeps?: (path: string) => boolean;
}): JSX.Element {
  const [leaving, setLeaving] = createSignal<BeforeLeaveEventArgs | null>(null);
  useBeforeLeave((event) => {
    const path = String(event.to).replace(/[?#].*$/s, '');
    const isSame = typeof event.to === 'string' && (path === event.from.pathname || props.keeps?.(path) === true);
    if (!props.isDirty || isSame || event.defaultPrevented) return;
    event.preventDefault();
    setLeaving(event);
  });
  createEffect(() => {
    if (!props.isDirty) return;
    const hold = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', hold);
    onCleanup(() => window.removeEventListener('beforeunload', hold));
  });
  const goOn = (): void => {
    const event = leaving();
    setLeaving(null);
    departures += 1;
    event?.retry(true);
  };
  const leave = (): void => {
    props.onDiscard();
    if (leaving() !== null) goOn();
  };
  createEffect(() => {
    if (!props.isDirty && untrack(leaving) !== null) untrack(goOn); // it was being saved when the question came
  });
  return (
    <Confirm
      isOpen={leaving() !== null}
      title={text.leaveUnsaved}
      action={text.leaveAnyway}
      cancel={text.stayHere}
      onConfirm={leave}
      onClose={() => setLeaving(null)}
    >
      <p>{text.unsavedIsLost}</p>
    </Confirm>
  );
}
