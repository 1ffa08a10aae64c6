// A finding is given to somebody, and moved to another state: the states that may follow are the server's, and what
// each of them needs is asked for.
import { createEffect, createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Reply } from '../../client/http.js';
import type { People } from '../../client/people.js';
import { Button, Notice } from '../../kit/basics.js';
import { foundMax, withFinder, type Choices } from '../../kit/fields/choices.js';
import { AreaField, SelectField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { Rotated } from './finding/rotated.js';
import { plain } from './words.js';

type Detail = Reply<'GET /api/v1/vulnerabilities/{id}'>;
type Move = Body<'POST /api/v1/vulnerabilities/{id}/transition'>;
export type Justification = NonNullable<Move['justification']>;

export const justifications: readonly Justification[] = [
  'component_not_present',
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
];

interface MovesProps {
  readonly finding: Detail;
  readonly nextStates: readonly string[];
  /** Number of the user who looks at it. */
  readonly mine: string;
  readonly people: People;
  readonly onChanged: () => void;
}

function Assign(props: MovesProps): JSX.Element {
  const [whom, setWhom] = createSignal(props.finding.assignee_id ?? '');
  createEffect(() => setWhom(props.finding.assignee_id ?? ''));
  const action = createAction();
  const assign = async (user: string): Promise<void> => {
    const options = { params: { id: props.finding.id }, body: { user_id: user === '' ? null : user } };
    if (!(await action.run(() => call('POST /api/v1/vulnerabilities/{id}/assign', options)))) return;
    tell(text.assigned);
    props.onChanged();
  };
  const isOther = (): boolean => whom() !== (props.finding.assignee_id ?? '');
  return (
    <section class="stack">
      <h3>{text.assigning}</h3>
      <SelectField
        label={text.assignee}
        value={whom()}
        options={props.people.choices('id', [['', text.nobody]])}
        onChange={setWhom}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Button isBusy={action.isBusy()} disabled={!isOther()} onClick={() => void assign(whom())}>
          {text.assign}
        </Button>
        <Show when={props.finding.assignee_id !== props.mine && props.mine !== ''}>
          <Button icon="people" onClick={() => void assign(props.mine)}>
            {text.takeIt}
          </Button>
        </Show>
      </div>
    </section>
  );
}

/** Findings of the same application that this one may be a duplicate of, by words of their titles and places. */
const othersOf = (finding: Detail): Choices =>
  withFinder([], {
    find: async (q) => {
      const query = { application_id: finding.application_id, limit: foundMax, ...(q === '' ? {} : { q }) };
      const { items } = await call('GET /api/v1/findings', { query });
      const fits = items.filter(({ id, status }) => id !== finding.id && status !== 'duplicate');
      return fits.map(({ id, title, location }) => [id, text.findingAt(id, title, location)] as const);
    },
    titleOf: async (id) => {
      const { title, location } = await call('GET /api/v1/vulnerabilities/{id}', { params: { id } });
      return text.findingAt(id, title, location);
    },
  });

/** Writes what a state needs, and moves the finding there. */
export function FindingMoves(props: MovesProps): JSX.Element {
  const [to, setTo] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [justification, setJustification] = createSignal<Justification>('component_not_present');
  const [canonical, setCanonical] = createSignal('');
  const action = createAction();
  const move = async (): Promise<void> => {
    let status = '';
    const isMoved = await action.run(async () => {
      const body = {
        to: to() as Move['to'],
        ...(reason().trim() === '' ? {} : { reason: reason() }),
        ...(to() === 'false_positive' ? { justification: justification() } : {}),
        ...(to() === 'duplicate' ? { canonical_id: canonical() } : {}),
      };
      const options = { params: { id: props.finding.id }, body };
      ({ status } = await call('POST /api/v1/vulnerabilities/{id}/transition', options));
    });
    if (!isMoved) return;
    tell(text.isNow(plain(status)));
    setTo('');
    setReason('');
    props.onChanged();
  };
  const isUnowned = (): boolean => to() === 'in_progress' && props.finding.assignee_id === null;
  return (
    <>
      <Assign {...props} />
      <Rotated finding={props.finding} nextStates={props.nextStates} onChanged={props.onChanged} />
      <section class="stack">
        <h3>{text.changeState}</h3>
        <SelectField
          label={text.newState}
          value={to()}
          options={[['', text.choose], ...props.nextStates.map((state) => [state, plain(state)] as const)]}
          onChange={setTo}
        />
        <Show when={to() !== ''}>
          <Show when={to() === 'false_positive'}>
            <SelectField
              label={text.justification}
              value={justification()}
              options={justifications.map((word) => [word, plain(word)] as const)}
              onChange={setJustification}
            />
          </Show>
          <Show when={to() === 'duplicate'}>
            <SelectField
              label={text.duplicateOf}
              value={canonical()}
              options={othersOf(props.finding)}
              onChange={setCanonical}
            />
          </Show>
          <AreaField label={text.why} value={reason()} onInput={setReason} rows={3} />
          <Show when={isUnowned()}>
            <Notice tone="info">{text.inProgressNeeds}</Notice>
          </Show>
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          <div>
            <Button look="primary" isBusy={action.isBusy()} disabled={isUnowned()} onClick={() => void move()}>
              {text.move}
            </Button>
          </div>
        </Show>
      </section>
    </>
  );
}
