// Instead of an apply to all nodes: one ring after the other. Offered where some node has the label `ring`.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Button, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { rolloutText as text } from '../../texts/resources/rollout.js';

const fields = [
  ['hold_seconds', text.holdFor, text.holdUnit, '300'],
  ['requests_min', text.least, text.leastUnit, '200'],
  ['error_points_max', text.errorMax, text.points, '1'],
  ['block_points_max', text.blockMax, text.points, '2'],
  ['latency_factor_max', text.latencyMax, text.factor, '2'],
] as const;
type Field = (typeof fields)[number][0];

export function RolloutButton(props: { readonly isDisabled: boolean }): JSX.Element {
  const nodes = createQuery('GET /api/nodes/enrolled', () => ({}));
  const ringsKnown = (): string[] => [
    ...new Set((nodes.data()?.items ?? []).flatMap(({ labels }) => labels['ring'] ?? [])),
  ];
  const action = createAction();
  const [isOpen, setOpen] = createSignal(false);
  const [rings, setRings] = createSignal<string | null>(null);
  const [values, setValues] = createSignal(
    Object.fromEntries(fields.map(([name, , , start]) => [name, start])) as Record<Field, string>,
  );
  const first = (): string => (ringsKnown().includes('canary') ? 'canary' : (ringsKnown()[0] ?? ''));
  const start = async (): Promise<void> => {
    const body = {
      rings: (rings() ?? first())
        .split(',')
        .map((ring) => ring.trim())
        .filter((ring) => ring !== ''),
      ...(Object.fromEntries(fields.map(([name]) => [name, Number(values()[name])])) as Record<Field, number>),
    };
    if (!(await action.run(() => call('POST /api/rollouts', { body })))) return;
    tell(text.begun);
    setOpen(false);
  };
  return (
    <Show when={ringsKnown().length > 0}>
      <Button disabled={props.isDisabled} onClick={() => setOpen(true)}>
        {text.open}
      </Button>
      <Overlay
        isOpen={isOpen()}
        title={text.open}
        onClose={() => setOpen(false)}
        footer={
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void start()}>
            {text.start}
          </Button>
        }
      >
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <p>{text.about}</p>
        <TextField label={text.rings} value={rings() ?? first()} onInput={setRings} help={text.ringsHelp} />
        <For each={fields}>
          {([name, label, unit]) => (
            <TextField
              label={label}
              value={values()[name]}
              unit={unit}
              onInput={(value) => setValues((all) => ({ ...all, [name]: value }))}
            />
          )}
        </For>
      </Overlay>
    </Show>
  );
}
