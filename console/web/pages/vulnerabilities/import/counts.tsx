// What an import did, or would do, with each record of a report: the numbers add up to what was read.
import { For, Show, type JSX } from 'solid-js';
import { showCount } from '../../../client/moments.js';
import { Badge, Foreign } from '../../../kit/basics.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { unreadOf } from './question.js';

/** As `/imports` answers it. */
export interface ImportReport {
  readonly tool?: string;
  readonly tool_version?: string;
  readonly parsed?: number;
  readonly created?: number;
  readonly updated?: number;
  readonly reopened?: number;
  readonly unchanged?: number;
  readonly duplicates_in_file?: number;
  readonly dropped?: number;
  readonly dropped_by_reason?: Readonly<Record<string, number>>;
  readonly closed?: number;
  readonly unverified_absence?: number;
  /** Of a preview: the import has to be confirmed. */
  readonly needs_confirm_close?: boolean;
  /** The directory of the checkout that was recognised. */
  readonly root?: string | null;
  readonly problems?: readonly { readonly at: string; readonly detail: string }[];
}

const counted = (report: ImportReport): readonly (readonly [string, number])[] => [
  [text.read, report.parsed ?? 0],
  [text.new, report.created ?? 0],
  [text.updated, report.updated ?? 0],
  [text.reopened, report.reopened ?? 0],
  [text.unchanged, report.unchanged ?? 0],
  [text.twice, report.duplicates_in_file ?? 0],
  [text.dropped, report.dropped ?? 0],
  [text.resolved, report.closed ?? 0],
  [text.notSure, report.unverified_absence ?? 0],
];

export function ImportCounts(props: { readonly of: ImportReport }): JSX.Element {
  return (
    <div class="stack">
      <dl class="counts">
        <For each={counted(props.of)}>
          {([name, count]) => (
            <div>
              <dt>{name}</dt>
              <dd class="value">{showCount(count)}</dd>
            </div>
          )}
        </For>
      </dl>
      <Show when={props.of.root}>
        {(root) => (
          <p>
            {text.rootFound} <Foreign text={root()} max={300} />
          </p>
        )}
      </Show>
      <Show when={Object.keys(props.of.dropped_by_reason ?? {}).length > 0}>
        <div class="row wrap">
          <For each={Object.entries(props.of.dropped_by_reason ?? {})}>
            {([reason, count]) => <Badge tone="warn">{`${reason}: ${count}`}</Badge>}
          </For>
        </div>
      </Show>
      <Show when={unreadOf(props.of).length > 0}>
        <section class="stack tight">
          <h3>{text.problems}</h3>
          <ul class="code">
            <For each={unreadOf(props.of)}>
              {({ at, detail }) => (
                <li>
                  <Foreign text={`${at}: ${detail}`} max={500} />
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </div>
  );
}
