// Accepted risks and mutes: what is knowingly left open, who said so, and until when.
import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess, type VmAccess } from '../../client/vm-access.js';
import { createAsked } from '../../kit/asked.js';
import { Badge, Button, Foreign, Notice, PageHead, Pairs, Tabs, type Tone } from '../../kit/basics.js';
import { AreaField, SelectField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Mutes } from './mutes.js';
import { AcceptanceTerms } from './acceptance-terms.js';
import { RequestAcceptance } from './request-acceptance.js';

type Acceptance = Item<'GET /api/v1/acceptances'>;
type State = Acceptance['status'];

const states: readonly State[] = ['pending', 'approved', 'rejected', 'revoked', 'expired'];
const tones: Readonly<Record<State, Tone>> = {
  pending: 'warn',
  approved: 'good',
  rejected: 'neutral',
  revoked: 'neutral',
  expired: 'neutral',
};

const columns: readonly TableColumn<Acceptance>[] = [
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={160} /> },
  { title: text.state, cell: ({ status }) => <Badge tone={tones[status]}>{status}</Badge> },
  { title: text.decision, cell: ({ decision }) => decision },
  { title: text.findings, isNumber: true, cell: ({ vuln_ids: ids }) => String(ids.length) },
  { title: text.until, class: 'nums', sortBy: (one) => one.expires_at, cell: (one) => showMoment(one.expires_at) },
  { title: text.askedBy, cell: ({ requested_by: who }) => <Foreign text={who} max={80} /> },
  { title: text.decidedBy, cell: ({ decided_by: who }) => <Foreign text={who ?? '–'} max={80} /> },
];

function Facts(props: { readonly of: Acceptance }): JSX.Element {
  return (
    <>
      <Pairs
        of={[
          [text.title, <Foreign text={props.of.title} />],
          [text.state, <Badge tone={tones[props.of.status]}>{props.of.status}</Badge>],
          [text.decision, props.of.decision],
          [text.justification, <Foreign text={props.of.justification} max={10_000} />],
          [text.controls, <Foreign text={props.of.compensating_controls || '–'} max={10_000} />],
          [text.until, showMoment(props.of.expires_at)],
          [text.onExpiry, props.of.on_expiry === 'restart' ? text.restart : text.resume],
          [text.askedBy, <Foreign text={`${props.of.requested_by}, ${showMoment(props.of.created_at)}`} />],
          [
            text.decidedBy,
            <Foreign
              text={props.of.decided_by === null ? '–' : `${props.of.decided_by}, ${showMoment(props.of.decided_at)}`}
            />,
          ],
          [text.decisionReason, <Foreign text={props.of.decision_reason || '–'} max={5000} />],
        ]}
      />
      <section class="stack tight">
        <h3>{text.findings}</h3>
        <ul class="row wrap plain-list">
          <For each={props.of.vuln_ids}>
            {(id) => (
              <li>
                <A class="button small" href={`/vulnerabilities?status=all&finding=${id}`}>
                  {id}
                </A>
              </li>
            )}
          </For>
        </ul>
      </section>
    </>
  );
}

/** What may be done with an acceptance in its state; who asked for it does not approve it. */
function Decide(props: {
  readonly of: Acceptance;
  readonly access: VmAccess;
  readonly onDone: () => void;
}): JSX.Element {
  const [reason, setReason] = createSignal('');
  const action = createAction();
  const mine = (): boolean => props.of.requested_by === props.access.me()?.email;
  const decide = async (to: 'approve' | 'reject' | 'revoke'): Promise<void> => {
    const options = { params: { id: props.of.id }, body: reason().trim() === '' ? {} : { reason: reason() } };
    const isDone = await action.run(async () => {
      const { status } = await call(`POST /api/v1/acceptances/{id}/${to}`, options);
      tell(text.decided(status));
    });
    if (isDone) props.onDone();
  };
  const isPending = (): boolean => props.of.status === 'pending';
  return (
    <Show when={isPending() || props.of.status === 'approved'}>
      <section class="stack">
        <AreaField label={text.reason} value={reason()} onInput={setReason} rows={2} />
        <Show when={isPending() && mine()}>
          <Notice tone="info">{text.notByWhoAsked}</Notice>
        </Show>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Show
            when={isPending()}
            fallback={
              <Button look="danger" isBusy={action.isBusy()} onClick={() => void decide('revoke')}>
                {text.revoke}
              </Button>
            }
          >
            <Button look="primary" isBusy={action.isBusy()} disabled={mine()} onClick={() => void decide('approve')}>
              {text.approve}
            </Button>
            <Button isBusy={action.isBusy()} onClick={() => void decide('reject')}>
              {text.reject}
            </Button>
          </Show>
        </div>
      </section>
    </Show>
  );
}

