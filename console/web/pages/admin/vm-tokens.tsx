// Tokens of the vulnerability manager: who has which, made, renewed and revoked.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Item } from '../../client/http.js';
import { endOfDay, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createAsked } from '../../kit/asked.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { tokensText as text } from '../../texts/vm/tokens.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';

type Token = Item<'GET /api/v1/tokens'>;
type Scope = Body<'POST /api/v1/tokens'>['scopes'][number];

/** `read` lets everything through that changes nothing, `admin` everything: neither is read as a list. */
const helpOf = (scope: string, permissions: readonly string[]): string =>
  scope === 'read' || scope === 'admin' ? text.wholeScopes[scope] : permissions.join(', ').replaceAll('_', ' ');

/** As many as one answer holds. */
const tokensMax = 500;

const confinesOf = (applications: Applications, { application_ids: ids, allowed_cidrs: networks }: Token): string => {
  const parts = [
    ...(ids === null ? [] : [text.applications(ids.map(applications.nameOf).join(', '))]),
    ...(networks === null ? [] : [networks.join(', ')]),
  ];
  return parts.join('; ') || text.everything;
};

const columnsOf = (
  applications: Applications,
  isBusy: () => boolean,
  onRotate: (token: Token) => void,
  onRevoke: (token: Token) => void,
): readonly TableColumn<Token>[] => [
  {
    title: text.name,
    sortBy: ({ name }) => name,
    cell: ({ name, prefix }) => (
      <div class="stack tight">
        <Foreign text={name} max={100} />
        <span class="small faint mono">{prefix}</span>
      </div>
    ),
  },
  { title: text.scopes, class: 'mono', cell: ({ scopes }) => scopes.join(' ') },
  { title: text.onlyFor, cell: (token) => <Foreign text={confinesOf(applications, token)} max={300} /> },
  { title: text.lastUsed, class: 'nums', cell: ({ last_used_at: at }) => showMoment(at) },
  { title: text.ends, class: 'nums', cell: ({ expires_at: at }) => (at === null ? text.never : showMoment(at)) },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (token) => (
      <Show when={token.revoked_at === null} fallback={<Badge>{text.revoked}</Badge>}>
        <div class="row">
          <Button isSmall disabled={isBusy()} onClick={() => onRotate(token)}>
            {text.rotate}
          </Button>
          <Button isSmall disabled={isBusy()} onClick={() => onRevoke(token)}>
            {text.revoke}
          </Button>
        </div>
      </Show>
    ),
  },
];

function NewToken(props: {
  readonly applications: Applications;
  readonly onMade: (token: string) => void;
}): JSX.Element {
  const known = createQuery('GET /api/v1/tokens/scopes');
  const [name, setName] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [end, setEnd] = createSignal('');
  const [scopes, setScopes] = createSignal<readonly Scope[]>(['read']);
  const action = createAction();
  const toggle = (scope: Scope, isIn: boolean): void =>
    void setScopes((all) => [...all.filter((one) => one !== scope), ...(isIn ? [scope] : [])]);
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const expires = end() === '' ? undefined : endOfDay(end());
      const body = {
        name: name().trim(),
        scopes: [...scopes()],
        ...(application() === '' ? {} : { application_ids: [application()] }),
        ...(expires === undefined ? {} : { expires_at: expires }),
      };
      props.onMade((await call('POST /api/v1/tokens', { body })).token);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.anyApplication)}
          onChange={setApplication}
        />
        <TextField label={text.endsOn} type="date" value={end()} onInput={setEnd} help={text.endsHelp} />
      </div>
      <fieldset class="field bare">
        <legend class="label">{text.scopes}</legend>
        <div class="stack tight">
          <For each={known.data()?.items}>
            {({ name: scope, permissions }) => (
              <label class="choice">
                <input
                  type="checkbox"
                  checked={scopes().includes(scope as Scope)}
                  onChange={(event) => toggle(scope as Scope, event.currentTarget.checked)}
                />
                <span>
                  <code>{scope}</code>
                  <span class="help">{helpOf(scope, permissions)}</span>
                </span>
              </label>
            )}
          </For>
        </div>
      </fieldset>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={name().trim() === '' || scopes().length === 0}
        >
          {text.make}
        </Button>
      </div>
    </form>
  );
}

export function VmTokens(): JSX.Element {
  const tokens = createQuery('GET /api/v1/tokens', () => ({ query: { limit: tokensMax } }));
  const applications = createApplications();
  const [isAdding, setAdding] = createAsked('add-vm');
  /** Shown once: the text of a token, and why it is there. */
  const [shown, setShown] = createSignal<{ readonly token: string; readonly why: string } | null>(null);
  const action = createAction();
  const rotate = ({ id }: Token): Promise<boolean> =>
    action.run(async () => {
      const { token } = await call('POST /api/v1/tokens/{id}/rotate', { params: { id }, body: {} });
      setShown({ token, why: text.renewed });
      await tokens.reload();
    });
  const revoke = ({ id, name }: Token): Promise<boolean> =>
    action.run(async () => {
      await call('DELETE /api/v1/tokens/{id}', { params: { id } });
      tell(text.gone(name));
      await tokens.reload();
    });
  return (
    <>
      <Show when={shown()}>
        {(one) => (
          <Notice tone="warn" title={one().why}>
            <code class="mono">{one().token}</code>
            <div>
              <CopyButton of={one().token} kind="token" />
            </div>
          </Notice>
        )}
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Card
        isFlush
        title={text.vmTokens}
        actions={
          <Button isSmall icon="plus" onClick={() => setAdding(true)}>
            {text.newVmToken}
          </Button>
        }
      >
        <p class="body muted small">{text.vmTokensAbout}</p>
        <Table
          label={text.vmTokens}
          columns={columnsOf(
            applications,
            action.isBusy,
            (token) => void rotate(token),
            (token) => void revoke(token),
          )}
          of={ofQuery(tokens, ({ items }) => items)}
          keyOf={({ id }) => id}
          empty={text.none}
          emptyAbout={text.noneAbout}
        />
      </Card>
      <Overlay isOpen={isAdding()} title={text.newVmToken} onClose={() => setAdding(false)}>
        <NewToken
          applications={applications}
          onMade={(token) => {
            setAdding(false);
            setShown({ token, why: text.made });
            void tokens.reload();
          }}
        />
      </Overlay>
    </>
  );
}
