// The proof of a patch: each request that was tried, what became of it, and what should have.
import { Show, type JSX } from 'solid-js';
import { showMoment } from '../../client/moments.js';
import { Badge, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { vpatchText as text } from '../../texts/vm/vpatches.js';
import type { Patch } from './patches.js';

type Proof = NonNullable<Patch['proof']>;
type Verdict = Proof['after'];

interface Trial {
  readonly verdict: Verdict;
  readonly kind: string;
  readonly isAttack: boolean;
}

const outcome = ({ outcome: became, rule_id: rule }: Verdict): string =>
  became === 'passed' ? text.passed : rule === null ? text.refused : text.refusedBy(rule);

const columns: readonly TableColumn<Trial>[] = [
  { title: text.request, cell: ({ verdict }) => <Foreign text={verdict.name} max={120} /> },
  { title: text.wanted, cell: ({ kind, isAttack }) => `${kind}: ${isAttack ? text.refused : text.passed}` },
  {
    title: text.after,
    cell: ({ verdict, isAttack }) => (
      <Badge tone={(verdict.outcome === 'refused') === isAttack ? 'good' : 'danger'}>{outcome(verdict)}</Badge>
    ),
  },
];

const trialsOf = (proof: Proof): readonly Trial[] => [
  { verdict: proof.after, kind: text.isAttack, isAttack: true },
  ...proof.mutations.items.map((verdict) => ({ verdict, kind: text.isVariant, isAttack: true })),
  ...proof.benign.map((verdict) => ({ verdict, kind: text.isHarmless, isAttack: false })),
];

export function PatchProof(props: { readonly of: Proof }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.proof}</h3>
      <Notice tone={props.of.holds ? 'good' : 'danger'} title={props.of.holds ? text.holds : text.fails}>
        <Foreign text={props.of.reason} max={2000} />
        <Show when={props.of.closes !== null}>
          <span>{props.of.closes === true ? text.closes : text.closesNot}</span>
        </Show>
        <span>{text.variantsRefused(props.of.mutations.refused, props.of.mutations.total)}</span>
      </Notice>
      <Table
        label={text.tried}
        columns={columns}
        of={ofRows(() => trialsOf(props.of))}
        keyOf={({ verdict, kind }) => `${kind} ${verdict.name}`}
        empty={text.notProven}
      />
      <Pairs
        of={[
          [text.kind, text.proofOf(text.kinds[props.of.kind], showMoment(props.of.at))],
          [text.before, props.of.before === null ? '–' : outcome(props.of.before)],
          [text.settingsVersion, props.of.settings_version],
          [
            text.nodes,
            <Foreign text={props.of.nodes.map(({ url, state }) => `${url} ${state}`).join(', ')} max={500} />,
          ],
          [text.hash, <code class="mono">{props.of.sha256}</code>],
        ]}
      />
    </section>
  );
}
