import { Show, type JSX } from 'solid-js';
import { Foreign } from '../../kit/basics.js';
import { pointsOf, severityName, type EventDetails, type RuleMessage } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { eventsText as text } from '../../texts/events.js';

const columns: readonly TableColumn<RuleMessage>[] = [
  {
    title: text.rule,
    cell: ({ rule_id, message }) => (
      <>
        <span class="mono">{rule_id}</span> <Foreign text={message} max={120} />
      </>
    ),
  },
  { title: text.severity, cell: ({ severity }) => severityName(severity) },
  { title: text.points, isNumber: true, cell: ({ severity }) => `+${pointsOf(severity)}` },
];

/** The arithmetic of the anomaly score: what each rule added, and what the sum was held against. */
export function ScoreSum(props: {
  readonly event: SecurityEvent;
  readonly messages: readonly RuleMessage[];
}): JSX.Element {
  const added = (): readonly RuleMessage[] => props.messages.filter(({ severity }) => pointsOf(severity) > 0);
  const details = (): EventDetails => (props.event.details ?? {}) as EventDetails;
  const sum = (): number => added().reduce((total, { severity }) => total + pointsOf(severity), 0);
  const threshold = (): string | null => {
    const summary = details().messages?.find(({ message }) => message.includes('threshold='));
    return /threshold=(\d+)/.exec(summary?.message ?? '')?.[1] ?? null;
  };
  return (
    <Show when={added().length > 0}>
      <section class="stack tight">
        <h3>{text.score}</h3>
        <Table
          label={text.score}
          columns={columns}
          of={ofRows(added)}
          keyOf={(message) => `${message.rule_id} ${message.match}`}
          empty=""
        />
        <div class="row between table-sum">
          <span>
            <strong>{text.inboundScore}</strong>
            <Show when={threshold()}>{(limit) => <span class="faint">{text.blocksFromOf(limit())}</span>}</Show>
            <Show when={sum() !== props.event.inbound_score}>
              <span class="faint">{text.rulesWithoutMessageOr}</span>
            </Show>
          </span>
          <strong class="nums">{props.event.inbound_score}</strong>
        </div>
      </section>
    </Show>
  );
}
