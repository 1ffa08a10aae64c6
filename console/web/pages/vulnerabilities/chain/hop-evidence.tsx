// What a hop of a chain rests on: why it is one, what proves it, who saw it, and what stands before it.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { showCount, showMoment } from '../../../client/moments.js';
import { Badge, Foreign, ForeignLines, Pairs, type Tone } from '../../../kit/basics.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { severityTone } from '../words.js';

type Told = Reply<'GET /api/v1/graph/attack-chains/{id}'>;
type Hop = Told['chain']['hops'][number];
type Evidence = Told['evidence'][number];

const proofTones: Readonly<Record<Evidence['proof'], Tone>> = { runtime: 'danger', exploit: 'danger', none: 'neutral' };
/** Characters of JSON that are shown. */
const jsonMax = 20_000;

function Rests(props: { readonly of: Evidence }): JSX.Element {
  return (
    <Pairs
      of={[
        [words.proof, <Badge tone={proofTones[props.of.proof]}>{words.proofs[props.of.proof]}</Badge>],
        [
          words.capability,
          <A href={`/vulnerabilities/chains?view=rules&find=${encodeURIComponent(props.of.capability)}`}>
            <Foreign text={props.of.capability} max={60} />
          </A>,
        ],
        [words.weakness, <Foreign text={props.of.cwe.join(', ') || '–'} max={200} />],
        [words.seenBy, <Foreign text={words.byRule(props.of.tool || props.of.source, props.of.rule_id)} max={300} />],
        [words.sightings, showCount(props.of.occurrences)],
        [words.firstSeen, showMoment(props.of.first_seen)],
        [words.lastSeen, showMoment(props.of.last_seen)],
        [
          words.runtimeEvents,
          props.of.runtime_events === 0
            ? words.noEvents
            : words.eventsUntil(showCount(props.of.runtime_events), showMoment(props.of.last_event_at)),
        ],
        [words.patch, <Patch of={props.of.vpatch} />],
      ]}
    />
  );
}

function Patch(props: { readonly of: Evidence['vpatch'] }): JSX.Element {
  return (
    <Show when={props.of} fallback={words.noPatch}>
      {(patch) => <A href={`/vulnerabilities/patches?patch=${patch().id}`}>{words.patchIs(patch().state)}</A>}
    </Show>
  );
}

export function HopEvidence(props: {
  readonly hop: Hop;
  readonly number: number;
  /** undefined: the finding went while it was looked at. */
  readonly of: Evidence | undefined;
}): JSX.Element {
  return (
    <li class="stack tight">
      <h3 class="row wrap">
        <span class="faint nums">{props.number}</span>
        <span>{props.hop.stage_label}</span>
        <Badge tone={severityTone(props.hop.severity)}>{props.hop.severity}</Badge>
      </h3>
      <A href={`/vulnerabilities?finding=${props.hop.vuln_id}&status=all`}>
        <Foreign text={props.hop.title} max={300} />
      </A>
      <Show when={props.of} fallback={<p class="muted">{words.hopWent}</p>}>
        {(evidence) => (
          <>
            <p>
              <Foreign text={evidence().why} max={600} />
            </p>
            <Rests of={evidence()} />
            <Show when={evidence().items.length > 0}>
              <details class="fold">
                <summary>{words.evidenceOf(showCount(evidence().items.length))}</summary>
                <div class="code">
                  <ForeignLines text={JSON.stringify(evidence().items, null, 2)} max={jsonMax} />
                </div>
              </details>
            </Show>
          </>
        )}
      </Show>
    </li>
  );
}
