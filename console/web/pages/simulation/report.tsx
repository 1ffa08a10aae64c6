// The report of a wave: what became of each request, what stopped it, how soon, and what the engine made of it.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { Badge, Card, Figure, Foreign, Notice, type Tone } from '../../kit/basics.js';
import { RuleLink } from '../../kit/evidence/rule-link.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { engineText } from '../../texts/engine/engine.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import { Attacks } from './attacks.js';
import { verdictsIn, type Report, type ReportVerdict } from './words.js';

type Stage = Report['by_stage'][number];

const stageColumns: readonly TableColumn<Stage>[] = [
  { title: text.stage, cell: ({ stage }) => <Foreign text={stage} max={80} /> },
  {
    title: text.rule,
    cell: ({ rule_id: id }) => (
      <Show when={id} fallback={text.none}>
        {(rule) => <RuleLink id={rule()} />}
      </Show>
    ),
  },
  { title: text.count, isNumber: true, sortBy: ({ count }) => count, cell: ({ count }) => showCount(count) },
];

const rungTones: Readonly<Record<string, Tone>> = { BLOCK: 'danger', CHALLENGE: 'warn', RATE_LIMIT: 'info' };
export const rungName = (verdict: string): string =>
  (engineText.rungs as Readonly<Record<string, string>>)[verdict] ?? verdict;

const verdictColumns: readonly TableColumn<ReportVerdict>[] = [
  {
    title: text.client,
    class: 'mono',
    cell: ({ id, address }) => <A href={`/engine?view=history&verdict=${id}`}>{address}</A>,
  },
  {
    title: text.verdict,
    cell: ({ verdict }) => <Badge tone={rungTones[verdict] ?? 'neutral'}>{rungName(verdict)}</Badge>,
  },
  { title: text.risk, isNumber: true, sortBy: ({ risk }) => risk, cell: ({ risk }) => risk },
  { title: text.signals, cell: ({ signals }) => <Foreign text={signals.join(', ')} max={200} /> },
];

function Numbers(props: { readonly of: Report }): JSX.Element {
  const detected = (): string =>
    props.of.first_stopped_ms === null ? text.none : text.ms(showCount(props.of.first_stopped_ms));
  return (
    <div class="figures-narrow">
      <Figure label={text.sent} value={showCount(props.of.sent)} />
      <Figure label={text.stopped} value={showCount(props.of.stopped)} />
      <Figure label={text.passed} value={showCount(props.of.passed)} />
      <Figure label={text.failed} value={showCount(props.of.failed)} note={text.failedNote} />
      <Show when={(props.of.unrecorded ?? 0) > 0}>
        <Figure label={text.unrecorded} value={showCount(props.of.unrecorded ?? 0)} note={text.unrecordedNote} />
      </Show>
      <Figure
        label={text.detect}
        value={detected()}
        note={props.of.first_stopped_ms === null ? text.notDetected : undefined}
      />
    </div>
  );
}

export function ReportView(props: { readonly of: Report }): JSX.Element {
  return (
    <>
      <Numbers of={props.of} />
      <Show when={props.of.sent > 0 && props.of.stopped === 0}>
        <Notice tone="danger" title={text.nothingStopped}>
          {text.nothingStoppedAbout}
        </Notice>
      </Show>
      <Card isFlush title={text.byStage}>
        <Table
          label={text.byStage}
          columns={stageColumns}
          of={ofRows(() => props.of.by_stage)}
          keyOf={({ stage, rule_id: id }) => `${stage} ${id}`}
          empty={text.nothingStopped}
        />
      </Card>
      <Card isFlush title={text.verdicts}>
        <Table
          label={text.verdicts}
          columns={verdictColumns}
          of={ofRows(() => verdictsIn(props.of))}
          keyOf={({ id }) => String(id)}
          empty={text.noVerdicts}
          emptyAbout={text.noVerdictsAbout}
        />
      </Card>
      <Attacks of={props.of.attacks} />
    </>
  );
}
