import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Empty, PageHead, type Tone } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { wafText as words } from '../../texts/waf.js';

type Patch = Item<'GET /api/vpatch/catalog'>;

const toneOf = (severity: string): Tone =>
  severity === 'critical' || severity === 'high' ? 'danger' : severity === 'medium' ? 'warn' : 'neutral';

function PatchCard(props: { readonly patch: Patch; readonly onChanged: () => void }): JSX.Element {
  const [isBusy, setBusy] = createSignal(false);
  const isOn = (): boolean => props.patch.state === 'enabled' || props.patch.state === 'managed';
  const hits = (): number => props.patch.hits_30_days.reduce((sum, one) => sum + one.hits, 0);
  const change = async (action: 'apply' | 'disable'): Promise<void> => {
    setBusy(true);
    try {
      const reply = await call('POST /api/vpatch', { body: { id: props.patch.id, action } });
      tell(words.savedAsVersionForce(reply.version));
      props.onChanged();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card">
      <header class="fixed">
        <div>
          <div class="row wrap">
            <span class="mono">{props.patch.cve || props.patch.id}</span>
            <Badge tone={toneOf(props.patch.severity)}>{props.patch.severity}</Badge>
            <Show when={props.patch.state !== 'available'}>
              <Badge tone={isOn() ? 'good' : 'neutral'}>{props.patch.state}</Badge>
            </Show>
          </div>
          <h3>{props.patch.title}</h3>
        </div>
        <Show when={mayAs('operator')}>
          <Button isBusy={isBusy()} onClick={() => void change(isOn() ? 'disable' : 'apply')}>
            {isOn() ? words.switchOff : words.putForce}
          </Button>
        </Show>
      </header>
      <div class="body stack tight small">
        <span class="muted">
          {words.testsAttemptsInDaysOf(
            `${props.patch.product} ${props.patch.affected}, ${props.patch.cwe}; `,
            props.patch.tests.length,
            hits(),
          )}
        </span>
        <details>
          <summary>{words.rule}</summary>
          <pre class="code">{props.patch.seclang}</pre>
        </details>
      </div>
    </section>
  );
}

export function Patches(): JSX.Element {
  const [text, setText] = createSignal('');
  const catalog = createQuery('GET /api/vpatch/catalog', () => ({ query: { q: text() } }));
  return (
    <>
      <PageHead title={words.virtualPatches} about={words.rulesForPublishedVulnerabilities}>
        <input
          class="input"
          aria-label={words.searchCatalogue}
          placeholder={words.cveProductOrTechnique}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </PageHead>
      <Read of={catalog}>
        {(data) => (
          <Show
            when={data().items.length > 0}
            fallback={
              <Card>
                <Empty title={words.nothingCalled} />
              </Card>
            }
          >
            <div class="grid-2">
              <For each={data().items}>
                {(patch) => <PatchCard patch={patch} onChanged={() => void catalog.reload()} />}
              </For>
            </div>
          </Show>
        )}
      </Read>
    </>
  );
}
