// One event, explained in full: the request as it was stored, each rule with what it saw and where, the points that
// added up, and what can be done about it from here.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { showMicroseconds, showMoment } from '../../client/moments.js';
import { Badge, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { EventActions } from './event-actions.js';
import { EventStages } from './event-stages.js';
import { isSummary, messageOfRule, type EventDetails, type RuleMessage } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { verdictTone } from './verdict-tone.js';
import { ExcludeDialog } from './exclude-dialog.js';
import { RequestPart, RulesPart } from './event-parts.js';
import { ScoreSum } from './score-sum.js';
import { Sentence, SummaryBadges } from './sentence/sentence.js';
import { eventsText as words } from '../../texts/events.js';
import { workbenchText } from '../../texts/events/workbench.js';

const facetWords = workbenchText.facets;

const detailsOf = (event: SecurityEvent): EventDetails => (event.details ?? {}) as EventDetails;

/** How a client shook hands; nothing where it came without TLS. */
function tlsFacts(tls: EventDetails['tls']): (readonly [string, JSX.Element])[] {
  if (tls == null) return [];
  const { version, alpn, server_name: name, ja3, ja4 } = tls;
  const shown = [version, alpn, name].filter((part) => part != null && part !== '').join(', ');
  return [
    [words.tls, <Foreign text={shown} max={300} />],
    ...(ja3 ? [['JA3', <code>{ja3}</code>] as const] : []),
    ...(ja4 ? [['JA4', <code>{ja4}</code>] as const] : []),
  ];
}

/** Country and network of the client; nothing where they are unknown. */
const placeFacts = ({ country, asn }: SecurityEvent): (readonly [string, JSX.Element])[] => [
  ...(country === null ? [] : [[facetWords.country, country] as const]),
  ...(asn === null ? [] : [[facetWords.asn, `AS${asn}`] as const]),
];

function Facts(props: { readonly event: SecurityEvent }): JSX.Element {
  const details = (): EventDetails => detailsOf(props.event);
  const stopped = (): JSX.Element => {
    const found = details().interruption;
    if (found == null) return words.nothingWentApplication;
    const said = words.rulePhaseStatus(found.ruleId ?? '–', found.phase ?? '–', found.status ?? '–');
    const name = messageOfRule(found.ruleId ?? null, details());
    return name === '' ? said : <Foreign text={`${said}: ${name}`} max={300} />;
  };
  return (
    <Pairs
      of={[
        [words.when, showMoment(props.event.at)],
        [words.client, <A href={`/soc?client_ip=${props.event.client_ip}`}>{props.event.client_ip}</A>],
        ...placeFacts(props.event),
        [words.site, <Foreign text={props.event.site} />],
        [words.answer, String(props.event.status)],
        [words.stoppedBy, stopped()],
        [words.inspectionTook, showMicroseconds(details().inspection_us ?? 0)],
        ...tlsFacts(details().tls),
        [words.requestId, <code>{props.event.request_id}</code>],
        [words.nodeGeneration, `${props.event.node}, ${details().generation ?? '–'}`],
      ]}
    />
  );
}

export function EventDrawer(props: {
  readonly event: SecurityEvent | null;
  readonly onClose: () => void;
}): JSX.Element {
  const [isExcluding, setExcluding] = createSignal(false);
  const messages = (): readonly RuleMessage[] =>
    props.event === null ? [] : (detailsOf(props.event).messages ?? []).filter((one) => !isSummary(one));
  return (
    <Overlay look="drawer" isOpen={props.event !== null} title={words.securityEvent} onClose={props.onClose}>
      <Show when={props.event}>
        {(event) => (
          <>
            <div class="stack tight">
              <div class="row wrap">
                <SummaryBadges of={event().summary} />
                <Badge tone={verdictTone(event().verdict)}>{event().verdict}</Badge>
              </div>
              <p class="event-sentence">
                <Sentence of={event().summary} />
              </p>
              <span class="mono truncate muted">
                <Foreign text={event().method} /> <Foreign text={event().uri} max={120} />
              </span>
            </div>
            <EventActions event={event()} onExclude={() => setExcluding(true)} />
            <Show when={detailsOf(event()).error}>
              {(text) => (
                <Notice tone="warn" title={words.inspectionFailed}>
                  <Foreign text={text()} />
                </Notice>
              )}
            </Show>
            <Facts event={event()} />
            <EventStages details={detailsOf(event())} />
            <RulesPart messages={messages()} isLinked />
            <ScoreSum details={detailsOf(event())} inboundScore={event().inbound_score} />
            <RequestPart event={event()} details={detailsOf(event())} />
            <Show when={isExcluding()}>
              <ExcludeDialog event={event()} messages={messages()} onClose={() => setExcluding(false)} />
            </Show>
          </>
        )}
      </Show>
    </Overlay>
  );
}
