// Why something is no chain (any more): what is kept of it, and what became of each of its findings.
import { A } from '@solidjs/router';
import { createMemo, For, Match, Show, Switch, type JSX } from 'solid-js';
import type { Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Card, Foreign, Loading, Notice } from '../../../kit/basics.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { isOpenState, plain, severityTone } from '../words.js';

type Kept = Item<'GET /api/v1/graph/history'>;

/** As many as one answer holds. */
const historyMax = 500;

/** `chain:12:toxic-…` starts at application 12; null: it is the address of no chain. */
export const startOf = (id: string): string | null => /^chain:([1-9]\d{0,17}):[a-z0-9-]+$/.exec(id)?.[1] ?? null;

function FormerHop(props: { readonly id: string }): JSX.Element {
  const finding = createQuery('GET /api/v1/vulnerabilities/{id}', () => ({ params: { id: props.id } }));
  return (
    <li class="row wrap">
      <Switch fallback={<Loading />}>
        <Match when={finding.data()}>
          {(data) => (
            <>
              <Badge tone={severityTone(data().severity)}>{data().severity}</Badge>
              <A href={`/vulnerabilities?finding=${props.id}&status=all`}>
                <Foreign text={data().title} max={300} />
              </A>
              <Badge tone={isOpenState(data().status) ? 'neutral' : 'good'}>{plain(data().status)}</Badge>
            </>
          )}
        </Match>
        <Match when={finding.problem()}>
          {(problem) => (
            <span class="muted">{problem().status === 404 ? words.findingGone(props.id) : problem().message}</span>
          )}
        </Match>
      </Switch>
    </li>
  );
}

/** The history is looked at once a minute: a chain that has just gone still stands in it. */
const stoodOf = ({ since, gone_at: goneAt }: Kept): string =>
  goneAt === null ? words.stoodSince(showMoment(since)) : words.stoodFromTo(showMoment(since), showMoment(goneAt));

function Former(props: { readonly of: Kept }): JSX.Element {
  return (
    <Card title={words.whatBecame}>
      <div class="stack">
        <p>
          <Foreign text={props.of.name} max={400} />
        </p>
        <p class="muted">{stoodOf(props.of)}</p>
        <ol class="stack tight">
          <For each={props.of.hop_vuln_ids}>{(id) => <FormerHop id={id} />}</For>
        </ol>
        <p class="muted">{words.whyNoChain}</p>
      </div>
    </Card>
  );
}

export function GoneChain(props: { readonly id: string }): JSX.Element {
  const start = (): string | null => startOf(props.id);
  const kept = createQuery('GET /api/v1/graph/history', () => {
    const application = start();
    return application === null
      ? null
      : { query: { application_id: application, sort: '-since' as const, limit: historyMax } };
  });
  const former = createMemo(() => kept.data()?.items.find(({ chain_id: id }) => id === props.id));
  return (
    <div class="stack">
      <Notice tone="neutral" title={words.noSuchChain}>
        <span>{words.noSuchChainAbout}</span>
        <div class="row wrap">
          <A href={`/vulnerabilities/chains?view=history&application_id=${start() ?? ''}`}>{words.history}</A>
          <A href="/vulnerabilities/chains?view=rules">{words.whatCounts}</A>
        </div>
      </Notice>
      <Show when={former()}>{(one) => <Former of={one()} />}</Show>
    </div>
  );
}
