// A finding is given to somebody, and moved to another state: the states that may follow are the server's, and what
// each of them needs is asked for.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Body, type Reply } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
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
  readonly onChanged: () => void;
}

function Assign(props: MovesProps): JSX.Element {
  const assign = async (user: string | null): Promise<void> => {
    try {
      await call('POST /api/v1/vulnerabilities/{id}/assign', {
        params: { id: props.finding.id },
        body: { user_id: user },
      });
      tell(text.assigned);
      props.onChanged();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
  };
  return (
    <div class="row wrap">
      <Show when={props.finding.assignee_id !== props.mine && props.mine !== ''}>
        <Button icon="people" onClick={() => void assign(props.mine)}>
          {text.takeIt}
        </Button>
      </Show>
      <Show when={props.finding.assignee_id !== null}>
        <Button onClick={() => void assign(null)}>{text.letGo}</Button>
      </Show>
    </div>
  );
}

/** Writes what a state needs, and moves the finding there. */
export function FindingMoves(props: MovesProps): JSX.Element {
  const [to, setTo] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [justification, setJustification] = createSignal<Justification>('component_not_present');
  const [canonical, setCanonical] = createSignal('');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const move = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const { status } = await call('POST /api/v1/vulnerabilities/{id}/transition', {
        params: { id: props.finding.id },
        body: {
          to: to() as Move['to'],
          ...(reason().trim() === '' ? {} : { reason: reason() }),
          ...(to() === 'false_positive' ? { justification: justification() } : {}),
          ...(to() === 'duplicate' ? { canonical_id: canonical().trim() } : {}),
        },
      });
      tell(text.isNow(plain(status)));
      setTo('');
      setReason('');
      props.onChanged();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  const isUnowned = (): boolean => to() === 'in_progress' && props.finding.assignee_id === null;
  return (
    <section class="stack">
      <h3>{text.changeState}</h3>
      <Assign {...props} />
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
          <TextField label={text.duplicateOf} value={canonical()} onInput={setCanonical} />
        </Show>
        <AreaField label={text.why} value={reason()} onInput={setReason} rows={3} />
        <Show when={isUnowned()}>
          <Notice tone="info">{text.inProgressNeeds}</Notice>
        </Show>
        <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button look="primary" isBusy={isBusy()} disabled={isUnowned()} onClick={() => void move()}>
            {text.move}
          </Button>
        </div>
      </Show>
    </section>
  );
}
