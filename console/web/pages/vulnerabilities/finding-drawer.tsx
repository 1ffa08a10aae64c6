// One finding with all that is known of it, its history, and what may be done about it from here.
import { For, Show, type JSX } from 'solid-js';
import { A } from '@solidjs/router';
import { createQuery } from '../../client/query.js';
import { showMoment } from '../../client/moments.js';
import type { Reply } from '../../client/http.js';
import type { VmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { vpatchText as patchText } from '../../texts/vm/vpatches.js';
import { FindingMoves } from './finding-moves.js';
import { findingsOf, isOpenState, plain, severityTone, type Applications } from './words.js';

type Detail = Reply<'GET /api/v1/vulnerabilities/{id}'>;
type History = Reply<'GET /api/v1/vulnerabilities/{id}/history'>;

const listed = (words: readonly string[]): JSX.Element =>
  words.length === 0 ? '–' : <Foreign text={words.join(', ')} max={600} />;

const riskOf = ({ risk_override: byHand, effective_risk: risk, priority_score: priority }: Detail): string =>
  byHand === null ? text.riskOf(risk, priority) : text.riskSetByHand(risk);

function Facts(props: {
  readonly of: Detail;
  readonly applications: Applications;
  readonly mine: string | undefined;
}): JSX.Element {
  const assignee = (): JSX.Element => {
    const id = props.of.assignee_id;
    return id === null ? text.nobody : id === props.mine ? text.me : <Foreign text={id} />;
  };
  return (
    <Pairs
      of={[
        [
          text.application,
          <A href={findingsOf(props.of.application_id)}>
            <Foreign text={props.applications.nameOf(props.of.application_id)} />
          </A>,
        ],
        [text.location, <Foreign text={props.of.location} max={2000} />],
        [text.risk, riskOf(props.of)],
        [text.weakness, listed(props.of.cwe)],
        [text.identifiers, listed(props.of.vuln_ids)],
        [text.epss, props.of.epss === null ? '–' : props.of.epss.toFixed(3)],
        [text.fix, plain(props.of.fix_state)],
        [text.tool, <Foreign text={`${props.of.tool} (${props.of.source})`} max={200} />],
        [text.rule, <Foreign text={props.of.rule_id} max={300} />],
        [text.tags, listed(props.of.tags)],
        [text.assignee, assignee()],
        [text.due, `${showMoment(props.of.sla.due_at)}, ${plain(props.of.sla.state)}`],
        [text.found, showMoment(props.of.first_seen)],
        [text.lastSeen, showMoment(props.of.last_seen)],
      ]}
    />
  );
}

/** A link only where it leads to a web page: a report may name any address, `javascript:` too. */
function Reference(props: { readonly url: string }): JSX.Element {
  const isWeb = (): boolean => /^https?:\/\//i.test(props.url) && URL.canParse(props.url);
  return (
    <li>
      <Show when={isWeb()} fallback={<Foreign text={props.url} max={500} />}>
        <a href={props.url} target="_blank" rel="noopener noreferrer">
          <Foreign text={props.url} max={500} />
        </a>
      </Show>
    </li>
  );
}

function Told(props: { readonly of: Detail }): JSX.Element {
  return (
    <>
      <Show when={props.of.description !== ''}>
        <section class="stack tight">
          <h3>{text.description}</h3>
          <div class="code">
            <Foreign text={props.of.description} max={20_000} />
          </div>
        </section>
      </Show>
      <Show when={props.of.evidence.length > 0}>
        <section class="stack tight">
          <h3>{text.evidence}</h3>
          <div class="code">
            <Foreign text={JSON.stringify(props.of.evidence, null, 2)} max={20_000} />
          </div>
        </section>
      </Show>
      <Show when={props.of.references.length > 0}>
        <section class="stack tight">
          <h3>{text.references}</h3>
          <ul class="stack tight">
            <For each={props.of.references}>{(url) => <Reference url={url} />}</For>
          </ul>
        </section>
      </Show>
    </>
  );
}

function Changes(props: { readonly of: History }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.history}</h3>
      <ol class="stack">
        <For each={props.of.items} fallback={<li class="muted">{text.noHistory}</li>}>
          {(one) => (
            <li class="stack tight">
              <span>{text.moved(plain(one.from ?? '–'), plain(one.to))}</span>
              <Show when={one.reason !== '' || one.justification !== null}>
                <Foreign text={[plain(one.justification ?? ''), one.reason].filter(Boolean).join(': ')} max={1000} />
              </Show>
              <span class="small faint">
                <Foreign text={text.byWhom(one.actor, one.by)} /> {showMoment(one.at)}
              </span>
            </li>
          )}
        </For>
      </ol>
    </section>
  );
}

interface DrawerProps {
  /** null: closed. */
  readonly id: string | null;
  readonly access: VmAccess;
  readonly applications: Applications;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Made anew for each finding, so that nothing of one is shown as another. */
function Content(props: DrawerProps & { readonly id: string }): JSX.Element {
  const asked = () => ({ params: { id: props.id } });
  const detail = createQuery('GET /api/v1/vulnerabilities/{id}', asked);
  const history = createQuery('GET /api/v1/vulnerabilities/{id}/history', asked);
  const changed = (): void => {
    void detail.reload();
    void history.reload();
    props.onChanged();
  };
  return (
    <Read of={detail}>
      {(data) => (
        <>
          <h3 class="finding-title">
            <Foreign text={data().title} max={500} />
          </h3>
          <div class="row wrap">
            <Badge tone={severityTone(data().severity)}>{data().severity}</Badge>
            <Badge>{plain(data().status)}</Badge>
            <Show when={data().kev}>
              <Badge tone="danger">{text.exploited}</Badge>
            </Show>
            <Show when={data().exploit_confirmed || data().runtime_confirmed}>
              <Badge tone="danger">{text.proven}</Badge>
            </Show>
          </div>
          <Facts of={data()} applications={props.applications} mine={props.access.me()?.id} />
          <div class="row wrap">
            <Show when={props.access.may('apply_vpatch') && isOpenState(data().status)}>
              <A class="button" href={`/vulnerabilities/patches?propose=${data().id}`}>
                {patchText.propose}
              </A>
            </Show>
            <A class="button" href={`/vulnerabilities/patches?vulnerability_id=${data().id}`}>
              {patchText.patchesOf}
            </A>
          </div>
          <Show when={props.access.may('triage_findings') && history.data()}>
            {(states) => (
              <FindingMoves
                finding={data()}
                nextStates={states().next_states}
                mine={props.access.me()?.id ?? ''}
                onChanged={changed}
              />
            )}
          </Show>
          <Told of={data()} />
          <Show when={history.data()}>{(states) => <Changes of={states()} />}</Show>
        </>
      )}
    </Read>
  );
}

export function FindingDrawer(props: DrawerProps): JSX.Element {
  return (
    <Overlay isOpen={props.id !== null} look="drawer" title={text.findingNo(props.id ?? '')} onClose={props.onClose}>
      <Show when={props.id} keyed>
        {(id) => <Content {...props} id={id} />}
      </Show>
    </Overlay>
  );
}
