import { For, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { account } from '../../client/session.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { PasswordForm } from './password-form.js';
import { TwoFactor } from './two-factor.js';

type Session = Item<'GET /api/account/sessions'>;

function Sessions(): JSX.Element {
  const list = createPagedList('GET /api/account/sessions', () => ({}));
  const end = async ({ id }: Session): Promise<void> => {
    try {
      await call('DELETE /api/account/sessions/{id}', { params: { id } });
      tell('That session has ended.');
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <Card title="Sessions" isFlush>
      <div class="table-scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Begun</th>
              <th>From</th>
              <th>With</th>
              <th>Seen</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={list.items()}>
              {(session) => (
                <tr>
                  <td class="nums">{showMoment(session.created_at)}</td>
                  <td class="mono">{session.source_ip}</td>
                  <td>
                    <Foreign text={session.user_agent} max={80} />
                  </td>
                  <td class="nums">{showMoment(session.last_seen_at)}</td>
                  <td>
                    <Show when={!session.current} fallback={<Badge tone="good">this one</Badge>}>
                      <Button isSmall onClick={() => void end(session)}>
                        End
                      </Button>
                    </Show>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </Card>
  );
}

export function Account(): JSX.Element {
  return (
    <>
      <PageHead title="My account" about={account()?.email} />
      <div class="grid-2">
        <Card title="Password">
          <Show when={account()?.origin === 'local'} fallback={<p class="muted">Your provider keeps it.</p>}>
            <PasswordForm onDone={() => {}} />
          </Show>
        </Card>
        <Card title="Second factor">
          <TwoFactor />
        </Card>
      </div>
      <Sessions />
    </>
  );
}