/** For a vulnerability wherever it is; `?add=1` opens the form. */
function AskEverywhere(props: { readonly onDone: () => void }): JSX.Element {
  const [isAsking, setAsking] = createAsked('add');
  return (
    <>
      <Button isSmall look="primary" icon="plus" onClick={() => setAsking(true)}>
        {text.acceptEverywhere}
      </Button>
      <Overlay isOpen={isAsking()} title={text.acceptEverywhere} onClose={() => setAsking(false)}>
        <RequestAcceptance
          onDone={() => {
            setAsking(false);
            props.onDone();
          }}
        />
      </Overlay>
    </>
  );
}

function List(props: { readonly access: VmAccess }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const state = (): State | '' => states.find((name) => name === search['status']) ?? '';
  const [chosen, choose] = createChosen('acceptance');
  const list = createPagedList('GET /api/v1/acceptances', () => {
    const status = state();
    return status === '' ? {} : { status };
  });
  const opened = (): Acceptance | undefined => list.items().find(({ id }) => id === chosen());
  return (
    <>
      <div class="narrow-grid">
        <SelectField
          label={text.state}
          value={state()}
          options={[['', text.everyState], ...states.map((name) => [name, name] as const)]}
          onChange={(status) => setSearch({ status })}
        />
      </div>
      <ListCard
        label={text.acceptances}
        actions={
          <Show when={props.access.may('request_acceptance')}>
            <AskEverywhere onDone={list.reload} />
          </Show>
        }
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={text.noAcceptances}
        emptyAbout={
          <>
            {text.noAcceptancesAbout} <A href="/vulnerabilities">{text.toFindings}</A>
          </>
        }
      />
      <Overlay
        isOpen={opened() !== undefined}
        look="drawer"
        title={text.acceptance(chosen() ?? '')}
        onClose={() => choose(null)}
      >
        <Show when={opened()}>
          {(one) => (
            <>
              <Facts of={one()} />
              <Show when={props.access.may('approve_acceptance')}>
                <Decide of={one()} access={props.access} onDone={list.reload} />
              </Show>
              <AcceptanceTerms
                of={one()}
                mayExtend={props.access.may('approve_acceptance') && one().requested_by !== props.access.me()?.email}
                mayWithdraw={one().requested_by === props.access.me()?.email}
                onDone={list.reload}
              />
            </>
          )}
        </Show>
      </Overlay>
    </>
  );
}

type TabName = 'acceptances' | 'mutes';
const tabs: readonly (readonly [TabName, string])[] = [
  ['acceptances', text.acceptances],
  ['mutes', text.mutes],
];

export function Acceptances(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const tab = (): TabName => (search['view'] === 'mutes' ? 'mutes' : 'acceptances');
  return (
    <>
      <PageHead title={text.acceptances} about={tab() === 'mutes' ? text.mutesAbout : text.acceptancesAbout} />
      <Tabs label={text.acceptances} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'acceptances'}>
          <List access={access} />
        </Match>
        <Match when={tab() === 'mutes'}>
          <Mutes applications={applications} access={access} />
        </Match>
      </Switch>
    </>
  );
}
