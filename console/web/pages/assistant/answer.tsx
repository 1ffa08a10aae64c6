// What the assistant answered: texts, proposals, and what it rests on; or why there is no answer.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { Badge, Foreign, ForeignLines, Notice } from '../../kit/basics.js';
import { assistantText as text } from '../../texts/vm/models/assistant.js';

export type Answer = Reply<'POST /api/v1/assistant/explain-finding'> | Reply<'POST /api/v1/assistant/summarize'>;
const members = ['explanation', 'impact', 'remediation', 'summary', 'next_steps'] as const;
const textMax = 6000;

const addressOf = (kind: string, id: string): string =>
  kind === 'finding' ? `/vulnerabilities?finding=${id}&status=all` : `/vulnerabilities/applications?application=${id}`;

function Texts(props: { readonly of: Answer }): JSX.Element {
  const told = (name: (typeof members)[number]): string => {
    const value: unknown = (props.of as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? value : '';
  };
  return (
    <For each={members}>
      {(name) => (
        <Show when={told(name) !== ''}>
          <section class="stack tight">
            <h3>{text[name]}</h3>
            <p>
              <ForeignLines text={told(name)} max={textMax} />
            </p>
          </section>
        </Show>
      )}
    </For>
  );
}

function Proposals(props: { readonly of: NonNullable<Answer['proposals']> }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <section class="stack tight">
        <h3>{text.proposals}</h3>
        <p class="muted small">{text.proposalsAbout}</p>
        <For each={props.of}>
          {(one) => (
            <div class="stack tight">
              <span class="row wrap">
                <Badge>{text.kinds[one.kind]}</Badge>
                <Foreign text={one.title} max={200} />
              </span>
              <p class="mono small">
                <ForeignLines text={one.text} max={textMax} />
              </p>
            </div>
          )}
        </For>
      </section>
    </Show>
  );
}

export function AnswerView(props: { readonly of: Answer }): JSX.Element {
  return (
    <Show when={props.of.ok} fallback={<Notice tone="info">{text.noAnswer(props.of.reason ?? '')}</Notice>}>
      <div class="stack">
        <Texts of={props.of} />
        <Proposals of={props.of.proposals ?? []} />
        <Show when={(props.of.citations ?? []).length > 0}>
          <section class="stack tight">
            <h3>{text.restsOn}</h3>
            <ul class="stack tight plain-list">
              <For each={props.of.citations ?? []}>
                {({ kind, id, title }) => (
                  <li>
                    <A href={addressOf(kind, id)}>
                      <Foreign text={title} max={200} />
                    </A>
                  </li>
                )}
              </For>
            </ul>
          </section>
        </Show>
        <Show when={(props.of.dropped ?? 0) > 0}>
          <p class="muted small">{text.dropped(props.of.dropped ?? 0)}</p>
        </Show>
        <p class="faint small">{text.byModel}</p>
      </div>
    </Show>
  );
}
