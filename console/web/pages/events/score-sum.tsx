import { For, Show, type JSX } from 'solid-js';
import { pointsOf, severityName, type EventDetails, type RuleMessage } from './event-text.js';
import type { SecurityEvent } from './events.js';

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
        <h3>Score</h3>
        <table class="table">
          <thead>
            <tr>
              <th>Rule</th>
              <th>Severity</th>
              <th class="num">Points</th>
            </tr>
          </thead>
          <tbody>
            <For each={added()}>
              {(message) => (
                <tr>
                  <td class="mono">{message.rule_id}</td>
                  <td>{severityName(message.severity)}</td>
                  <td class="num">+{pointsOf(message.severity)}</td>
                </tr>
              )}
            </For>
            <tr>
              <td colspan="2">
                <strong>Inbound score</strong>
                <Show when={threshold()}>{(limit) => <span class="faint"> blocks from {limit()}</span>}</Show>
                <Show when={sum() !== props.event.inbound_score}>
                  <span class="faint">; rules without a message or at another paranoia level make the difference</span>
                </Show>
              </td>
              <td class="num">
                <strong>{props.event.inbound_score}</strong>
              </td>
            </tr>
          </tbody>
        </table>
      </section>
    </Show>
  );
}
