// What stands in the place of a page that failed, and above one that an upgrade has made old.
import { useLocation } from '@solidjs/router';
import { createEffect, on, Show, type JSX } from 'solid-js';
import { isOfLostPart, isReplaced } from '../client/update.js';
import { Button, Notice } from '../kit/basics.js';
import { shellText as words } from '../texts/shell.js';

/** The browser asks by itself where something typed is not saved yet (see kit/unsaved). */
function Reload(): JSX.Element {
  return (
    <div>
      <Button onClick={() => window.location.reload()}>{words.reload}</Button>
    </div>
  );
}

/** Nothing, until a part of the page turns out to be of a version that is gone. What was typed stays below it. */
export function Updated(): JSX.Element {
  return (
    <Show when={isReplaced()}>
      <Notice tone="info" title={words.wasUpdated}>
        <span>{words.saveThenReload}</span>
        <Reload />
      </Notice>
    </Show>
  );
}

export function Failed(props: { readonly error: unknown; readonly again: () => void }): JSX.Element {
  const location = useLocation();
  // whoever goes to another page sees that one, not the failure of the page before
  createEffect(on(() => location.pathname, props.again, { defer: true }));
  return (
    <Show
      when={isOfLostPart(props.error)}
      fallback={
        <Notice tone="danger" title={words.thisPageHasFailed}>
          <span>{props.error instanceof Error ? props.error.message : String(props.error)}</span>
          <div>
            <Button onClick={props.again}>{words.tryAgain}</Button>
          </div>
        </Notice>
      }
    >
      <Show when={!isReplaced()}>
        <Notice tone="warn" title={words.partNotLoaded}>
          <span>{words.serverDidNotSend}</span>
          <Reload />
        </Notice>
      </Show>
    </Show>
  );
}
