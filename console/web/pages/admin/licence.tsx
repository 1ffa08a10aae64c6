import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Figure, Notice, PageHead, Pairs } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { adminText as words } from '../../texts/admin.js';

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
      tell(words.licenceActive);
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
      <PageHead title={words.licence} about={words.byNumberProtectedSites} />
      <Read of={licence}>
        {(data) => (
          <>
            <div class="grid-3">
              <Figure label={words.state} value={data().state} note={data().reason} />
              <Figure
                label={words.sites}
                value={words.usedOf(data().used_domains, data().allowed_domains)}
                href="/admin/settings/sites"
              />
            </div>
            <Show when={data().next_step}>{(text) => <Notice tone="neutral">{text()}</Notice>}</Show>
            <Card title={words.whatSays}>
              <Pairs
                of={[
                  [words.customer, data().customer ?? '–'],
                  [words.edition, data().edition],
                  [words.issued, data().issued ?? '–'],
                  [words.expires, data().expires ?? 'never'],
                  [words.state, <Badge tone={data().state === 'valid' ? 'good' : 'neutral'}>{data().state}</Badge>],
                ]}
              />
            </Card>
          </>
        )}
      </Read>
      <Show when={mayAs('admin')}>
        <Card title={words.activateKey}>
          <div class="stack">
            <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
            <AreaField label={words.licenceKey} value={key()} onInput={setKey} rows={4} />
            <div>
              <Button look="primary" isBusy={isBusy()} disabled={key().trim() === ''} onClick={() => void activate()}>
                {words.activate}
              </Button>
            </div>
          </div>
        </Card>
      </Show>
    </>
  );
}
