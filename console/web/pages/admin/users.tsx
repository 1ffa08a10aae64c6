import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { ask, call, Refused } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { account } from '../../client/session.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Confirm, Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { createAsked } from '../../kit/asked.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { adminText as words } from '../../texts/admin.js';
import { rolesText } from '../../texts/resources/roles.js';
import { addAccount, createAccountRoles, type AccountRoles } from './access/account-roles.js';
import { UserDrawer, type User } from './access/user-drawer.js';

const isMe = (user: User): boolean => user.id === account()?.id;

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly roles: AccountRoles;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): JSX.Element {
  const [email, setEmail] = createSignal('');
  const [name, setName] = createSignal('');
  const [role, setRole] = createSignal('viewer');
  const [password, setPassword] = createSignal('');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await addAccount({ email: email(), name: name(), role: role(), password: password() });
      tell(words.canLogHasChange(email()));
      props.onAdded();
      props.onClose();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem([error.message, ...error.errors.map(({ reason }) => reason)].join(' '));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Overlay
      isOpen={props.isOpen}
      title={words.newUser}
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={isBusy()} onClick={() => void add()}>
          {words.add}
        </Button>
      }
    >
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <TextField label={words.eMail} type="email" value={email()} onInput={setEmail} />
      <TextField label={words.name} value={name()} onInput={setName} />
      <SelectField label={words.role} value={role()} options={props.roles.options()} onChange={setRole} />
      <TextField
        label={words.firstPassword}
        type="password"
        autocomplete="new-password"
        value={password()}
        onInput={setPassword}
        help={words.beChangedAtFirst}
      />
    </Overlay>
  );
}

