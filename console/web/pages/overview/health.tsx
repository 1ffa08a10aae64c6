// Whether what is meant to protect does: nodes, rule set, licence, background work.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { createQuery, type QueryState } from '../../client/query.js';
import { Badge, Notice, type Tone } from '../../kit/basics.js';
import { overviewText as text } from '../../texts/overview.js';

const everyMs = 10_000;

/** `of`: where it comes from; before the answer nothing is said to be well, nor not to be. */
function Entry(props: {
  readonly label: string;
  readonly href: string;
  readonly of: QueryState<unknown>;
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <A class="row" href={props.href}>
      <span class="muted">{props.label}</span>{' '}
      <Show
        when={props.of.data() !== undefined}
        fallback={<Badge>{props.of.problem() === null ? '…' : text.notKnown}</Badge>}
      >
        {props.children}
      </Show>
    </A>
  );
}

/** Addresses that limits took for one client although they speak for others: what happened, and what to set. */
function UnnamedProxies(): JSX.Element {
  const found = createQuery('GET /api/unnamed-proxies', () => ({}), { everyMs: 60_000 });
  return (
    <For each={found.data()?.items}>
      {(one) => (
        <Notice
          tone={one.kind === 'banned' ? 'danger' : 'warn'}
          title={one.kind === 'banned' ? text.proxyBanned(one.address) : text.proxyNotBanned(one.address)}
        >
          {text.proxyCounts(one.addresses, one.node, one.requests)} {text.proxyWhatToDo}{' '}
          <span class="row wrap">
            <A href="/admin/settings">{text.proxySettings}</A>
            <A href="/protection/addresses?source=auto-ban">{text.proxyBans}</A>
            <A href={`/soc?client_ip=${encodeURIComponent(one.address)}`}>{text.proxyRequests}</A>
          </span>
        </Notice>
      )}
    </For>
  );
}

export function Health(props: { readonly settings: QueryState<unknown> }): JSX.Element {
  const nodes = createQuery('GET /api/nodes', () => ({}), { everyMs });
  const categories = createQuery('GET /api/rules/categories');
  const licence = createQuery('GET /api/license');
  const active = (): number => nodes.data()?.items.filter(({ state }) => state === 'active').length ?? 0;
  const all = (): number => nodes.data()?.items.length ?? 0;
  const off = (): string[] =>
    categories
      .data()
      ?.items.filter(({ enabled }) => !enabled)
      .map(({ key }) => key) ?? [];
  const mode = (): string => String((props.settings.data() as { readonly mode?: string } | undefined)?.mode ?? '');
  const licenceTone = (): Tone => (licence.data()?.state === 'valid' ? 'good' : 'neutral');
  return (
    <>
      <Show when={nodes.data() !== undefined && active() < all()}>
        <Notice tone="danger" title={text.nodesDoNotServe(all() - active(), all())}>
          <A href="/admin/nodes">{text.whatTheySay}</A>
        </Notice>
      </Show>
      <UnnamedProxies />
      <Show when={mode() === 'DetectionOnly'}>
        <Notice tone="warn" title={text.nothingBlocked}>
          {text.modeDetectiononlyAttacksAre}
          <A href="/waf">{text.change}</A>
        </Notice>
      </Show>
      <div class="row wrap wide">
        <Entry label={text.nodes} href="/admin/nodes" of={nodes}>
          <Badge tone={active() === all() && all() > 0 ? 'good' : 'danger'}>{text.ofActiveOf(active(), all())}</Badge>
        </Entry>
        <Entry label={text.mode} href="/waf" of={props.settings}>
          <Badge tone={mode() === 'On' ? 'good' : 'warn'}>{mode() === 'On' ? 'blocking' : mode()}</Badge>
        </Entry>
        <Entry label={text.ruleSet} href="/waf" of={categories}>
          <Badge tone={off().length === 0 ? 'good' : 'warn'}>
            {text.crsOf(categories.data()?.crs_version ?? '–', off().length > 0 ? text.off(off().join(', ')) : '')}
          </Badge>
        </Entry>
        <Entry label={text.licence} href="/admin/licence" of={licence}>
          <Badge tone={licenceTone()}>{licence.data()?.state ?? '–'}</Badge>
        </Entry>
      </div>
    </>
  );
}
