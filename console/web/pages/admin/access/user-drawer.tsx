// One account: what it is, what its owner may do in the vulnerability manager, and where they are logged in.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { account } from '../../../client/session.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../../kit/basics.js';
import { Confirm, tell } from '../../../kit/overlays.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofPages } from '../../../kit/table/table-source.js';
import { rolesText as text } from '../../../texts/resources/roles.js';
import { Grants } from './grants.js';

export type User = Item<'GET /api/users'>;
type Session = Item<'GET /api/users/{id}/sessions'>;

const columns: readonly TableColumn<Session>[] = [
  { title: text.begun, class: 'nums', cell: ({ created_at: at }) => showMoment(at, true) },
  { title: text.from, class: 'mono', cell: ({ source_ip: ip }) => <Foreign text={ip} max={45} /> },
  {
    title: text.browser,
    cell: ({ user_agent: agent, current }) => (
      <span class="row wrap">
        <Foreign text={agent} max={80} />
        <Show when={current}>
          <Badge tone="good">{text.thisOne}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.seen, class: 'nums', cell: ({ last_seen_at: at }) => showMoment(at, true) },
  { title: text.ends, class: 'nums', cell: ({ expires_at: at }) => showMoment(at, true) },
];

function Sessions(props: { readonly user: User }): JSX.Element {
  const params = { id: props.user.id };
  const list = createPagedList('GET /api/users/{id}/sessions', () => ({}), 50, params);
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const end = async (): Promise<void> => {
    const isDone = await action.run(async () => {
      const { ended } = await call('DELETE /api/users/{id}/sessions', { params });
      tell(text.sessionsEnded(ended));
    });
    if (isDone) setAsking(false);
    list.reload();
  };
  return (
    <section class="stack">
      <div class="row wrap between">
        <h3>{text.sessions}</h3>
        <Show when={props.user.id !== account()?.id && list.items().length > 0}>
          <Button isSmall onClick={() => setAsking(true)}>
            {text.endSessions}
          </Button>
        </Show>
      </div>
      <Table
        label={text.sessions}
        columns={columns}
        of={ofPages(list)}
        keyOf={({ id }) => id}
        empty={text.noSessions}
      />
      <Confirm
        isOpen={isAsking()}
        title={text.endSessionsAsk(props.user.email)}
        action={text.endSessions}
        isBusy={action.isBusy()}
        onConfirm={() => void end()}
        onClose={() => setAsking(false)}
      >
        <p>{text.endSessionsAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </section>
  );
}

interface UserDrawerProps {
  readonly of: User;
  /** As both halves see it. */
  readonly role: string;
  readonly state: JSX.Element;
}

export function UserDrawer(props: UserDrawerProps): JSX.Element {
  return (
    <div class="stack">
      <Pairs
        of={[
          [text.eMail, <Foreign text={props.of.email} />],
          [text.name, <Foreign text={props.of.name === '' ? '–' : props.of.name} />],
          [text.account, props.role],
          [text.state, props.state],
          [text.origin, props.of.origin === 'sso' ? text.origins.sso : text.origins.local],
          [text.made, showMoment(props.of.created_at)],
          [text.lastLogin, props.of.last_login_at === null ? text.never : showMoment(props.of.last_login_at)],
        ]}
      />
      <Grants user={props.of} />
      <Sessions user={props.of} />
    </div>
  );
}
