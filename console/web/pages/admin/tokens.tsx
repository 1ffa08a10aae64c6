import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import type { Role } from '../../client/session.js';
import { Badge, Button, Card, Notice, PageHead } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { createAsked } from '../../kit/asked.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { adminText as words } from '../../texts/admin.js';
import { tokensText } from '../../texts/vm/tokens.js';
import { VmTokens } from './vm-tokens.js';

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
      title={words.newToken}
      onClose={close}
      footer={
        <Show when={token() === null} fallback={<Button onClick={close}>{words.done}</Button>}>
          <Button look="primary" isBusy={isBusy()} disabled={chosen().length === 0} onClick={() => void add()}>
            {words.make}
          </Button>
        </Show>
      }
    >
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <Show
        when={token()}
        fallback={
          <>
            <TextField label={words.name} value={name()} onInput={setName} placeholder={words.ciPipeline} />
            <SelectField
              label={words.role}
              value={role()}
              options={[
                ['viewer', 'viewer'],
                ['operator', 'operator'],
                ['admin', 'admin'],
              ]}
              onChange={setRole}
            />
            <TextField label={words.ends2} value={days()} onInput={setDays} unit={words.days} help={words.emptyNever} />
            <fieldset class="stack tight boxed">
              <legend>{words.whatMayDo}</legend>
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
            <Notice tone="warn" title={words.thisShownOnce}>
              {words.keepWhereYourPipeline}
            </Notice>
            <pre class="code">{text()}</pre>
            <div>
              <CopyButton of={text()} kind="token" />
            </div>
          </>
        )}
      </Show>
    </Overlay>
  );
}

function TokenTable(props: {
  readonly of: TableSource<Token>;
  readonly onRevoke: (token: Token) => void;
}): JSX.Element {
  const columns: readonly TableColumn<Token>[] = [
    { title: words.name, sortBy: (token) => token.name, cell: (token) => token.name },
    { title: words.role, sortBy: (token) => token.role, cell: (token) => token.role },
    { title: words.scopes, class: 'mono', cell: (token) => token.scopes.join(' ') },
    {
      title: words.lastUsed,
      class: 'nums',
      sortBy: (token) => token.last_used_at,
      cell: (token) => showMoment(token.last_used_at),
    },
    {
      title: words.ends,
      class: 'nums',
      sortBy: (token) => token.expires_at,
      cell: (token) => (token.expires_at === null ? tokensText.never : showMoment(token.expires_at)),
    },
    {
      title: words.actions,
      isTitleHidden: true,
      cell: (token) => (
        <Show when={token.revoked_at === null} fallback={<Badge tone="neutral">{words.revoked}</Badge>}>
          <Button isSmall onClick={() => props.onRevoke(token)}>
            {words.revoke}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Table
      label={words.apiTokens}
      columns={columns}
      of={props.of}
      keyOf={(token) => token.id}
      empty={words.thereAreNoTokens}
      emptyAbout={words.thereAreNoTokensAbout}
    />
  );
}

export function Tokens(): JSX.Element {
  const list = createPagedList('GET /api/tokens', () => ({}));
  const [isAdding, setAdding] = createAsked('add');
  const revoke = async ({ id, name }: Token): Promise<void> => {
    try {
      await call('DELETE /api/tokens/{id}', { params: { id } });
      tell(words.tokenRevoked(name));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <>
      <PageHead title={words.apiTokens} about={words.forPipelinesScriptsToken}>
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          {words.newToken}
        </Button>
      </PageHead>
      <Card isFlush>
        <TokenTable of={ofPages(list)} onRevoke={(token) => void revoke(token)} />
      </Card>
      <VmTokens />
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onAdded={list.reload} />
    </>
  );
}
