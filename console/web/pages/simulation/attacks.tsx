// Attack by attack: whether it was stopped, by what, and which rules saw it; those that passed come first.
import { For, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { Badge, Card, Foreign } from '../../kit/basics.js';
import { RuleLink } from '../../kit/evidence/rule-link.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import type { Attack } from './words.js';

const rulesShown = 8;

export function RuleLinks(props: { readonly ids: readonly number[] }): JSX.Element {
  return (
    <span class="stack tight">
      <For each={props.ids.slice(0, rulesShown)} fallback={text.none}>
        {(id) => <RuleLink id={id} />}
      </For>
      <Show when={props.ids.length > rulesShown}>
        <span class="small faint">{text.moreRules(props.ids.length - rulesShown)}</span>
      </Show>
    </span>
  );
}

const outcomeOf = ({ sent, stopped }: Attack): keyof typeof text.outcomes =>
  stopped === 0 ? 'passed' : stopped < sent ? 'part' : 'stopped';
const tones = { stopped: 'good', part: 'warn', passed: 'danger' } as const;
const ranks = { passed: 0, part: 1, stopped: 2 } as const;

const columns: readonly TableColumn<Attack>[] = [
  { title: text.attack, class: 'mono', sortBy: ({ attack }) => attack, cell: ({ attack }) => attack },
  {
    title: text.outcome,
    sortBy: (one) => ranks[outcomeOf(one)],
    cell: (one) => <Badge tone={tones[outcomeOf(one)]}>{text.outcomes[outcomeOf(one)]}</Badge>,
  },
  { title: text.sent, isNumber: true, sortBy: ({ sent }) => sent, cell: ({ sent }) => showCount(sent) },
  { title: text.stopped, isNumber: true, sortBy: (one) => one.stopped, cell: (one) => showCount(one.stopped) },
  { title: text.stages, cell: ({ stages }) => <Foreign text={stages.join(', ') || text.none} max={120} /> },
  { title: text.rules, cell: ({ rule_ids: ids }) => <RuleLinks ids={ids} /> },
];

export function Attacks(props: { readonly of: readonly Attack[] }): JSX.Element {
  const rows = (): readonly Attack[] =>
    props.of.toSorted((left, right) => ranks[outcomeOf(left)] - ranks[outcomeOf(right)]);
  return (
    <Card isFlush title={text.attacks}>
      <Table
        label={text.attacks}
        columns={columns}
        of={ofRows(rows)}
        keyOf={({ attack }) => attack}
        empty={text.noAttacks}
      />
    </Card>
  );
}
