// Tokens of programs, of both halves in one list: what each opens and is held to, made, renewed and revoked.
import { createSignal, Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { createAsked } from '../../../kit/asked.js';
import { Badge, Button, Card, Foreign, Notice, PageHead } from '../../../kit/basics.js';
import { CopyButton } from '../../../kit/copy.js';
import { SelectField } from '../../../kit/form.js';
import { Overlay, tell } from '../../../kit/overlays.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { adminText as words } from '../../../texts/admin.js';
import { tokensText as text } from '../../../texts/vm/tokens.js';
import { createApplications, type Applications } from '../../vulnerabilities/words.js';
import { keyOf, ofBoth, type ManagerToken, type TokenRow } from './both.js';
import { NewFirewallToken } from './firewall-token-form.js';
import { NewManagerToken } from './vulnerability-token-form.js';

type Half = TokenRow['of'];

const confinesOf = (
  applications: Applications,
  { application_ids: ids, allowed_cidrs: networks }: ManagerToken,
): string => {
  const parts = [
    ...(ids === null ? [] : [text.applications(ids.map(applications.nameOf).join(', '))]),
    ...(networks === null ? [] : [networks.join(', ')]),
  ];
  return parts.join('; ') || text.everything;
};

const columnsOf = (
  applications: Applications,
  isBusy: () => boolean,
  on: { readonly renew: (row: TokenRow) => void; readonly revoke: (row: TokenRow) => void },
): readonly TableColumn<TokenRow>[] => [
  {
    title: text.name,
    sortBy: ({ token }) => token.name,
    cell: ({ token }) => (
      <div class="stack tight">
        <Foreign text={token.name} max={100} />
        <Show when={'prefix' in token}>
          <span class="small faint mono">{(token as ManagerToken).prefix}</span>
        </Show>
      </div>
    ),
  },
  { title: text.opens, sortBy: ({ of }) => text.halves[of], cell: ({ of }) => text.halves[of] },
  { title: text.scopes, class: 'mono', cell: ({ token }) => token.scopes.join(' ') },
  {
    title: text.onlyFor,
    cell: (row) => (
      <Foreign
        text={row.of === 'manager' ? confinesOf(applications, row.token) : text.role(row.token.role)}
        max={300}
      />
    ),
  },
  {
    title: text.lastUsed,
    class: 'nums',
    sortBy: ({ token }) => token.last_used_at,
    cell: ({ token }) => showMoment(token.last_used_at),
  },
  {
    title: text.ends,
    class: 'nums',
    sortBy: ({ token }) => token.expires_at,
    cell: ({ token }) => (token.expires_at === null ? text.never : showMoment(token.expires_at)),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (row) => (
      <Show when={row.token.revoked_at === null} fallback={<Badge>{text.revoked}</Badge>}>
        <div class="row">
          <Show when={row.of === 'manager'}>
            <Button isSmall disabled={isBusy()} onClick={() => on.renew(row)}>
              {text.rotate}
            </Button>
          </Show>
          <Button isSmall disabled={isBusy()} onClick={() => on.revoke(row)}>
            {text.revoke}
          </Button>
        </div>
      </Show>
    ),
  },
];

function NewToken(props: {
  /** What is chosen when it opens. */
  readonly half: Half;
  readonly applications: Applications;
  readonly onMade: (token: string) => void;
}): JSX.Element {
  const [half, setHalf] = createSignal<Half>(props.half);
  return (
    <div class="stack">
      <SelectField
        label={text.opens}
        value={half()}
        options={[
          ['manager', text.halves.manager],
          ['firewall', text.halves.firewall],
        ]}
        onChange={setHalf}
        help={text.halvesAbout[half()]}
      />
      <Switch>
        <Match when={half() === 'firewall'}>
          <NewFirewallToken onMade={props.onMade} />
        </Match>
        <Match when={half() === 'manager'}>
          <NewManagerToken applications={props.applications} onMade={props.onMade} />
        </Match>
      </Switch>
    </div>
  );
}

/** A text that is shown once, and why it is there. */
const Once = (props: { readonly token: string; readonly why: string }): JSX.Element => (
  <Notice tone="warn" title={props.why}>
    <code class="mono">{props.token}</code>
    <div>
      <CopyButton of={props.token} kind="token" />
    </div>
  </Notice>
);

/** Which dialog the address asks for: `?add=1`, or `?add-vm=1` as links of before had it. */
function createAdding() {
  const [isAdding, setAdding] = createAsked('add');
  const [isOfManager, setOfManager] = createAsked('add-vm');
  return {
    isOpen: (): boolean => isAdding() || isOfManager(),
    half: (): Half => (isOfManager() ? 'manager' : 'firewall'),
    open: (): void => setAdding(true),
    close: (): void => (isOfManager() ? setOfManager(false) : setAdding(false)),
  };
}

export function Tokens(): JSX.Element {
  const firewall = createPagedList('GET /api/tokens', () => ({}));
  const manager = createPagedList('GET /api/v1/tokens', () => ({}));
  const both = ofBoth(firewall, manager);
  const applications = createApplications();
  const adding = createAdding();
  const [shown, setShown] = createSignal<{ readonly token: string; readonly why: string } | null>(null);
  const action = createAction();
  const renew = ({ token: { id } }: TokenRow): Promise<boolean> =>
    action.run(async () => {
      const { token } = await call('POST /api/v1/tokens/{id}/rotate', { params: { id }, body: {} });
      setShown({ token, why: text.renewed });
      both.retry?.();
    });
  const revoke = ({ of, token: { id, name } }: TokenRow): Promise<boolean> =>
    action.run(async () => {
      if (of === 'firewall') await call('DELETE /api/tokens/{id}', { params: { id } });
      else await call('DELETE /api/v1/tokens/{id}', { params: { id } });
      tell(text.gone(name));
      setShown(null);
      both.retry?.();
    });
  return (
    <>
      <PageHead title={words.apiTokens} about={words.forPipelinesScriptsToken}>
        <Button look="primary" icon="plus" onClick={adding.open}>
          {words.newToken}
        </Button>
      </PageHead>
      <Show when={shown()}>{(one) => <Once token={one().token} why={one().why} />}</Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Card isFlush>
        <Table
          label={words.apiTokens}
          columns={columnsOf(applications, action.isBusy, {
            renew: (row) => void renew(row),
            revoke: (row) => void revoke(row),
          })}
          of={both}
          keyOf={keyOf}
          empty={words.thereAreNoTokens}
          emptyAbout={words.thereAreNoTokensAbout}
        />
      </Card>
      <Overlay isOpen={adding.isOpen()} title={words.newToken} onClose={adding.close}>
        <NewToken
          half={adding.half()}
          applications={applications}
          onMade={(token) => {
            adding.close();
            setShown({ token, why: text.made });
            both.retry?.();
          }}
        />
      </Overlay>
    </>
  );
}