/** A password that somebody forgot: the next login asks for one of their own. */
function PasswordDialog(props: { readonly user: User | null; readonly onClose: () => void }): JSX.Element {
  const [password, setPassword] = createSignal('');
  const action = createAction();
  const set = async (user: User): Promise<void> => {
    const options = { params: { id: user.id }, body: { password: password() } };
    if (!(await action.run(() => call('POST /api/users/{id}/password', options)))) return;
    tell(words.canLogHasChange(user.email));
    setPassword('');
    props.onClose();
  };
  return (
    <Overlay
      isOpen={props.user !== null}
      title={words.newPassword}
      onClose={props.onClose}
      footer={
        <Button
          look="primary"
          isBusy={action.isBusy()}
          disabled={password() === ''}
          onClick={() => props.user !== null && void set(props.user)}
        >
          {words.setPassword}
        </Button>
      }
    >
      <p>
        <Foreign text={props.user?.email} />
      </p>
      <p class="muted">{words.newPasswordAbout}</p>
      <Show when={action.problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <TextField
        label={words.firstPassword}
        type="password"
        autocomplete="new-password"
        value={password()}
        onInput={setPassword}
        help={words.beChangedAtFirst}
      />
    </Overlay>
  );
}

interface Question {
  readonly user: User;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  run(): Promise<unknown>;
}

function questionsOf(user: User): Question[] {
  const params = { id: user.id };
  const patch = (body: { suspended: boolean }) => ask('PATCH /api/users/{id}', { params, body, ifMatch: user.etag });
  return [
    user.suspended
      ? {
          user,
          title: words.letAgain(user.email),
          text: words.accountWorksAgain,
          action: words.reactivate,
          run: () => patch({ suspended: false }),
        }
      : {
          user,
          title: words.suspend2(user.email),
          text: words.everySessionEndsAt,
          action: words.suspend,
          run: () => patch({ suspended: true }),
        },
    {
      user,
      title: words.endEverySession(user.email),
      text: words.theyHaveLogAgain,
      action: words.endSessions,
      run: () => call('DELETE /api/users/{id}/sessions', { params }),
    },
    ...(user.totp_enabled
      ? [
          {
            user,
            title: words.turnOffSecondFactor(user.email),
            text: words.forSomebodyWhoLost,
            action: words.turnOff,
            run: () => call('DELETE /api/users/{id}/totp', { params }),
          },
        ]
      : []),
    {
      user,
      title: words.delete2(user.email),
      text: words.itsSessionsTokensWhat,
      action: words.delete,
      run: () => call('DELETE /api/users/{id}', { params }),
    },
  ];
}

interface RoleSelectProps {
  readonly user: User;
  readonly roles: AccountRoles;
  readonly onChanged: () => void;
}

function RoleSelect(props: RoleSelectProps): JSX.Element {
  const setRole = async (role: string): Promise<void> => {
    try {
      const { id } = props.user;
      await call('PATCH /api/v1/users/{id}', { params: { id }, body: { role }, ifMatch: props.roles.versionOf(id) });
      tell(words.now(props.user.email, role));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    props.roles.reload();
    props.onChanged();
  };
  const shown = (): string => props.roles.of(props.user);
  return (
    <select
      class="select"
      aria-label={words.role2(props.user.email)}
      disabled={isMe(props.user)}
      onChange={(event) => void setRole(event.currentTarget.value)}
    >
      <For each={props.roles.options()}>
        {([role]) => (
          <option value={role} selected={shown() === role}>
            {role}
          </option>
        )}
      </For>
    </select>
  );
}

function UserState(props: { readonly user: User }): JSX.Element {
  return (
    <div class="row wrap">
      <Show when={props.user.suspended} fallback={<Badge tone="good">{words.active}</Badge>}>
        <Badge tone="danger">{words.suspended}</Badge>
      </Show>
      <Badge tone={props.user.totp_enabled ? 'good' : 'neutral'}>
        {props.user.totp_enabled ? words.twoFactors : words.passwordOnly}
      </Badge>
      <Show when={props.user.must_change_password}>
        <Badge tone="warn">{words.passwordBeChanged}</Badge>
      </Show>
    </div>
  );
}

const columnsOf = (
  ask: (question: Question) => void,
  onPassword: (user: User) => void,
  onChanged: () => void,
  roles: AccountRoles,
): readonly TableColumn<User>[] => [
  {
    title: words.who,
    sortBy: (user) => user.email,
    cell: (user) => (
      <>
        <Foreign text={user.email} />
        <div class="faint">
          <Foreign text={user.name} />
        </div>
      </>
    ),
  },
  {
    title: words.role,
    sortBy: (user) => roles.of(user),
    cell: (user) => <RoleSelect user={user} roles={roles} onChanged={onChanged} />,
  },
  { title: words.state, cell: (user) => <UserState user={user} /> },
  {
    title: words.lastLogin,
    class: 'nums',
    sortBy: (user) => user.last_login_at,
    cell: (user) => showMoment(user.last_login_at),
  },
  {
    title: words.actions,
    isTitleHidden: true,
    class: 'acts',
    cell: (user) => (
      <div class="row wrap">
        <Show when={!isMe(user)}>
          <Button isSmall onClick={() => onPassword(user)}>
            {words.newPassword}
          </Button>
        </Show>
        <For each={isMe(user) ? [] : questionsOf(user)}>
          {(question) => (
            <Button isSmall onClick={() => ask(question)}>
              {question.action}
            </Button>
          )}
        </For>
      </div>
    ),
  },
];

export function Users(): JSX.Element {
  const list = createPagedList('GET /api/users', () => ({}));
  const roles = createAccountRoles();
  const [isAdding, setAdding] = createAsked('add');
  const [chosen, choose] = createChosen('user');
  const opened = (): User | undefined => list.items().find(({ id }) => id === chosen());
  const [question, setQuestion] = createSignal<Question | null>(null);
  const [forgetful, setForgetful] = createSignal<User | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await question()?.run();
      setQuestion(null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
      list.reload();
    }
  };
  return (
    <>
      <ListCard
        label={words.users}
        title={words.users}
        actions={
          <Button isSmall look="primary" icon="plus" onClick={() => setAdding(true)}>
            {words.newUser}
          </Button>
        }
        columns={columnsOf(setQuestion, setForgetful, list.reload, roles)}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={words.thereAreNoUsers}
      />
      <Overlay isOpen={opened() !== undefined} look="drawer" title={rolesText.user} onClose={() => choose(null)}>
        <Show when={opened()}>
          {(user) => <UserDrawer of={user()} role={roles.of(user())} state={<UserState user={user()} />} />}
        </Show>
      </Overlay>
      <PasswordDialog user={forgetful()} onClose={() => (setForgetful(null), list.reload())} />
      <AddDialog
        isOpen={isAdding()}
        roles={roles}
        onClose={() => setAdding(false)}
        onAdded={() => {
          roles.reload();
          list.reload();
        }}
      />
      <Confirm
        isOpen={question() !== null}
        title={question()?.title ?? ''}
        action={question()?.action ?? ''}
        isBusy={isBusy()}
        onConfirm={() => void run()}
        onClose={() => setQuestion(null)}
      >
        <p>{question()?.text}</p>
      </Confirm>
    </>
  );
}
