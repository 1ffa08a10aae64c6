import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Figure, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';

export function Licence(): JSX.Element {
  const licence = createQuery('GET /api/license');
  const [key, setKey] = createSignal('');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const activate = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await call('POST /api/license', { body: { key: key().trim() } });
      tell('The licence is active.');
      setKey('');
      await licence.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PageHead
        title="Licence"
        about="By the number of protected sites. What is configured goes on protecting whatever happens to the licence."
      />
      <Read of={licence}>
        {(data) => (
          <>
            <div class="grid-3">
              <Figure label="State" value={data().state} note={data().reason} />
              <Figure
                label="Sites"
                value={`${data().used_domains} of ${data().allowed_domains}`}
                href="/admin/settings/sites"
              />
            </div>
            <Card title="What it says">
              <Pairs
                of={[
                  ['Customer', data().customer ?? '–'],
                  ['Edition', data().edition],
                  ['Issued', data().issued ?? '–'],
                  ['Expires', data().expires ?? 'never'],
                  ['State', <Badge tone={data().state === 'valid' ? 'good' : 'neutral'}>{data().state}</Badge>],
                ]}
              />
            </Card>
          </>
        )}
      </Read>
      <Show when={mayAs('admin')}>
        <Card title="Activate a key">
          <div class="stack">
            <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
            <AreaField label="Licence key" value={key()} onInput={setKey} rows={4} />
            <div>
              <Button look="primary" isBusy={isBusy()} disabled={key().trim() === ''} onClick={() => void activate()}>
                Activate
              </Button>
            </div>
          </div>
        </Card>
      </Show>
    </>
  );
}
