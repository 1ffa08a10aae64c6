// The three states of whatever is read: not there yet, refused, there.
import { Match, onCleanup, Show, Switch, type JSX } from 'solid-js';
import type { QueryState } from '../client/query.js';
import { Button, Loading, Notice } from './basics.js';
import { kitText as text } from '../texts/kit.js';

/** Of all that is shown as unread: what was refused together is asked again together. */
const unread = new Set<() => unknown>();

/** Asks again for what is shown as unread here, and for all else that is; for as long as the caller is shown. */
export function createRetry(retry: () => unknown): () => void {
  unread.add(retry);
  onCleanup(() => unread.delete(retry));
  return () => [...unread].forEach((again) => again());
}

/** Says why something could not be read, and asks again. `title` absent: nothing of it is shown. */
export function Unread(props: {
  readonly problem: string;
  readonly title?: string;
  readonly retry?: (() => unknown) | undefined;
}): JSX.Element {
  const retry = createRetry(() => props.retry?.());
  return (
    <Notice tone="danger" title={props.title ?? text.unread}>
      <span>{props.problem}</span>
      <Show when={props.retry !== undefined}>
        <div>
          <Button onClick={retry}>{text.tryAgain}</Button>
        </div>
      </Show>
    </Notice>
  );
}

export function Read<T>(props: {
  readonly of: QueryState<T>;
  readonly what?: string;
  readonly children: (data: () => T) => JSX.Element;
}): JSX.Element {
  return (
    <Switch fallback={<Loading what={props.what ?? text.loading} />}>
      <Match when={props.of.data() !== undefined}>
        <Show when={props.of.problem()}>
          {(problem) => <Notice tone="warn">{text.whatIsShownIsOf(problem().message)}</Notice>}
        </Show>
        <div
          class="answer"
          classList={{ 'is-old': props.of.isLoading() && !props.of.isAnswered() }}
          aria-busy={props.of.isLoading() && !props.of.isAnswered()}
        >
          {props.children(() => props.of.data() as T)}
        </div>
      </Match>
      <Match when={props.of.problem()}>
        {(problem) => <Unread problem={problem().message} retry={() => void props.of.reload()} />}
      </Match>
    </Switch>
  );
}
