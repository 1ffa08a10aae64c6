// Client measures, and what they come from: addresses by hand, feeds, the managed feed.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { createAsked } from '../../kit/asked.js';
import { Read } from '../../kit/page-state.js';
import { measuresText as measures } from '../../texts/resources/measures.js';
import { protectionText as words } from '../../texts/protection.js';
import { DecideDialog } from './decide-dialog.js';
import { Feeds } from './feeds.js';
import { Measures } from './measures.js';

const durations = [
  ['3600', words.hour],
  ['86400', words.day],
  ['604800', words.week],
  ['2592000', words.n30Days],
  ['', words.untilTakenOff],
] as const;

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): JSX.Element {
  const [text, setText] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [seconds, setSeconds] = createSignal('86400');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const expires = seconds() === '' ? {} : { expires_in_seconds: Number(seconds()) };
      const reply = await call('POST /api/threat-intel', { body: { text: text(), reason: reason(), ...expires } });
      tell(words.addedWereKnown(reply.added, reply.known));
      setText('');
      props.onAdded();
      props.onClose();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem([error.message, ...error.errors.map((one) => `${one.path} ${one.reason}`)].join(' '));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={words.denyAddresses}
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={isBusy()} disabled={text().trim() === ''} onClick={() => void add()}>
          {words.deny}
        </Button>
      }
    >
      <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <AreaField
        label={words.addressesNetworks}
        value={text()}
        onInput={setText}
        placeholder={'203.0.113.7\n198.51.100.0/24'}
        help={words.oneLineIpv4Or}
      />
      <TextField label={words.why} value={reason()} onInput={setReason} />
      <SelectField label={words.for} value={seconds()} options={durations} onChange={setSeconds} />
    </Overlay>
  );
}

function ManagedFeed(): JSX.Element {
  const feed = createQuery('GET /api/managed-feed', () => ({}), { everyMs: 30_000 });
  const [isBusy, setBusy] = createSignal(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    try {
      await call('POST /api/managed-feed/refresh');
      tell(words.fetched);
      await feed.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title={words.managedFeed}
      actions={
        <Show when={mayAs('admin')}>
          <A href="/admin/settings/feeds#mrf_enabled">{words.settings}</A>
          <Button isBusy={isBusy()} disabled={feed.data()?.enabled !== true} onClick={() => void refresh()}>
            {words.fetchNow}
          </Button>
        </Show>
      }
    >
      <Read of={feed}>
        {(data) => (
          <div class="stack tight">
            <div class="row">
              <Badge tone={data().enabled ? 'good' : 'neutral'}>{data().enabled ? 'on' : 'off'}</Badge>
              <span class="muted">{data().url === '' ? words.baselineComesProgram : data().url}</span>
            </div>
            <Show when={data().last_error}>{(text) => <Notice tone="warn">{text()}</Notice>}</Show>
            <Show when={data().copy}>
              {(copy) => (
                <Pairs
                  of={[
                    [words.name, copy().name],
                    [words.version, String(copy().version)],
                    [words.fetched2, showMoment(copy().fetched_at)],
                    [words.networks, showCount(copy().networks)],
                    [words.signed, copy().signed ? 'yes' : 'no'],
                  ]}
                />
              )}
            </Show>
          </div>
        )}
      </Read>
    </Card>
  );
}

/** Everything that was decided about clients, and the lists that decide. */
export function Addresses(): JSX.Element {
  const [isAdding, setAdding] = createAsked('add');
  const [isDeciding, setDeciding] = createAsked('decide');
  let reload = (): void => undefined;
  return (
    <>
      <PageHead title={measures.title} about={measures.about}>
        <Show when={mayAs('operator')}>
          <Button icon="plus" onClick={() => setDeciding(true)}>
            {words.decideOver}
          </Button>
          <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
            {words.denyAddresses}
          </Button>
        </Show>
      </PageHead>
      <Measures onList={(again) => (reload = again)} />
      <Feeds />
      <ManagedFeed />
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onAdded={() => reload()} />
      <DecideDialog isOpen={isDeciding()} onClose={() => setDeciding(false)} onDecided={() => reload()} />
    </>
  );
}
