// Applications by the source of their open findings; each number opens the findings that it counts.
import { A } from '@solidjs/router';
import { createMemo, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import type { QueryState } from '../../client/query.js';
import type { Reply } from '../../client/http.js';
import { Card, Foreign } from '../../kit/basics.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { postureText as text } from '../../texts/vm/posture.js';
import { findingsOf, plain } from '../vulnerabilities/words.js';

type Row = Item<'GET /api/v1/posture/heatmap'>;

/** The more of it is critical or high, the stronger the colour. */
const toneOf = (grave: number): string => (grave === 0 ? '' : grave < 5 ? 'is-warm' : 'is-hot');

const cellColumn = (source: string): TableColumn<Row> => ({
  title: (text.sources as Readonly<Record<string, string>>)[source] ?? plain(source),
  isNumber: true,
  sortBy: ({ cells }) => cells[source]?.open ?? 0,
  cell: ({ application_id: id, cells }) => (
    <Show when={cells[source]} fallback={<span class="faint">{text.none}</span>}>
      {(cell) => (
        <A
          class={`heat ${toneOf(cell().critical_and_high)}`}
          href={`${findingsOf(id)}&source=${encodeURIComponent(source)}`}
          title={text.cell(cell().open, cell().critical_and_high)}
        >
          {showCount(cell().open)}
        </A>
      )}
    </Show>
  ),
});

export function Heatmap(props: { readonly of: QueryState<Reply<'GET /api/v1/posture/heatmap'>> }): JSX.Element {
  const columns = createMemo((): readonly TableColumn<Row>[] => {
    const sources = new Set((props.of.data()?.items ?? []).flatMap(({ cells }) => Object.keys(cells)));
    return [
      {
        title: text.application,
        cell: (one) => (
          <A href={findingsOf(one.application_id)}>
            <Foreign text={one.application} max={80} />
          </A>
        ),
      },
      { title: text.criticality, cell: ({ criticality }) => criticality },
      { title: text.score, isNumber: true, sortBy: ({ score }) => score, cell: ({ score }) => String(score) },
      ...[...sources].sort().map(cellColumn),
    ];
  });
  return (
    <Card isFlush title={text.heatmap}>
      <Show when={columns()} keyed>
        {(shown) => (
          <Table
            label={text.heatmap}
            columns={shown}
            of={ofQuery(props.of, ({ items }) => items)}
            keyOf={(one) => one.application_id}
            empty={text.noHeatmap}
            emptyAbout={
              <>
                {text.noHeatmapAbout} <A href="/vulnerabilities/imports">{text.toImports}</A>
              </>
            }
          />
        )}
      </Show>
    </Card>
  );
}
