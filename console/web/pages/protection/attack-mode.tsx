// Attack mode: what the setting says, what every node makes of it, and what has changed when.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type AttackMode = Reply<'GET /api/attack-mode'>;
type NodeRate = AttackMode['nodes'][number];
type Change = AttackMode['changes'][number];

const rate = (value: number | null): string => (value === null ? '–' : showCount(Math.round(value)));

const nodeColumns: readonly TableColumn<NodeRate>[] = [
  { title: text.node, class: 'mono', cell: ({ node }) => node },
  {
    title: text.state,
    cell: ({ answers, active }) => (
      <Badge tone={!answers ? 'warn' : active ? 'danger' : 'good'}>
        {!answers ? text.silent : active ? text.underAttack : text.calm}
      </Badge>
    ),
  },
  { title: text.since, class: 'nums', cell: ({ active_since: since }) => showMoment(since) },
  { title: text.servesBy, cell: ({ mode }) => mode ?? '–' },
  { title: text.perMinute, isNumber: true, cell: (node) => rate(node.requests_per_minute) },
  { title: text.usual, isNumber: true, cell: (node) => rate(node.baseline_rpm) },
  {
    title: text.attackFrom,
    isNumber: true,
    cell: (node) => (node.threshold_rpm === null ? text.beingLearned : rate(node.threshold_rpm)),
  },
  { title: text.learnedMinutes, isNumber: true, cell: (node) => rate(node.learned_minutes) },
];

const changeColumns: readonly TableColumn<Change>[] = [
  { title: text.when, class: 'nums', sortBy: ({ at }) => at, cell: ({ at }) => showMoment(at) },
  { title: text.node, class: 'mono', cell: ({ node }) => node },
  {
    title: text.change,
    cell: ({ change }) => (
      <Badge tone={change === 'enter' ? 'danger' : 'good'}>{change === 'enter' ? text.begins : text.isOver}</Badge>
    ),
  },
  { title: text.cause, cell: ({ cause }) => (cause === 'setting' ? text.bySetting : text.byRate) },
  { title: text.perMinute, isNumber: true, sortBy: ({ rpm }) => rpm, cell: ({ rpm: now }) => rate(now) },
  { title: text.usual, isNumber: true, cell: ({ baseline_rpm: usual }) => rate(usual) },
  { title: text.attackFrom, isNumber: true, cell: ({ threshold_rpm: limit }) => rate(limit) },
  { title: text.what, cell: ({ summary }) => <Foreign text={summary} max={300} /> },
];

/** Of each node and of the last hundred changes. */
function State(): JSX.Element {
  const state = createQuery('GET /api/attack-mode', () => ({}), { everyMs: 10_000 });
  return (
    <Read of={state}>
      {(data) => (
        <>
          <Show when={data().active}>
            <Notice tone="danger" title={text.underAttack}>
              {text.tightCap(data().burst_events, data().burst_window)}
            </Notice>
          </Show>
          <Card
            title={text.whenItIsAnAttack}
            actions={<Badge tone={data().active ? 'danger' : 'neutral'}>{data().mode}</Badge>}
          >
            <div class="stack tight">
              <Show when={data().mode === 'off'}>
                <p class="muted">
                  {text.attackModeIsOff} <A href="/admin/settings/rates#attack_mode">{text.switchOn}</A>
                </p>
              </Show>
              <Pairs
                of={[
                  [text.spike, text.timesUsual(data().spike_factor)],
                  [text.atLeast, text.perMinuteOf(showCount(data().min_rpm))],
                  [text.burst, text.burstOf(data().burst_events, data().burst_window)],
                ]}
              />
            </div>
          </Card>
          <Card isFlush title={text.nodes}>
            <Table
              label={text.nodes}
              columns={nodeColumns}
              of={ofRows(() => data().nodes)}
              keyOf={({ node }) => node}
              empty={text.noNode}
            />
          </Card>
          <Card isFlush title={text.changes}>
            <Table
              label={text.changes}
              columns={changeColumns}
              of={ofRows(() => data().changes)}
              keyOf={({ at, node }) => `${at} ${node}`}
              empty={text.noAttackYet}
              emptyAbout={text.noAttackYetAbout}
            />
          </Card>
        </>
      )}
    </Read>
  );
}

export function AttackModePage(): JSX.Element {
  return (
    <>
      <PageHead title={text.attackMode} about={text.attackModeAbout} />
      <State />
    </>
  );
}
