// A rule as a link to the events in which it matched: its number, and beside it what it is called.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { nameOfRule } from '../../client/rule-names.js';
import { Foreign } from '../basics.js';

export function RuleLink(props: { readonly id: number }): JSX.Element {
  return (
    <span class="rule-link">
      <A class="mono" href={`/soc?rule_id=${props.id}`}>
        {props.id}
      </A>
      <Show when={nameOfRule(props.id)}>
        {(name) => (
          <span class="small faint">
            {' '}
            <Foreign text={name()} max={120} />
          </span>
        )}
      </Show>
    </span>
  );
}
