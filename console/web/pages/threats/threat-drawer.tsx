// One finding in full: who did what where, its proof, what was done about it, and what a person makes of it.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { threatsText as text } from '../../texts/engine/threats.js';
import { EvidencePairs } from './evidence-pair.js';
import { owaspOf, severityTones, statusTones, type Status, type Threat } from './words.js';

const addressesShown = 10;

function Addresses(props: { readonly of: readonly string[] }): JSX.Element {
  return (
    <span class="row wrap">
      <For each={props.of.slice(0, addressesShown)} fallback={text.noAddress}>
        {(address) => (
          <A class="mono" href={`/requests?client_ip=${encodeURIComponent(address)}`}>
            {address}
          </A>
        )}
      </For>
      <Show when={props.of.length > addressesShown}>
        <span class="faint">{text.moreAddresses(props.of.length - addressesShown)}</span>
      </Show>
    </span>
  );
}

function ban({ blocked_until: until, block_note: note }: Threat): JSX.Element {
  return (
    <span class="stack tight">
      <span>{until === null ? text.notBlocked : text.blockedUntil(showMoment(until))}</span>
      <Show when={note}>
        {(why) => (
          <span class="small muted">
            <Foreign text={why()} max={600} />
          </span>
        )}
      </Show>
    </span>
  );
}

function Facts(props: { readonly of: Threat }): JSX.Element {
  const decided = (): (readonly [string, JSX.Element])[] => {
    const { status_by: by, status_at: at, status_note: note } = props.of;
    if (by === null) return [];
    const shown = [text.decidedBy(by, showMoment(at)), note].filter((part) => part !== null && part !== '').join(': ');
    return [[text.decided, <Foreign text={shown} max={1200} />]];
  };
  return (
    <Pairs
      of={[
        [text.found, <Foreign text={props.of.reason} max={600} />],
        [text.owasp, owaspOf(props.of.owasp)],
        [text.confidence, props.of.confidence],
        [text.count, showCount(props.of.count)],
        [text.site, <Foreign text={props.of.site} max={200} />],
        [text.who, <code>{props.of.principal === '' ? text.manyPrincipals : props.of.principal}</code>],
        [text.credential, <Foreign text={props.of.credential} max={60} />],
        [text.addresses, <Addresses of={props.of.client_ips} />],
        [text.firstSeen, showMoment(props.of.first_at)],
        [text.lastSeen, showMoment(props.of.last_at)],
        [text.foundAt, showMoment(props.of.found_at)],
        [text.blocked, ban(props.of)],
        ...decided(),
      ]}
    />
  );
}

/** What a person may make of it; a false positive is asked for first, with the reason. */
function Decide(props: { readonly of: Threat; readonly onChanged: (threat: Threat) => void }): JSX.Element {
  const action = createAction();
  const [isAsking, setAsking] = createSignal(false);
  const [note, setNote] = createSignal('');
  const change = async (status: Status): Promise<void> => {
    const body = { status, ...(note().trim() === '' ? {} : { note: note().trim() }) };
    const { id } = props.of;
    const isDone = await action.run(async () =>
      props.onChanged(await call('PATCH /api/api-threats/{id}', { params: { id }, body })),
    );
    if (!isDone) return;
    tell(text.saved[status]);
    setAsking(false);
    setNote('');
  };
  return (
    <div class="stack tight">
      <div class="row wrap">
        <Show when={props.of.status === 'open'}>
          <Button isBusy={action.isBusy()} icon="check" onClick={() => void change('acknowledged')}>
            {text.acknowledge}
          </Button>
        </Show>
        <Show when={props.of.status !== 'dismissed'}>
          <Button isBusy={action.isBusy()} onClick={() => setAsking(true)}>
            {text.falsePositive}
          </Button>
        </Show>
        <Show when={props.of.status !== 'open'}>
          <Button isBusy={action.isBusy()} onClick={() => void change('open')}>
            {text.reopen}
          </Button>
        </Show>
      </div>
      <Show when={!isAsking() && action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Confirm
        isOpen={isAsking()}
        title={text.dismissTitle}
        action={text.falsePositive}
        isBusy={action.isBusy()}
        onConfirm={() => void change('dismissed')}
        onClose={() => setAsking(false)}
      >
        <p>{text.dismissAbout}</p>
        <AreaField label={text.note} value={note()} rows={3} onInput={setNote} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </div>
  );
}

export function ThreatDrawer(props: {
  /** null: closed. */
  readonly of: Threat | null;
  readonly onClose: () => void;
  readonly onChanged: (threat: Threat) => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.of !== null} look="drawer" title={text.threat} onClose={props.onClose}>
      <Show when={props.of}>
        {(one) => (
          <>
            <div class="row wrap between">
              <div class="stack tight">
                <div class="row wrap">
                  <Badge tone={severityTones[one().severity]}>{one().severity}</Badge>
                  <Badge tone={statusTones[one().status]}>{text.states[one().status]}</Badge>
                  <strong>{text.kinds[one().kind]}</strong>
                </div>
                <h3 class="mono">
                  <Foreign text={`${one().method} ${one().template}`} max={400} />
                </h3>
              </div>
              <Show when={mayAs('operator')}>
                <Decide of={one()} onChanged={props.onChanged} />
              </Show>
            </div>
            <Facts of={one()} />
            <Show when={one().client_ips[0]}>
              {(address) => (
                <p>
                  <A href={`/engine?view=history&address=${encodeURIComponent(address())}`}>{text.clientHistory}</A>
                </p>
              )}
            </Show>
            <EvidencePairs of={one().evidence} />
          </>
        )}
      </Show>
    </Overlay>
  );
}
