// What the rules made of a request of the demo: the decision, each rule with what it saw, and the sum.
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { Badge, Card, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { demoText as text } from '../../texts/demo.js';

type Answer = Reply<'POST /api/demo'>;
type Match = Answer['matches'][number];

const columns: readonly TableColumn<Match>[] = [
  { title: text.rule, class: 'mono', cell: ({ rule_id }) => rule_id },
  { title: text.why, cell: ({ message }) => <Foreign text={message} max={160} /> },
  { title: text.severity, cell: ({ severity }) => severity },
  { title: text.points, isNumber: true, cell: ({ points }) => `+${points}` },
];

function Decision(props: { readonly of: Answer }): JSX.Element {
  const isBlocked = (): boolean => props.of.verdict === 'block';
  const about = (): string => {
    const { blocked_by, inbound_score, inbound_threshold } = props.of;
    if (isBlocked() && inbound_score >= inbound_threshold) return text.blockedAbout(inbound_score, inbound_threshold);
    if (isBlocked()) return text.stoppedBy(blocked_by);
    return inbound_score > 0 ? text.nearAbout(inbound_score, inbound_threshold) : text.cleanAbout;
  };
  return (
    <Notice tone={isBlocked() ? 'danger' : 'good'} title={isBlocked() ? text.blocked(props.of.status) : text.passed}>
      {about()}
    </Notice>
  );
}

function Finding(props: { readonly match: Match }): JSX.Element {
  const steps = (): string => props.match.transformations.join(', ') || text.asItCame;
  return (
    <div class="stack tight demo-finding">
      <div class="row wrap">
        <code>{props.match.rule_id}</code>
        <strong>
          <Foreign text={props.match.message} max={160} />
        </strong>
        <Badge tone="danger">+{props.match.points}</Badge>
      </div>
      <Pairs
        of={[
          [text.lookedIn, <Foreign text={props.match.variable} max={200} />],
          [
            text.sawThere,
            <code>
              <Foreign text={props.match.value} max={400} />
            </code>,
          ],
          [text.by, <code>{props.match.operator}</code>],
          [text.after, steps()],
          [text.level, props.match.paranoia_level],
        ]}
      />
    </div>
  );
}

export function Explanation(props: { readonly of: Answer }): JSX.Element {
  const sum = (): number => props.of.matches.reduce((total, { points }) => total + points, 0);
  return (
    <>
      <Decision of={props.of} />
      <Show when={props.of.matches.length > 0}>
        <Card title={text.arithmetic} isFlush>
          <Table
            label={text.arithmetic}
            columns={columns}
            of={ofRows(() => props.of.matches)}
            keyOf={({ rule_id, variable }) => `${rule_id} ${variable}`}
            empty={text.noPoints}
          />
          <Show when={props.of.inbound_score > sum()}>
            <div class="row between table-sum">
              <span>{text.more}</span>
              <span class="nums">+{props.of.inbound_score - sum()}</span>
            </div>
          </Show>
          <div class="row between table-sum">
            <strong>{text.sum}</strong>
            <strong class="nums">{props.of.inbound_score}</strong>
          </div>
          <div class="row between table-sum faint">
            <span>{text.threshold}</span>
            <span class="nums">{props.of.inbound_threshold}</span>
          </div>
        </Card>
        <Card title={text.whatRulesSaw}>
          <div class="stack">
            <For each={props.of.matches}>{(match) => <Finding match={match} />}</For>
          </div>
        </Card>
      </Show>
    </>
  );
}
