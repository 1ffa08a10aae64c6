// One finding of a scan: what was sent, what came back, why that is a proof, and what to do now.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { Badge, Button, Foreign, ForeignLines, Notice, type Tone } from '../../../kit/basics.js';
import { tell } from '../../../kit/overlays.js';
import { activeText as text } from '../../../texts/vm/sources/active-scans.js';
import { severityTone } from '../../vulnerabilities/words.js';
import type { Found } from './scan-result.js';

const behindTones: Readonly<Record<Found['behind_waf'], Tone>> = {
  exploitable: 'danger',
  blocked: 'good',
  unknown: 'warn',
  not_tried: 'neutral',
};

function Patch(props: { readonly of: Found; readonly mayPatch: boolean }): JSX.Element {
  return (
    <Show when={props.of.patch}>
      {(patch) => (
        <Show
          when={patch().fits}
          fallback={
            <p>
              {text.patchNot}: <Foreign text={patch().why} max={500} />
            </p>
          }
        >
          <p>
            {text.patchFits}: <Foreign text={patch().why} max={800} />
          </p>
          <Show when={props.of.vpatch_id === null && props.mayPatch}>
            <A class="button" href={`/vulnerabilities/patches?propose=${props.of.finding_id ?? ''}`}>
              {text.propose}
            </A>
          </Show>
        </Show>
      )}
    </Show>
  );
}

function Traffic(props: { readonly title: string; readonly of: string }): JSX.Element {
  return (
    <details>
      <summary>{props.title}</summary>
      <pre class="code">
        <ForeignLines text={props.of} max={12_000} />
      </pre>
    </details>
  );
}

export function FoundCard(props: {
  readonly scan: string;
  readonly of: Found;
  readonly mayRun: boolean;
  readonly mayPatch: boolean;
  readonly onProved: () => void;
}): JSX.Element {
  const action = createAction();
  const prove = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const options = { params: { id: props.scan }, body: { finding: props.of.id } };
      const { still_there: isThere } = await call('POST /api/v1/scans/{id}/prove', options);
      tell(isThere ? text.stillThere : text.gone);
    });
    if (isDone) props.onProved();
  };
  return (
    <section class="stack tight">
      <h3>
        <Badge tone={severityTone(props.of.severity)}>{props.of.severity}</Badge> {props.of.title}
      </h3>
      <p class="mono small">
        <Foreign
          text={`${props.of.method} ${props.of.url}${props.of.param === null ? '' : ` [${props.of.param}]`}`}
          max={600}
        />
      </p>
      <div class="row wrap">
        <Badge tone={behindTones[props.of.behind_waf]}>{text.behind[props.of.behind_waf]}</Badge>
        <Show when={!props.of.still_there}>
          <Badge tone="good">{text.goneBadge}</Badge>
        </Show>
        <span class="small muted">
          {text.provedAt}: {showMoment(props.of.proved_at)}
        </span>
      </div>
      <Show when={props.of.behind_waf_note}>
        {(note) => (
          <p class="small muted">
            <Foreign text={note()} max={400} />
          </p>
        )}
      </Show>
      <p>
        {text.proof}: <Foreign text={props.of.proof} max={1000} />
      </p>
      <p>
        {text.remediation}: {props.of.remediation}
      </p>
      <Traffic title={text.request} of={props.of.request} />
      <Traffic title={text.response} of={props.of.response} />
      <Patch of={props.of} mayPatch={props.mayPatch} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Show when={props.mayRun}>
          <Button isBusy={action.isBusy()} onClick={() => void prove()}>
            {text.proveAgain}
          </Button>
        </Show>
        <Show when={props.of.finding_id}>
          {(id) => <A href={`/vulnerabilities?finding=${id()}`}>{text.seeFinding}</A>}
        </Show>
        <Show when={props.of.vpatch_id}>
          {(id) => <A href={`/vulnerabilities/patches?patch=${id()}`}>{text.seePatch}</A>}
        </Show>
      </div>
    </section>
  );
}
