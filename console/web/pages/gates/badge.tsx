// An address under which everybody sees the last verdict of an application as a picture.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { tell } from '../../kit/overlays.js';
import { hooksText as text } from '../../texts/vm/hooks.js';

export function BadgeAddress(props: { readonly application: string }): JSX.Element {
  const [made, setMade] = createSignal<{ readonly of: string; readonly address: string } | null>(null);
  const action = createAction();
  const params = () => ({ application_id: props.application });
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const { path } = await call('POST /api/v1/ci/badge/{application_id}', { params: params() });
      setMade({ of: props.application, address: window.location.origin + path });
    });
  const end = async (): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/ci/badge/{application_id}', { params: params() })))) return;
    setMade(null);
    tell(text.badgeEnded);
  };
  /** Of the application that is chosen now. */
  const address = (): string | null => (made()?.of === props.application ? (made()?.address ?? null) : null);
  return (
    <Card title={text.badge}>
      <div class="stack">
        <p class="muted">{text.badgeAbout}</p>
        <Show when={address()}>
          {(found) => (
            <Notice tone="good" title={text.badgeMade}>
              <code class="mono">{found()}</code>
              <div class="row wrap">
                <img src={found()} alt={text.badge} />
                <CopyButton of={found()} kind="address" />
              </div>
            </Notice>
          )}
        </Show>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Button isBusy={action.isBusy()} onClick={() => void make()}>
            {text.makeBadge}
          </Button>
          <Button isBusy={action.isBusy()} onClick={() => void end()}>
            {text.endBadge}
          </Button>
        </div>
      </div>
    </Card>
  );
}
