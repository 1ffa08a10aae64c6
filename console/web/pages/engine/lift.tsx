// The way back from what a verdict put in force, without a judgement on the verdict.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { verdictText as text } from '../../texts/engine/verdict.js';
import { whomOf, type Verdict } from './words.js';

const isInForce = ({ action, in_force: inForce }: Verdict): boolean => action === 'block' && inForce;

export function Lift(props: { readonly of: Verdict; readonly onLifted: () => void }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string | null>(null);
  // a stored verdict keeps what it put in force: that it was lifted is known by the list of measures alone
  const [isLifted, setLifted] = createSignal(false);
  const lift = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await call('DELETE /api/measures', { query: { subject: props.of.address, source: 'ai' } });
      tell(text.lifted(whomOf(props.of)));
      setLifted(true);
      props.onLifted();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 404) setLifted(true);
      else setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Show when={isInForce(props.of)}>
      <Show when={!isLifted()} fallback={<span class="small muted">{text.hasEnded}</span>}>
        <Button isBusy={isBusy()} onClick={() => void lift()}>
          {text.lift}
        </Button>
      </Show>
      <Show when={problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </Show>
  );
}
