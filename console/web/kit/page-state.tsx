// The three states of whatever is read: not there yet, refused, there.
import { Match, Show, Switch, type JSX } from 'solid-js';
import type { QueryState } from '../client/query.js';
import { Button, Loading, Notice } from './basics.js';
import { kitText as text } from '../texts/kit.js';

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
        {(problem) => (
          <Notice tone="danger" title={text.unreadTable}>
            <span>{problem().message}</span>
            <div>
              <Button onClick={() => void props.of.reload()}>{text.tryAgain}</Button>
            </div>
          </Notice>
        )}
      </Match>
    </Switch>
  );
}
