// The proof of a finding: the request that is wrong beside the one that shows why, each looked up when it is opened.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { showMoment } from '../../client/moments.js';
import { RequestCard } from '../../kit/evidence/request-card.js';
import { threatsText as text } from '../../texts/engine/threats.js';
import type { Evidence } from './words.js';

/** What the object is called; `*` and the empty text name nothing. */
const nounOf = ({ noun }: Evidence): string => (noun === '' || noun === '*' ? text.object : noun);

function Other(props: { readonly of: Evidence }): JSX.Element {
  const because = (): NonNullable<Evidence['because']> | null => props.of.because;
  return (
    <Show
      when={props.of.other_request_id}
      fallback={
        <section class="evidence boxed">
          <p class="muted">{text.noOther}</p>
        </section>
      }
    >
      {(id) => (
        <RequestCard
          id={id()}
          title={text.because[because() ?? 'none']}
          note={
            <>
              <Show when={because()}>{(why) => text.becauseNotes[why()](nounOf(props.of))}</Show>{' '}
              <Show when={props.of.other_principal}>{(who) => <code>{text.by(who())}</code>}</Show>
            </>
          }
        />
      )}
    </Show>
  );
}

function Pair(props: { readonly of: Evidence; readonly index: number; readonly count: number }): JSX.Element {
  const [isOpen, setOpen] = createSignal(props.index === 0);
  return (
    <details class="fold" open={isOpen()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {text.pair(props.index + 1, props.count)} <span class="small muted nums">{showMoment(props.of.at)}</span>
      </summary>
      <Show when={isOpen()}>
        <div class="grid-pair">
          <RequestCard id={props.of.request_id} title={text.theRequest} />
          <Other of={props.of} />
        </div>
      </Show>
    </details>
  );
}

export function EvidencePairs(props: { readonly of: readonly Evidence[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.evidence}</h3>
      <p class="muted">{text.evidenceAbout}</p>
      <For each={props.of} fallback={<p class="muted">{text.noEvidence}</p>}>
        {(one, index) => <Pair of={one} index={index()} count={props.of.length} />}
      </For>
    </section>
  );
}
