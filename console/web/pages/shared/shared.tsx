// The page of a share link: one event, read-only, for a reader without a login. The token stands behind # in the
// address: browsers do not send that part, so that no log holds it. It stays there, so that the page can be reloaded.
import { useLocation } from '@solidjs/router';
import { createSignal, Match, onMount, Switch, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { Badge, Button, Card, Foreign, Loading, Notice, Pairs } from '../../kit/basics.js';
import { Mark } from '../../kit/icons.js';
import { Toasts } from '../../kit/overlays.js';
import { brand, brandSub } from '../../shell/brand.js';
import { eventsText as words } from '../../texts/events.js';
import { shareText as text } from '../../texts/events/share.js';
import { RequestPart, RulesPart } from '../events/event-parts.js';
import { isSummary, type EventDetails } from '../events/event-text.js';
import { ScoreSum } from '../events/score-sum.js';
import { Sentence, SummaryBadges } from '../events/sentence/sentence.js';
import { copyAsMarkdown } from '../events/share/copy.js';
import { verdictTone } from '../events/verdict-tone.js';

type Shared = Reply<'POST /api/shared-event'>;

function SharedBody(props: { readonly of: Shared }): JSX.Element {
  const details = (): EventDetails => props.of.details as unknown as EventDetails;
  const stopped = (): JSX.Element => {
    const stop = details().interruption;
    return stop == null
      ? words.nothingWentApplication
      : words.rulePhaseStatus(stop.ruleId ?? '–', stop.phase ?? '–', stop.status ?? '–');
  };
  return (
    <Card>
      <div class="stack">
        <div class="row wrap">
          <SummaryBadges of={props.of.summary} />
          <Badge tone={verdictTone(props.of.verdict)}>{props.of.verdict}</Badge>
        </div>
        <h2 class="event-sentence">
          <Sentence of={props.of.summary} />
        </h2>
        <p class="muted">{text.whatCanBeDone}</p>
        <div>
          <Button icon="list" onClick={() => void copyAsMarkdown({ ...props.of, details: details() })}>
            {text.copyMarkdown}
          </Button>
        </div>
        <Pairs
          of={[
            [words.when, showMoment(props.of.at)],
            [words.site, <Foreign text={props.of.site} max={200} />],
            [words.answer, String(props.of.status)],
            [words.stoppedBy, stopped()],
            [text.network, props.of.client_network],
            [words.requestId, <Foreign text={props.of.request_id} max={130} />],
          ]}
        />
        <RulesPart messages={(details().messages ?? []).filter((one) => !isSummary(one))} />
        <ScoreSum details={details()} inboundScore={props.of.inbound_score} />
        <RequestPart event={props.of} details={details()} />
      </div>
    </Card>
  );
}

export function SharedEvent(): JSX.Element {
  const location = useLocation();
  const [event, setEvent] = createSignal<Shared | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  onMount(() => {
    const token = location.hash.replace(/^#/, '');
    call('POST /api/shared-event', { body: { token } }).then(setEvent, (error: unknown) =>
      setProblem(error instanceof Refused ? error.message : String(error)),
    );
  });
  return (
    <main class="page shared" id="content">
      <span class="brand">
        <Mark />
        <span>
          {brand} <small>{brandSub}</small>
        </span>
      </span>
      <h1>{text.shared}</h1>
      <Switch fallback={<Loading what={text.opening} />}>
        <Match when={problem()}>
          {(found) => (
            <Notice tone="warn" title={text.noLink}>
              {found()}
            </Notice>
          )}
        </Match>
        <Match when={event()}>
          {(found) => (
            <>
              <p class="muted">{text.sharedAbout(showMoment(found().expires_at))}</p>
              <SharedBody of={found()} />
            </>
          )}
        </Match>
      </Switch>
      <Toasts />
    </main>
  );
}
