// How much is known of what is usual at each site, layer by layer, and whether the parts of the engine work.
import { For, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import type { QueryState } from '../../client/query.js';
import { Badge, Card, Empty, Foreign, Notice } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { layers, type Soc } from './words.js';

type Meter = Soc['learning'][number];
type Evaluator = Soc['evaluators'][number];

const evaluatorColumns: readonly TableColumn<Evaluator>[] = [
  { title: text.evaluator, class: 'mono', sortBy: ({ name }) => name, cell: ({ name }) => name },
  {
    title: text.failures,
    isNumber: true,
    sortBy: ({ failures }) => failures,
    cell: ({ failures }) => showCount(failures),
  },
  { title: text.problem, cell: ({ error }) => <Foreign text={error ?? text.nothing} max={300} /> },
  {
    title: text.took,
    isNumber: true,
    sortBy: (one) => one.took_ms,
    cell: (one) => text.tookMs(showCount(one.took_ms)),
  },
];

function SiteMeter(props: { readonly of: Meter }): JSX.Element {
  return (
    <Card
      title={<Foreign text={props.of.site} max={100} />}
      actions={
        <Show when={props.of.drifting.length > 0}>
          <Badge tone="warn">{text.drifting(props.of.drifting.join(', '))}</Badge>
        </Show>
      }
    >
      <div class="stack">
        <For each={layers}>
          {(layer) => (
            <div class="stack tight">
              <div class="row between">
                <span>{text.layers[layer]}</span>
                <span class="nums">{text.percent(props.of.layers[layer]?.percent ?? 0)}</span>
              </div>
              <meter
                class="points"
                min={0}
                max={100}
                value={props.of.layers[layer]?.percent ?? 0}
                aria-label={text.layers[layer]}
              />
              <span class="small muted">
                <Foreign text={props.of.layers[layer]?.note} max={200} />
              </span>
            </div>
          )}
        </For>
        <Show when={props.of.drifting.length > 0}>
          <p class="small muted">{text.driftingAbout}</p>
        </Show>
      </div>
    </Card>
  );
}

export function Learning(props: { readonly of: QueryState<Soc> }): JSX.Element {
  return (
    <Read of={props.of}>
      {(data) => (
        <>
          <p class="muted">{text.learningAbout}</p>
          <Show when={data().learning_frozen}>
            <Notice tone="warn" title={text.frozen}>
              {text.frozenAbout}
            </Notice>
          </Show>
          <Show
            when={data().learning.length > 0}
            fallback={
              <Card>
                <Empty title={text.noLearning}>{text.noLearningAbout}</Empty>
              </Card>
            }
          >
            <div class="grid-3">
              <For each={data().learning}>{(one) => <SiteMeter of={one} />}</For>
            </div>
          </Show>
          <Card isFlush title={text.evaluators}>
            <Table
              label={text.evaluators}
              columns={evaluatorColumns}
              of={ofRows(() => data().evaluators)}
              keyOf={({ name }) => name}
              empty={text.noEvaluators}
              emptyAbout={text.noEvaluatorsAbout}
            />
          </Card>
        </>
      )}
    </Read>
  );
}
