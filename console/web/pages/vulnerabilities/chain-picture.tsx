// A chain as a picture: its hops from left to right (from top to bottom on a narrow screen), what each gives an
// attacker, and which of them are proven. It is a list of links, so that it is read and walked as one, too.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { chainAt, plain, severityTone } from './words.js';
import './chains.css';

export type Chain = Reply<'GET /api/v1/graph/attack-chains'>['chains'][number];
type Hop = Chain['hops'][number];

const findingAt = ({ vuln_id: id }: Hop): string => `/vulnerabilities?finding=${id}&status=all`;

function HopBox(props: { readonly of: Hop }): JSX.Element {
  return (
    <A class={`hop ${props.of.confirmed ? 'is-proven' : ''}`} href={findingAt(props.of)}>
      <span class="hop-stage">{props.of.stage_label}</span>
      <strong class="hop-title">
        <Foreign text={props.of.title} max={120} />
      </strong>
      <Show when={props.of.location}>
        {(location) => (
          <span class="small mono">
            <Foreign text={location()} max={80} />
          </span>
        )}
      </Show>
      <span class="small muted">
        {props.of.technique} <span class="mono">{props.of.mitre}</span>
      </span>
      <span class="row wrap">
        <Badge tone={severityTone(props.of.severity)}>{props.of.severity}</Badge>
        <Show when={props.of.confirmed}>
          <Badge tone="danger">{text.proven}</Badge>
        </Show>
        <Show when={props.of.reachable}>
          <Badge tone="warn">{text.reachable}</Badge>
        </Show>
        <span class="small faint">{text.hopScore(props.of.score)}</span>
      </span>
    </A>
  );
}

export function Proof(props: { readonly of: Chain }): JSX.Element {
  return (
    <Badge tone={props.of.runtime_proven ? 'danger' : 'neutral'}>
      {props.of.runtime_proven ? text.provenOf(props.of.proven_hops, props.of.hops.length) : text.notProven}
    </Badge>
  );
}

function Name(props: { readonly of: Chain; readonly isLink: boolean }): JSX.Element {
  const name = (): JSX.Element => <Foreign text={props.of.name} max={300} />;
  return (
    <Show when={props.isLink} fallback={name()}>
      <A href={chainAt(props.of.id)}>{name()}</A>
    </Show>
  );
}

/** Its name leads to its page, but on that page. */
export function ChainPicture(props: { readonly of: Chain; readonly isItsPage?: boolean }): JSX.Element {
  return (
    <article class={`chain ${props.of.danger ? 'is-dangerous' : ''}`}>
      <header class="row wrap">
        <span class="chain-score" role="img" aria-label={`${text.score} ${props.of.score}`}>
          {props.of.score}
        </span>
        <h3>
          <Name of={props.of} isLink={props.isItsPage !== true} />
        </h3>
        <Badge>{plain(props.of.kind)}</Badge>
        <Show when={props.of.danger}>
          <Badge tone="danger">{text.danger}</Badge>
        </Show>
        <Proof of={props.of} />
        <Show when={props.of.app.internet_facing}>
          <Badge tone="warn">{text.fromInternet}</Badge>
        </Show>
        <Show when={props.of.pivot_to}>
          {(target) => (
            <Badge tone="info">
              <Foreign text={text.pivotTo(target().name)} max={100} />
            </Badge>
          )}
        </Show>
      </header>
      <ol class="hops" aria-label={text.hopsOf(props.of.name)}>
        <For each={props.of.hops}>
          {(hop) => (
            <li>
              <HopBox of={hop} />
            </li>
          )}
        </For>
      </ol>
    </article>
  );
}
