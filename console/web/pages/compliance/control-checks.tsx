// One control as it opens: its checks, what shows that they hold, and the settings that they rest on.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { Badge, Foreign, type Tone } from '../../kit/basics.js';
import { complianceText as text } from '../../texts/compliance.js';
import { placeOf } from './places.js';

type Control = Reply<'GET /api/compliance'>['frameworks'][number]['controls'][number];
type Check = Control['checks'][number];
type Evidence = Check['evidence'][number];
type Rests = Check['settings'][number];

export const resultTones: Readonly<Record<Control['result'], Tone>> = {
  satisfied: 'good',
  not_satisfied: 'danger',
  no_evidence: 'warn',
};

const plain = (name: string): string => name.replaceAll('_', ' ');

function EvidenceLine(props: { readonly of: Evidence }): JSX.Element {
  return (
    <li class="row wrap">
      <Badge>{text.kinds[props.of.kind]}</Badge>
      <span>
        <Foreign text={props.of.text} max={400} />
        <Show when={props.of.at}>{(at) => <span class="small muted"> {showMoment(at())}</span>}</Show>
      </span>
      <Show when={placeOf(props.of.link)}>
        {(place) => (
          <A class="small" href={place()}>
            {text.see}
          </A>
        )}
      </Show>
    </li>
  );
}

function SettingLine(props: { readonly of: Rests }): JSX.Element {
  const value = (): string =>
    typeof props.of.value === 'string' ? props.of.value : (JSON.stringify(props.of.value) ?? '');
  const changed = (): string => {
    const last = props.of.last_change;
    return last === null ? text.neverChanged : text.changedBy(last.version, last.author, showMoment(last.at));
  };
  return (
    <li class="stack tight">
      <span class="row wrap">
        <code>{props.of.name}</code>
        <span class="mono small">
          <Foreign text={value()} max={200} />
        </span>
      </span>
      <span class="small muted">
        <Foreign text={changed()} max={200} />
        <Show when={props.of.last_change?.audit_entry}>
          {(entry) => (
            <>
              , <A href="/admin/audit">{text.audited(entry())}</A>
            </>
          )}
        </Show>
      </span>
      <span class="small muted">
        {props.of.enforced_by === null ? text.notEnforced : text.enforcedBy(props.of.enforced_by)}
      </span>
    </li>
  );
}

function CheckPart(props: { readonly of: Check }): JSX.Element {
  return (
    <section class="stack tight">
      <h3 class="row wrap">
        {plain(props.of.name)} <Badge tone={resultTones[props.of.result]}>{text.results[props.of.result]}</Badge>
      </h3>
      <p>
        <Foreign text={props.of.reason} max={600} />
      </p>
      <Show when={props.of.evidence.length > 0}>
        <h4>{text.evidence}</h4>
        <ul class="stack tight plain-list">
          <For each={props.of.evidence}>{(one) => <EvidenceLine of={one} />}</For>
        </ul>
      </Show>
      <Show when={props.of.settings.length > 0}>
        <h4>{text.settings}</h4>
        <ul class="stack tight plain-list">
          <For each={props.of.settings}>{(one) => <SettingLine of={one} />}</For>
        </ul>
      </Show>
    </section>
  );
}

export function ControlChecks(props: {
  readonly title: string;
  readonly result: Control['result'];
  readonly checks: readonly Check[];
}): JSX.Element {
  return (
    <>
      <div class="row wrap">
        <h3>{props.title}</h3>
        <Badge tone={resultTones[props.result]}>{text.results[props.result]}</Badge>
      </div>
      <For each={props.checks}>{(check) => <CheckPart of={check} />}</For>
    </>
  );
}
