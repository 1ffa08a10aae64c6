// The chain in words. A model writes them, and only when somebody asks: it is sent titles and kinds of the findings.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import { mayAs } from '../../../client/session.js';
import { Button, Card, ForeignLines, Notice } from '../../../kit/basics.js';
import { chainsText as words } from '../../../texts/vm/chains.js';

type Chain = Reply<'GET /api/v1/graph/attack-chains/{id}'>['chain'];

/** As the operation answers it. */
type Explanation =
  | { readonly ok: true; readonly story: string; readonly fix: string }
  | { readonly ok: false; readonly reason: string };

const storyMax = 6000;

function Written(props: { readonly of: Explanation }): JSX.Element {
  const told = (): Extract<Explanation, { ok: true }> | null => (props.of.ok ? props.of : null);
  return (
    <Show when={told()} fallback={<Notice tone="info">{props.of.ok ? '' : words.noNarrative(props.of.reason)}</Notice>}>
      {(of) => (
        <>
          <p>
            <ForeignLines text={of().story} max={storyMax} />
          </p>
          <h3>{words.fixFirst}</h3>
          <p>
            <ForeignLines text={of().fix} max={storyMax} />
          </p>
          <p class="faint small">{words.writtenByModel}</p>
        </>
      )}
    </Show>
  );
}

export function Narrative(props: { readonly chain: Chain }): JSX.Element {
  const [told, setTold] = createSignal<Explanation | null>(null);
  const action = createAction();
  const ask = (): Promise<boolean> =>
    action.run(async () => {
      const { kind, hops } = props.chain;
      const body = { hop_vuln_ids: hops.map(({ vuln_id: id }) => id), kind };
      setTold((await call('POST /api/v1/graph/attack-chains/explain', { body })) as Explanation);
    });
  return (
    <Card title={words.inWords}>
      <div class="stack">
        <p class="muted">{words.inWordsAbout}</p>
        <div class="row wrap">
          <Button isBusy={action.isBusy()} onClick={() => void ask()}>
            {words.describe}
          </Button>
          <Show when={mayAs('admin')}>
            <A href="/admin/settings/vulnerabilities#vm_model_url">{words.nameModel}</A>
          </Show>
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={told()}>{(of) => <Written of={of()} />}</Show>
      </div>
    </Card>
  );
}
