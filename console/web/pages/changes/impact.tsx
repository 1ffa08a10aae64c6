// What a change would have done to recorded traffic, before anybody activates it.
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { Card, Figure, Foreign, Notice } from '../../kit/basics.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { changesText as text } from '../../texts/changes.js';

type Applied = Reply<'POST /api/apply'>;
type Example = NonNullable<Applied['impact']>['newly_blocked_examples'][number];

function Examples(props: { readonly title: string; readonly rows: readonly Example[] }): JSX.Element {
  const columns: readonly TableColumn<Example>[] = [
    { title: text.request, class: 'uri', cell: (row) => <Foreign text={`${row.method} ${row.uri}`} max={160} /> },
    {
      title: text.rules,
      class: 'mono',
      cell: (row) => row.rule_ids.slice(0, 6).join(', '),
    },
    { title: text.scoreBefore, isNumber: true, sortBy: (row) => row.score_before, cell: (row) => row.score_before },
    { title: text.scoreAfter, isNumber: true, sortBy: (row) => row.score_after, cell: (row) => row.score_after },
  ];
  return (
    <Show when={props.rows.length > 0}>
      <Card title={props.title} isFlush>
        <Table
          label={props.title}
          columns={columns}
          of={ofRows(() => props.rows)}
          keyOf={(row) => row.request_id}
          empty=""
        />
      </Card>
    </Show>
  );
}

export function ImpactView(props: { readonly applied: Applied }): JSX.Element {
  return (
    <div class="stack">
      <Show
        when={props.applied.impact}
        fallback={
          <Notice tone="info" title={text.nothingCompare}>
            {text.thereNoRecordedTraffic}
          </Notice>
        }
      >
        {(impact) => (
          <>
            <div class="grid-3">
              <Figure
                label={text.recordedRequestsReplayed}
                value={showCount(impact().replayed)}
                note={text.chosen(showCount(impact().samples))}
              />
              <Figure label={text.wouldNewlyBeBlocked} value={showCount(impact().newly_blocked)} />
              <Figure label={text.wouldNewlyPass} value={showCount(impact().newly_allowed)} />
            </div>
            <Examples title={text.newlyBlocked} rows={impact().newly_blocked_examples} />
            <Examples title={text.newlyPassing} rows={impact().newly_allowed_examples} />
          </>
        )}
      </Show>
      <For each={props.applied.diagnostics}>
        {(one) => (
          <Notice tone={one.severity === 'error' ? 'danger' : 'warn'} title={one.message}>
            <span class="small mono">
              {one.path ?? `${one.file}:${one.line}`} {one.code}
            </span>
          </Notice>
        )}
      </For>
      <Show when={props.applied.not_enforced_yet.length > 0}>
        <Notice tone="warn" title={text.savedNotForceThis}>
          <span class="mono small">{props.applied.not_enforced_yet.join(', ')}</span>
        </Notice>
      </Show>
    </div>
  );
}
