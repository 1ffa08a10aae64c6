// One control of a framework as it opens: the reason of its result, the evidence, and the forms to attest or except it.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice, Pairs, type Tone } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { complianceText as text } from '../../texts/compliance.js';
import { severityTone } from '../vulnerabilities/words.js';
import { resultTones } from './control-checks.js';

export type Standing = Reply<'GET /api/v1/compliance/assessment'>['items'][number];

export const standingTones: Readonly<Record<Standing['result'], Tone>> = {
  gap: 'danger',
  excepted: 'warn',
  no_evidence: 'warn',
  manual: 'neutral',
  met: 'good',
  not_applicable: 'neutral',
};

type Answer = keyof typeof text.answers;
const dayMs = 86_400_000;
const shownMax = 10;

const scansOf = (of: Standing): string =>
  of.scans.map(({ source, at }) => text.scanOf(source, showMoment(at))).join('; ') || text.noScans;

type Given = NonNullable<Standing['attestation']>;

/** An exception has no answer. */
const shownAnswer = ({ answer, owner, expires_at: until, reason }: Given): string =>
  answer === null
    ? text.acceptedBy(owner, showMoment(until), reason)
    : text.answeredBy(text.answers[answer], owner, showMoment(until));

const answeredBy = (of: Given | null): JSX.Element => (
  <Show when={of} fallback="–">
    {(one) => <Foreign text={shownAnswer(one())} max={2400} />}
  </Show>
);

function Findings(props: { readonly of: Standing; readonly application: string }): JSX.Element {
  const found = createQuery('GET /api/v1/compliance/controls/{id}/findings', () => ({
    params: { id: props.of.control },
    query: { limit: shownMax, ...(props.application === '' ? {} : { application_id: props.application }) },
  }));
  return (
    <section class="stack tight">
      <h3>{text.urgent}</h3>
      <Read of={found}>
        {(data) => (
          <ul class="plain-list stack tight">
            <For each={data().items}>
              {(one) => (
                <li class="row wrap">
                  <Badge tone={severityTone(one.severity)}>{one.severity}</Badge>
                  <A href={`/vulnerabilities?status=all&finding=${one.id}`}>
                    <Foreign text={one.title} max={120} />
                  </A>
                </li>
              )}
            </For>
          </ul>
        )}
      </Read>
    </section>
  );
}

/** An attestation, or an exception where there is a gap. */
function AnswerForm(props: {
  readonly of: Standing;
  readonly application: string;
  readonly onSaved: () => void;
}): JSX.Element {
  const [answer, setAnswer] = createSignal<Answer>('met');
  const [reason, setReason] = createSignal('');
  const [owner, setOwner] = createSignal('');
  const [until, setUntil] = createSignal(new Date(Date.now() + 180 * dayMs).toISOString().slice(0, 10));
  const action = createAction();
  const save = async (isException: boolean): Promise<void> => {
    const body = {
      reason: reason(),
      owner: owner(),
      expires_at: `${until()}T00:00:00Z`,
      ...(props.application === '' ? {} : { application_id: props.application }),
    };
    const { control } = props.of;
    const isSaved = await action.run(() =>
      isException
        ? call('POST /api/v1/compliance/exceptions', { body: { ...body, control } })
        : call('PUT /api/v1/compliance/controls/{id}/attestation', {
            params: { id: control },
            body: { ...body, answer: answer() },
          }),
    );
    if (!isSaved) return;
    tell(text.saved);
    props.onSaved();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(false);
      }}
    >
      <SelectField
        label={text.answer}
        value={answer()}
        options={(['met', 'not_met', 'not_applicable'] as const).map((one) => [one, text.answers[one]] as const)}
        help={text.answerHelp}
        onChange={setAnswer}
      />
      <TextField label={text.reason} value={reason()} onInput={setReason} isRequired />
      <TextField label={text.owner} value={owner()} onInput={setOwner} isRequired />
      <TextField label={text.until} type="date" value={until()} onInput={setUntil} isRequired />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Button look="primary" type="submit" isBusy={action.isBusy()}>
          {text.attest}
        </Button>
        <Show when={props.of.result === 'gap'}>
          <Button isBusy={action.isBusy()} onClick={() => void save(true)}>
            {text.bear}
          </Button>
        </Show>
      </div>
    </form>
  );
}

/** Ends an attestation or an exception early. Those of the whole organisation are not ended from one application. */
function EndAnswers(props: {
  readonly of: Standing;
  readonly application: string;
  readonly onSaved: () => void;
}): JSX.Element {
  const action = createAction();
  const end = async (request: () => Promise<unknown>): Promise<void> => {
    if (!(await action.run(request))) return;
    tell(text.ended);
    props.onSaved();
  };
  const isMine = (one: Standing['attestation']): boolean => (one?.application_id ?? '') === props.application;
  const given = (): Given[] => [props.of.attestation, props.of.exception].filter((one) => one !== null);
  const takeBack = (): Promise<unknown> =>
    call('DELETE /api/v1/compliance/controls/{id}/attestation', {
      params: { id: props.of.control },
      query: props.application === '' ? {} : { application_id: props.application },
    });
  return (
    <div class="row wrap">
      <Show when={props.of.attestation !== null && isMine(props.of.attestation)}>
        <Button isBusy={action.isBusy()} onClick={() => void end(takeBack)}>
          {text.takeBack}
        </Button>
      </Show>
      <Show when={isMine(props.of.exception) ? props.of.exception : null}>
        {(one) => (
          <Button
            isBusy={action.isBusy()}
            onClick={() =>
              void end(() => call('DELETE /api/v1/compliance/exceptions/{id}', { params: { id: one().id } }))
            }
          >
            {text.endException}
          </Button>
        )}
      </Show>
      <Show when={!given().every(isMine)}>
        <span class="small muted">{text.ofOrganisation}</span>
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </div>
  );
}

export function ControlStanding(props: {
  readonly of: Standing;
  readonly application: string;
  readonly mayEdit: boolean;
  readonly onSaved: () => void;
}): JSX.Element {
  return (
    <>
      <div class="row wrap">
        <h3>{`${props.of.number}: ${props.of.title}`}</h3>
        <Badge tone={standingTones[props.of.result]}>{text.standings[props.of.result]}</Badge>
      </div>
      <p>
        <Foreign text={props.of.reason} max={2000} />
      </p>
      <Pairs
        of={[
          [text.weaknesses, props.of.cwe.join(', ') || '–'],
          [text.scans, scansOf(props.of)],
          [text.attestation, answeredBy(props.of.attestation)],
          [text.exception, answeredBy(props.of.exception)],
        ]}
      />
      <Show when={props.of.open_findings > 0}>
        <Findings of={props.of} application={props.application} />
      </Show>
      <Show when={props.of.answered.length > 0}>
        <section class="stack tight">
          <h3>{text.firewallChecks}</h3>
          <ul class="plain-list stack tight">
            <For each={props.of.answered}>
              {(one) => (
                <li class="row wrap">
                  <Badge tone={resultTones[one.result]}>{text.results[one.result]}</Badge>
                  <span>
                    {one.name.replaceAll('_', ' ')}: <Foreign text={one.reason} max={400} />
                  </span>
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <Show when={props.mayEdit}>
        <EndAnswers of={props.of} application={props.application} onSaved={props.onSaved} />
        <AnswerForm of={props.of} application={props.application} onSaved={props.onSaved} />
      </Show>
    </>
  );
}
