// The nightly self-test: which site, what each night found, and what no longer protects.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import { Attacks, RuleLinks } from './attacks.js';
import type { SelfTest } from './words.js';

const sumOf = (of: SelfTest, name: 'sent' | 'stopped'): number => of.attacks.reduce((sum, one) => sum + one[name], 0);

function Outcome(props: { readonly of: SelfTest }): JSX.Element {
  return (
    <Show when={props.of.error === null} fallback={<Badge tone="danger">{text.statuses.failed}</Badge>}>
      <Show when={props.of.ended_at !== null} fallback={<Badge tone="info">{text.statuses.running}</Badge>}>
        <Show when={props.of.lost.length > 0} fallback={<Badge tone="good">{text.nothingLost}</Badge>}>
          <Badge tone="danger">{text.lostCount(showCount(props.of.lost.length))}</Badge>
        </Show>
      </Show>
    </Show>
  );
}

const columns: readonly TableColumn<SelfTest>[] = [
  { title: text.started, class: 'nums', cell: (one) => showMoment(one.started_at) },
  { title: text.lost, cell: (one) => <Outcome of={one} /> },
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={80} /> },
  { title: text.tested, isNumber: true, cell: ({ attacks }) => showCount(attacks.length) },
  {
    title: text.stopped,
    isNumber: true,
    cell: (one) => text.stoppedOf(showCount(sumOf(one, 'stopped')), showCount(sumOf(one, 'sent'))),
  },
];

function Lost(props: { readonly of: SelfTest }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.lost}</h3>
      <ul class="stack plain-list">
        <For each={props.of.lost} fallback={<li class="muted">{text.nothingLostAbout}</li>}>
          {(one) => (
            <li class="evidence boxed">
              <div class="row wrap">
                <code>
                  <Foreign text={one.attack} max={120} />
                </code>
                <Show when={one.passes}>
                  <Badge tone="danger">{text.passesNow}</Badge>
                </Show>
              </div>
              <Show when={one.stages.length > 0}>
                <span>
                  <Foreign text={text.lostStages(one.stages.join(', '))} max={300} />
                </span>
              </Show>
              <Show when={one.rule_ids.length > 0}>
                <span class="row wrap">
                  {text.lostRules} <RuleLinks ids={one.rule_ids} />
                </span>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

function Opened(props: { readonly of: SelfTest }): JSX.Element {
  return (
    <>
      <Pairs
        of={[
          [text.site, <Foreign text={props.of.site} max={200} />],
          [text.started, showMoment(props.of.started_at)],
          [text.lost, <Outcome of={props.of} />],
        ]}
      />
      <Show when={props.of.error}>
        {(error) => (
          <Notice tone="danger">
            <Foreign text={error()} max={600} />
          </Notice>
        )}
      </Show>
      <Lost of={props.of} />
      <Attacks of={props.of.attacks} />
    </>
  );
}

/** Which site is tested, or that none is. */
function Tested(): JSX.Element {
  const settings = createQuery('GET /api/settings');
  return (
    <Read of={settings}>
      {(data) => {
        const site = (): string => {
          const { self_test_site: name } = data();
          return typeof name === 'string' ? name : '';
        };
        return (
          <Notice tone={site() === '' ? 'info' : 'neutral'} {...(site() === '' ? { title: text.selfTestOff } : {})}>
            <span>{site() === '' ? text.selfTestOffAbout : text.selfTestOn(site())}</span>
            <A href="/admin/settings/other#self_test_site">{site() === '' ? text.chooseSite : text.changeSite}</A>
          </Notice>
        );
      }}
    </Read>
  );
}

export function SelfTests(): JSX.Element {
  const list = createPagedList('GET /api/ai/self-tests', () => ({}));
  const [chosen, choose] = createChosen('test');
  const opened = (): SelfTest | null => list.items().find(({ id }) => id === chosen()) ?? null;
  return (
    <>
      <p class="muted">{text.selfTestAbout}</p>
      <Tested />
      <Show when={chosen() !== null && opened() === null && list.isAnswered()}>
        <Notice tone="warn" title={text.gone}>
          {text.goneAbout}
        </Notice>
      </Show>
      <ListCard
        label={text.tabs['self-tests']}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={text.noSelfTests}
        emptyAbout={text.noSelfTestsAbout}
      />
      <Overlay isOpen={opened() !== null} look="drawer" title={text.selfTestRun} onClose={() => choose(null)}>
        <Show when={opened()}>{(one) => <Opened of={one()} />}</Show>
      </Overlay>
    </>
  );
}
