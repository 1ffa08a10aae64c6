// What was typed and not saved is not left behind without a question: within the console by a dialog of its own, when
// the window closes by the browser's.
import { useBeforeLeave, type BeforeLeaveEventArgs } from '@solidjs/router';
import { createEffect, createSignal, onCleanup, untrack, type JSX } from 'solid-js';
import { countDeparture } from '../client/departure.js';
import { kitText as text } from '../texts/kit.js';
import { Confirm } from './overlays.js';

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
    countDeparture();
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
