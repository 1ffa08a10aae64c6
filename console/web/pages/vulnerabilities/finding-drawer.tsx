// One finding with all that is known of it, its history, and what may be done about it from here.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { A } from '@solidjs/router';
import { createQuery } from '../../client/query.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import type { People } from '../../client/people.js';
import type { VmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { byHandText } from '../../texts/vm/by-hand.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { activeText } from '../../texts/vm/sources/active-scans.js';
import { exploitRunsText } from '../../texts/vm/sources/exploit-runs.js';
import { vpatchText as patchText } from '../../texts/vm/vpatches.js';
import { ExplainFinding } from '../assistant/explain.js';
import { FindingTickets } from '../integrations/ask-tickets.js';
import { FindingMoves } from './finding-moves.js';
import { FindingForm, FindingRemoval } from './finding/by-hand.js';
import { AddedEvidence } from './finding/added.js';
import { FindingClock } from './finding/clock.js';
import { Comments } from './finding/comments.js';
import { Evidence } from './finding/evidence.js';
import { RiskOverride } from './finding/risk-override.js';
import { Given, Told, type Detail } from './finding/told.js';
import { findingsOf, isOpenState, plain, severityTone, type Applications } from './words.js';

type History = Reply<'GET /api/v1/vulnerabilities/{id}/history'>;

const listed = (words: readonly string[]): JSX.Element =>
  words.length === 0 ? '–' : <Foreign text={words.join(', ')} max={600} />;

/** Each leads to what it gives to an attacker, which is why a finding is a hop of chains, or none. */
function Weaknesses(props: { readonly of: Detail['weaknesses'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0} fallback="–">
      <span class="row wrap">
        <For each={props.of}>
          {({ id, name }) => (
            <A href={`/vulnerabilities/chains?view=rules&find=${encodeURIComponent(id)}`}>
              {name === null ? id : text.weaknessNamed(id, name)}
            </A>
          )}
        </For>
      </span>
    </Show>
  );
}

const toolOf = ({ tool, source }: Detail): string => (tool === source || tool === '' ? source : `${tool} (${source})`);

const riskOf = ({ risk_override: byHand, effective_risk: risk, priority_score: priority }: Detail): string =>
  byHand === null ? text.riskOf(risk, showCount(priority)) : text.riskSetByHand(risk);

function Facts(props: {
  readonly of: Detail;
  readonly applications: Applications;
  readonly mine: string | undefined;
  readonly people: People;
}): JSX.Element {
  const assignee = (): JSX.Element => {
    const id = props.of.assignee_id;
    if (id === null) return text.nobody;
    return id === props.mine ? text.me : <Foreign text={props.people.nameOf('id', id) ?? text.somebody} />;
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
        [text.weakness, <Weaknesses of={props.of.weaknesses} />],
        [text.identifiers, listed(props.of.vuln_ids)],
        [text.epss, props.of.epss === null ? '–' : props.of.epss.toFixed(3)],
        [text.fix, plain(props.of.fix_state)],
        [text.tool, <Foreign text={toolOf(props.of)} max={200} />],
        [text.rule, <Foreign text={props.of.rule_id || '–'} max={300} />],
        [text.tags, listed(props.of.tags)],
        [text.assignee, assignee()],
        [text.due, `${showMoment(props.of.sla.due_at)}, ${plain(props.of.sla.state)}`],
        [text.found, showMoment(props.of.first_seen)],
        [text.lastSeen, showMoment(props.of.last_seen)],
      ]}
    />
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
  readonly people: People;
  readonly applications: Applications;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function Signs(props: { readonly of: Detail }): JSX.Element {
  return (
    <div class="row wrap">
      <Badge tone={severityTone(props.of.severity)}>{props.of.severity}</Badge>
      <Badge>{plain(props.of.status)}</Badge>
      <Show when={props.of.kev}>
        <Badge tone="danger">{text.exploited}</Badge>
      </Show>
      <Show when={props.of.exploit_confirmed || props.of.runtime_confirmed}>
        <Badge tone="danger">{text.proven}</Badge>
      </Show>
    </div>
  );
}

/** What may be done about it from here, beside its states. */
function Doing(props: DrawerProps & { readonly of: Detail; readonly onSaved: () => void }): JSX.Element {
  const [isCorrecting, setCorrecting] = createSignal(false);
  const saved = (): void => {
    setCorrecting(false);
    props.onSaved();
  };
  const retest = createAction();
  const lookAgain = async (): Promise<void> => {
    await retest.run(async () => {
      const { id } = await call('POST /api/v1/vulnerabilities/{id}/retest', { params: { id: props.of.id } });
      tell(activeText.retestBegun(id));
    });
  };
  const removed = (): void => {
    props.onChanged();
    props.onClose();
  };
  return (
    <>
      <div class="row wrap">
        <Show when={props.access.may('apply_vpatch') && isOpenState(props.of.status)}>
          <A class="button" href={`/vulnerabilities/patches?propose=${props.of.id}`}>
            {patchText.propose}
          </A>
        </Show>
        <A class="button" href={`/vulnerabilities/patches?vulnerability_id=${props.of.id}`}>
          {patchText.patchesOf}
        </A>
        <Show when={props.access.may('run_scans') && props.of.tool.startsWith('gatehouse-')}>
          <Button isBusy={retest.isBusy()} onClick={() => void lookAgain()}>
            {activeText.retest}
          </Button>
        </Show>
        <Show when={props.access.may('run_exploit')}>
          <A class="button" href={`/vulnerabilities/exploit-runs?finding=${props.of.id}`}>
            {exploitRunsText.prove}
          </A>
        </Show>
        <Show when={props.access.may('edit_findings')}>
          <Button onClick={() => setCorrecting((is) => !is)}>{byHandText.correct}</Button>
          <FindingRemoval of={props.of} onRemoved={removed} />
        </Show>
      </div>
      <Show when={retest.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={isCorrecting()}>
        <FindingForm of={props.of} applications={props.applications} onSaved={saved} />
      </Show>
    </>
  );
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
          <Signs of={data()} />
          <Told of={data()} />
          <Facts of={data()} applications={props.applications} mine={props.access.me()?.id} people={props.people} />
          <Doing {...props} of={data()} onSaved={changed} />
          <Show when={props.access.may('triage_findings') && history.data()}>
            {(states) => (
              <FindingMoves
                finding={data()}
                nextStates={states().next_states}
                mine={props.access.me()?.id ?? ''}
                people={props.people}
                onChanged={changed}
              />
            )}
          </Show>
          <FindingTickets id={props.id} mayAsk={props.access.may('triage_findings') && isOpenState(data().status)} />
          <ExplainFinding id={props.id} />
          <Given of={data()} />
          <Evidence id={props.id} />
          <AddedEvidence id={props.id} mayAdd={props.access.may('edit_findings')} onChanged={changed} />
          <Show when={props.access.may('manage_sla') && data().sla.due_at !== null && isOpenState(data().status)}>
            <FindingClock id={props.id} state={data().sla.state} onChanged={changed} />
          </Show>
          <Show when={props.access.may('triage_findings')}>
            <RiskOverride id={props.id} byHand={data().risk_override} onChanged={changed} />
          </Show>
          <Comments id={props.id} me={props.access.me()?.email} />
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
