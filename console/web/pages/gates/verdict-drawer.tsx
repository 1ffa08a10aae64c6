// One answer of the gate in full: each condition with its number, what broke it, and a way through with a reason.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo } from '../../client/http.js';
import { dayAfter, endOfDay, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { AreaField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { textOf } from '../governance/predicate.js';
import { chainAt, type Applications } from '../vulnerabilities/words.js';
import { gateNameOf, VerdictBadge, type Evaluation } from './verdicts.js';

interface Judged {
  readonly name: string;
  readonly op: keyof typeof text.operators;
  readonly threshold: number;
  readonly actual: number;
  readonly ok: boolean;
}

const columns: readonly TableColumn<Judged>[] = [
  { title: text.condition, cell: ({ name }) => <Foreign text={name.replaceAll('_', ' ')} max={200} /> },
  { title: text.isNow, isNumber: true, cell: ({ actual }) => String(actual) },
  { title: text.has, cell: ({ op, threshold }) => `${text.operators[op]} ${threshold}` },
  {
    title: text.state,
    cell: ({ ok }) => <Badge tone={ok ? 'good' : 'danger'}>{ok ? text.holds : text.broken}</Badge>,
  },
];

function Override(props: { readonly of: Evaluation; readonly onDone: () => void }): JSX.Element {
  const [reason, setReason] = createSignal('');
  const [until, setUntil] = createSignal(dayAfter(Date.now(), 7));
  const action = createAction();
  const override = async (): Promise<void> => {
    const params = { id: props.of.evaluation_id };
    const body = { reason: reason(), expires_at: endOfDay(until()) ?? until() };
    if (!(await action.run(() => call('POST /api/v1/gate/evaluations/{id}/override', { params, body })))) return;
    tell(text.letThrough);
    props.onDone();
  };
  return (
    <section class="stack">
      <h3>{text.override}</h3>
      <p class="muted">{text.overrideAbout}</p>
      <AreaField label={text.overrideReason} value={reason()} onInput={setReason} rows={2} />
      <TextField label={text.until} type="date" value={until()} onInput={setUntil} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="danger"
          isBusy={action.isBusy()}
          disabled={reason().trim() === ''}
          onClick={() => void override()}
        >
          {text.override}
        </Button>
      </div>
    </section>
  );
}

function Blocking(props: { readonly of: Evaluation }): JSX.Element {
  const chains = (): readonly { readonly id: string; readonly name: string }[] =>
    props.of.chains as readonly { id: string; name: string }[];
  return (
    <>
      <Show when={props.of.blocking_vuln_ids.length > 0}>
        <section class="stack tight">
          <h3>{text.blocking}</h3>
          <ul class="row wrap plain-list">
            <For each={props.of.blocking_vuln_ids.slice(0, 100)}>
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
      </Show>
      <Show when={chains().length > 0}>
        <section class="stack tight">
          <h3>{text.chains}</h3>
          <ul class="stack tight plain-list">
            <For each={chains().slice(0, 20)}>
              {({ id, name }) => (
                <li>
                  <A href={chainAt(id)}>
                    <Foreign text={name} max={200} />
                  </A>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
    </>
  );
}

function OverrideNote(props: { readonly of: Evaluation }): JSX.Element {
  const given = (): { readonly by?: string; readonly reason?: string; readonly until?: string } | null =>
    props.of.override as { by?: string; reason?: string; until?: string } | null;
  return (
    <Show when={given()}>
      {(one) => (
        <Notice tone="warn" title={text.overridden(one().by ?? '–', showMoment(one().until))}>
          <Foreign text={one().reason ?? ''} max={2000} />
        </Notice>
      )}
    </Show>
  );
}

/** The commit or branch that an answer was compared with. */
function baselineOf({ baseline }: Evaluation): string {
  if (baseline === null) return text.notCompared;
  if (typeof baseline !== 'object') return textOf(baseline);
  const { commit, branch } = baseline as { commit?: string; branch?: string };
  return [branch, commit].filter(Boolean).join(' ') || text.notCompared;
}

function Content(props: {
  readonly of: Evaluation;
  readonly applications: Applications;
  readonly mayOverride: boolean;
  readonly onChanged: () => void;
}): JSX.Element {
  const file = (format: 'junit' | 'sarif'): string =>
    linkTo('GET /api/v1/gate/evaluations/{id}', { format }, { id: props.of.evaluation_id });
  return (
    <>
      <div class="row wrap">
        <VerdictBadge of={props.of.verdict} />
        <span>{text[props.of.verdict]}</span>
      </div>
      <OverrideNote of={props.of} />
      <Pairs
        of={[
          [text.application, <Foreign text={props.applications.nameOf(props.of.application_id)} />],
          [text.commit, <Foreign text={props.of.commit} />],
          [text.branch, <Foreign text={props.of.branch || '–'} />],
          [text.gate, <Foreign text={gateNameOf(props.of)} />],
          [text.why, <Foreign text={props.of.reason} max={2000} />],
          [text.baseline, <Foreign text={baselineOf(props.of)} />],
          [text.newFindings, String(props.of.new_findings)],
          [text.openFindings, String(props.of.open_findings)],
          [text.excluded, String(props.of.excluded)],
          [text.exitCode, String(props.of.exit_code)],
          [text.who, <Foreign text={`${props.of.created_by}, ${showMoment(props.of.created_at)}`} />],
        ]}
      />
      <section class="stack tight">
        <h3>{text.conditions}</h3>
        <Table
          label={text.conditions}
          columns={columns}
          of={ofRows(() => props.of.conditions as readonly Judged[])}
          keyOf={({ name }) => name}
          empty={text.holds}
        />
      </section>
      <Blocking of={props.of} />
      <div class="row wrap">
        <a class="button small" href={file('junit')} download={`verdict-${props.of.evaluation_id}.xml`}>
          {text.asJunit}
        </a>
        <a class="button small" href={file('sarif')} download={`verdict-${props.of.evaluation_id}.sarif`}>
          {text.asSarif}
        </a>
      </div>
      <Show when={props.mayOverride && props.of.verdict === 'fail'}>
        <Override of={props.of} onDone={props.onChanged} />
      </Show>
    </>
  );
}

export function VerdictDrawer(props: {
  /** null: closed. */
  readonly id: string | null;
  readonly applications: Applications;
  readonly mayOverride: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const one = createQuery('GET /api/v1/gate/evaluations/{id}', () =>
    props.id === null ? null : { params: { id: props.id } },
  );
  const changed = (): void => {
    void one.reload();
    props.onChanged();
  };
  return (
    <Overlay isOpen={props.id !== null} look="drawer" title={text.verdictOf(props.id ?? '')} onClose={props.onClose}>
      <Read of={one}>
        {(data) => (
          <Content of={data()} applications={props.applications} mayOverride={props.mayOverride} onChanged={changed} />
        )}
      </Read>
    </Overlay>
  );
}
