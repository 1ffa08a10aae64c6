// What a bill of materials has differently from another one.
import { For, Show, type JSX } from 'solid-js';
import { type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { sbomsText as text } from '../../texts/vm/sources/sboms.js';
import { severityTone } from '../vulnerabilities/words.js';

type Answer = Reply<'GET /api/v1/sca/sboms/diff'>;
type Change = Answer['added'][number];
type Weakness = Answer['vulnerabilities']['added'][number];

const shownMax = 200;
const named = ({ name, from, to }: Change): string =>
  [name, from.join(', '), from.length > 0 && to.length > 0 ? '→' : '', to.join(', ')].filter(Boolean).join(' ');

function Changes(props: { readonly title: string; readonly of: readonly Change[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>
        {props.title} ({showCount(props.of.length)})
      </h3>
      <ul class="code">
        <For each={props.of.slice(0, shownMax)} fallback={<li>{text.nothing}</li>}>
          {(change) => (
            <li>
              <Foreign text={named(change)} max={200} />
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

function Weaknesses(props: { readonly title: string; readonly of: readonly Weakness[] }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <section class="stack tight">
        <h3>
          {props.title} ({showCount(props.of.length)})
        </h3>
        <ul>
          <For each={props.of.slice(0, shownMax)}>
            {({ id, severity, name, version }) => (
              <li>
                <Badge tone={severityTone(severity)}>{severity}</Badge>{' '}
                <Foreign text={`${id}: ${name} ${version}`} max={200} />
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}

export function Difference(props: { readonly a: string; readonly b: string }): JSX.Element {
  const found = createQuery('GET /api/v1/sca/sboms/diff', () => ({ query: { a: props.a, b: props.b } }));
  return (
    <Read of={found}>
      {(answer) => (
        <div class="stack">
          <Weaknesses title={text.weaknessesAdded} of={answer().vulnerabilities.added} />
          <Weaknesses title={text.weaknessesRemoved} of={answer().vulnerabilities.removed} />
          <Changes title={text.added} of={answer().added} />
          <Changes title={text.removed} of={answer().removed} />
          <Changes title={text.changed} of={answer().changed} />
          <p class="muted small">{text.same(showCount(answer().same))}</p>
        </div>
      )}
    </Read>
  );
}
