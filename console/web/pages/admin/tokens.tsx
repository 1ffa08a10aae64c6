import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import type { Role } from '../../client/session.js';
import { Badge, Button, Card, Empty, Loading, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';

type Token = Item<'GET /api/tokens'>;
type Scope = Body<'POST /api/tokens'>['scopes'][number];

const scopes: readonly Scope[] = [
  'settings:read',
  'settings:write',
  'apply',
  'versions:read',
  'rollback',
  'rules:read',
  'rules:write',
  'events:read',
  'threat-intel:read',
  'threat-intel:write',
  'stats:read',
  'jobs:read',
  'licence:read',
  'audit:read',
];

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): JSX.Element {
  const [name, setName] = createSignal('');
  const [role, setRole] = createSignal<Role>('viewer');
  const [days, setDays] = createSignal('365');
  const [chosen, setChosen] = createSignal<readonly Scope[]>([]);
  const [token, setToken] = createSignal<string | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const toggle = (scope: Scope): void =>
    void setChosen((all) => (all.includes(scope) ? all.filter((one) => one !== scope) : [...all, scope]));
  const add = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const expires = days().trim() === '' ? {} : { expires_in_days: Number(days()) };
      const body = { name: name(), role: role(), scopes: [...chosen()], ...expires };
      setToken((await call('POST /api/tokens', { body })).token);
      props.onAdded();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem([error.message, ...error.errors.map(({ path, reason }) => `${path} ${reason}`)].join(' '));
    } finally {
      setBusy(false);
    }
  };
  const close = (): void => {
    setToken(null);
    props.onClose();
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title="New token"
      onClose={close}
      footer={
        <Show when={token() === null} fallback={<Button onClick={close}>Done</Button>}>
          <Button look="primary" isBusy={isBusy()} disabled={chosen().length === 0} onClick={() => void add()}>
            Make
          </Button>
        </Show>
      }
    >
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <Show
        when={token()}
        fallback={
          <>
            <TextField label="Name" value={name()} onInput={setName} placeholder="ci-pipeline" />
            <SelectField
              label="Role"
              value={role()}
              options={[
                ['viewer', 'viewer'],
                ['operator', 'operator'],
                ['admin', 'admin'],
              ]}
              onChange={setRole}
            />
            <TextField label="Ends in" value={days()} onInput={setDays} unit="days" help="empty: never" />
            <fieldset class="stack tight boxed">
              <legend>What it may do</legend>
              <For each={scopes}>
                {(scope) => (
                  <label class="row">
                    <input type="checkbox" checked={chosen().includes(scope)} onChange={() => toggle(scope)} />
                    <code>{scope}</code>
                  </label>
                )}
              </For>
            </fieldset>
          </>
        }
      >
        {(text) => (
          <>
            <Notice tone="warn" title="This is shown once">
              Keep it where your pipeline keeps secrets.
            </Notice>
            <pre class="code">{text()}</pre>
          </>
        )}
      </Show>
    </Overlay>
  );
}

function TokenTable(props: {
  readonly tokens: readonly Token[];
  readonly onRevoke: (token: Token) => void;
}): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Role</th>
            <th>Scopes</th>
            <th>Last used</th>
            <th>Ends</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.tokens}>
            {(token) => (
              <tr>
                <td>{token.name}</td>
                <td>{token.role}</td>
                <td class="mono">{token.scopes.join(' ')}</td>
                <td class="nums">{showMoment(token.last_used_at)}</td>
                <td class="nums">{token.expires_at === null ? 'never' : showMoment(token.expires_at)}</td>
                <td>
                  <Show when={token.revoked_at === null} fallback={<Badge tone="neutral">revoked</Badge>}>
                    <Button isSmall onClick={() => props.onRevoke(token)}>
                      Revoke
                    </Button>
                  </Show>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

export function Tokens(): JSX.Element {
  const list = createPagedList('GET /api/tokens', () => ({}));
  const [isAdding, setAdding] = createSignal(false);
  const revoke = async ({ id, name }: Token): Promise<void> => {
    try {
      await call('DELETE /api/tokens/{id}', { params: { id } });
      tell(`The token ${name} is revoked.`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <>
      <PageHead
        title="API tokens"
        about="For pipelines and scripts. A token can do what its role and its scopes both allow."
      >
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          New token
        </Button>
      </PageHead>
      <Show when={list.problem()}>{(problem) => <Notice tone="danger">{problem().message}</Notice>}</Show>
      <Card isFlush>
        <Show
          when={list.items().length > 0}
          fallback={
            <Show when={!list.isLoading()} fallback={<Loading />}>
              <Empty title="There are no tokens" />
            </Show>
          }
        >
          <TokenTable tokens={list.items()} onRevoke={(token) => void revoke(token)} />
        </Show>
      </Card>
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onAdded={list.reload} />
    </>
  );
}
