import { Show, type JSX } from 'solid-js';
import { Foreign } from '../../kit/basics.js';
import { severityName, type EventDetails, type RuleMessage } from './event-text.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { eventsText as text } from '../../texts/events.js';
import { scoreRows, type ScoreRow } from './sentence/score-rows.js';

const signed = (points: number): string => (points < 0 ? `−${-points}` : `+${points}`);

const columns: readonly TableColumn<ScoreRow>[] = [
  {
    title: text.rule,
    cell: ({ ruleId, message, why }) => (
      <Show when={ruleId !== null} fallback={<span class="muted">{why === undefined ? '' : text.notRules[why]}</span>}>
        <span class="mono">{ruleId}</span> <Foreign text={message} max={120} />
      </Show>
    ),
  },
  { title: text.severity, isMinor: true, cell: ({ severity }) => (severity === '' ? '' : severityName(severity)) },
  { title: text.matches, isMinor: true, isNumber: true, cell: ({ matches }) => (matches === 0 ? '' : `${matches}`) },
  { title: text.points, isNumber: true, cell: ({ points }) => signed(points) },
];

/** The arithmetic of the anomaly score: what each rule added, and what the sum was held against. */
export function ScoreSum(props: { readonly details: EventDetails; readonly inboundScore: number }): JSX.Element {
  const messages = (): readonly RuleMessage[] => props.details.messages ?? [];
  const rows = (): readonly ScoreRow[] => scoreRows(messages(), props.inboundScore);
  const threshold = (): string | null => {
    const summary = messages().find(({ message }) => message.includes('threshold='));
    return /threshold=(\d+)/.exec(summary?.message ?? '')?.[1] ?? null;
  };
  return (
    <Show when={rows().length > 0}>
      <section class="stack tight">
        <h3>{text.score}</h3>
        <Table
          label={text.score}
          columns={columns}
          of={ofRows(rows)}
          keyOf={({ ruleId, why }) => `${ruleId ?? why}`}
          empty=""
        />
        <div class="row between table-sum">
          <span>
            <strong>{text.inboundScore}</strong>
            <Show when={threshold()}>{(limit) => <span class="faint">{text.blocksFromOf(limit())}</span>}</Show>
          </span>
          <strong class="nums">{props.inboundScore}</strong>
        </div>
      </section>
    </Show>
  );
}
