// One look at a target: what its address answers.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { activeText } from '../../texts/vm/sources/active-scans.js';

const text = activeText.probe;
type Seen = Reply<'POST /api/v1/targets/{id}/probe'>;

const certificateOf = ({ tls }: Seen): string =>
  tls === null ? '–' : `${tls.subject}, ${tls.issuer}, ${tls.protocol}, ${text.days(tls.days_left)}`;

export function Probe(props: { readonly id: string }): JSX.Element {
  const [seen, setSeen] = createSignal<Seen | null>(null);
  const action = createAction();
  const look = async (): Promise<void> => {
    await action.run(async () => {
      setSeen(await call('POST /api/v1/targets/{id}/probe', { params: { id: props.id } }));
    });
  };
  return (
    <section class="stack">
      <h3>{text.title}</h3>
      <div>
        <Button isBusy={action.isBusy()} onClick={() => void look()}>
          {text.look}
        </Button>
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={seen()}>
        {(one) => (
          <Pairs
            of={[
              [text.status, text.statusAndTime(one().status, one().ms)],
              [text.page, <Foreign text={one().title ?? '–'} max={200} />],
              [text.server, <Foreign text={one().headers['server'] ?? '–'} max={200} />],
              [text.technologies, <Foreign text={one().technologies.join(', ') || '–'} max={300} />],
              [text.certificate, <Foreign text={certificateOf(one())} max={300} />],
            ]}
          />
        )}
      </Show>
    </section>
  );
}
