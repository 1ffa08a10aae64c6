// Pruning stops when the clock has jumped ahead, until somebody says that the clock is right.
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { account } from '../../client/session.js';
import { Button, Notice } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { tokensText as text } from '../../texts/vm/tokens.js';

export function ClockNotice(): JSX.Element {
  const retention = createQuery('GET /api/retention', () => ({}), { everyMs: 60_000 });
  const action = createAction();
  const confirm = async (): Promise<void> => {
    if (!(await action.run(() => call('POST /api/retention/confirm')))) return;
    tell(text.clockConfirmed);
    await retention.reload();
  };
  return (
    <Show when={retention.data()?.refused_since}>
      {(since) => (
        <Notice tone="warn" title={text.clockJumped}>
          <span>{text.clockAbout(showMoment(since()), showMoment(retention.data()?.believed_at))}</span>
          <Show when={account()?.role === 'admin'}>
            <div>
              <Button isBusy={action.isBusy()} onClick={() => void confirm()}>
                {text.clockRight}
              </Button>
            </div>
          </Show>
          <Show when={action.problem()}>{(found) => <span>{found()}</span>}</Show>
        </Notice>
      )}
    </Show>
  );
}
