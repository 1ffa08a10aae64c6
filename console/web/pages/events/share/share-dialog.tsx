// A link to an event for readers without a login: one button creates and copies it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { Button, Notice } from '../../../kit/basics.js';
import { SelectField } from '../../../kit/form.js';
import { Overlay, tell } from '../../../kit/overlays.js';
import { shareText as text } from '../../../texts/events/share.js';
import { Sentence } from '../sentence/sentence.js';
import type { SecurityEvent } from '../events.js';
import { copyText } from '../../../kit/copy.js';

const spans = [
  ['1', text.days.one],
  ['7', text.days.seven],
  ['30', text.days.thirty],
] as const;
type Span = (typeof spans)[number][0];

export function ShareDialog(props: { readonly event: SecurityEvent; readonly onClose: () => void }): JSX.Element {
  const [span, setSpan] = createSignal<Span>('7');
  const [made, setMade] = createSignal<{ readonly link: string; readonly until: string } | null>(null);
  const action = createAction();
  const make = async (): Promise<void> => {
    await action.run(async () => {
      const params = { id: props.event.id };
      const reply = await call('POST /api/events/{id}/shares', { params, body: { expires_in_days: Number(span()) } });
      const link = `${location.origin}${reply.path}`;
      setMade({ link, until: reply.details.expires_at });
      tell((await copyText(link)) ? text.copied : text.copyByHand);
    });
  };
  return (
    <Overlay
      isOpen
      title={text.share}
      onClose={props.onClose}
      footer={
        <Show
          when={made()}
          fallback={
            <Button look="primary" icon="chain" isBusy={action.isBusy()} onClick={() => void make()}>
              {text.createAndCopy}
            </Button>
          }
        >
          <Button look="primary" onClick={props.onClose}>
            {text.done}
          </Button>
        </Show>
      }
    >
      <div class="stack">
        <p>
          <Sentence of={props.event.summary} />
        </p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show
          when={made()}
          fallback={
            <>
              <p class="muted">{text.about}</p>
              <SelectField label={text.expires} value={span()} options={spans} onChange={setSpan} />
            </>
          }
        >
          {(found) => (
            <>
              <label class="field">
                <span>{text.link}</span>
                <input class="input mono" readonly value={found().link} onFocus={(event) => event.target.select()} />
              </label>
              <p class="muted">{text.opensUntil(showMoment(found().until))}</p>
            </>
          )}
        </Show>
      </div>
    </Overlay>
  );
}
