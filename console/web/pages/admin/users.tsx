import { createSignal, For, Show, type JSX } from 'solid-js';
import { ask, call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { account, type Role } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Confirm, Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table.js';
import { ofPages } from '../../kit/table-source.js';

type User = Item<'GET /api/users'>;

const isMe = (user: User): boolean => user.id === account()?.id;

const roles = [
  ['viewer', 'viewer: sees'],
  ['operator', 'operator: tunes rules, lists and applies'],
  ['admin', 'admin: everything'],
] as const;

function AddDialog(props: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): JSX.Element {
  const [email, setEmail] = createSignal('');
  const [name, setName] = createSignal('');
  const [role, setRole] = createSignal<Role>('viewer');
  const [password, setPassword] = createSignal('');
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await call('POST /api/users', { body: { email: email(), name: name(), role: role(), password: password() } });
      tell(`${email()} can log in, and has to change the password then.`);
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
      title="New user"
      onClose={props.onClose}
      footer={
        <Button look="primary" isBusy={isBusy()} onClick={() => void add()}>
          Add
        </Button>
      }
    >
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <TextField label="E-mail" type="email" value={email()} onInput={setEmail} />
      <TextField label="Name" value={name()} onInput={setName} />
      <SelectField label="Role" value={role()} options={roles} onChange={setRole} />
      <TextField
        label="First password"
        type="password"
        autocomplete="new-password"
        value={password()}
        onInput={setPassword}
        help="To be changed at the first login."
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
          title: `Let ${user.email} in again?`,
          text: 'The account works again.',
          action: 'Reactivate',
          run: () => patch({ suspended: false }),
        }
      : {
          user,
          title: `Suspend ${user.email}?`,
          text: 'Every session ends at once; nothing is deleted.',
          action: 'Suspend',
          run: () => patch({ suspended: true }),
        },
    {
      user,
      title: `End every session of ${user.email}?`,
      text: 'They have to log in again.',
      action: 'End sessions',
      run: () => call('DELETE /api/users/{id}/sessions', { params }),
    },
    ...(user.totp_enabled
      ? [
          {
            user,
            title: `Turn off the second factor of ${user.email}?`,
            text: 'For somebody who lost the device. Until they enrol again the password alone is enough.',
            action: 'Turn off',
            run: () => call('DELETE /api/users/{id}/totp', { params }),
          },
        ]
      : []),
    {
      user,
      title: `Delete ${user.email}?`,
      text: 'With its sessions and tokens. What it did stays in the audit log.',
      action: 'Delete',
      run: () => call('DELETE /api/users/{id}', { params }),
    },
  ];
}

function RoleSelect(props: { readonly user: User; readonly onChanged: () => void }): JSX.Element {
  const setRole = async (role: Role): Promise<void> => {
    try {
      const { id, etag } = props.user;
      await ask('PATCH /api/users/{id}', { params: { id }, body: { role }, ifMatch: etag });
      tell(`${props.user.email} is ${role} now.`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    props.onChanged();
  };
  return (
    <select
      class="select"
      aria-label={`Role of ${props.user.email}`}
      disabled={isMe(props.user)}
      onChange={(event) => void setRole(event.currentTarget.value as Role)}
    >
      <For each={roles}>
        {([role]) => (
          <option value={role} selected={props.user.role === role}>
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
      <Show when={props.user.suspended} fallback={<Badge tone="good">active</Badge>}>
        <Badge tone="danger">suspended</Badge>
      </Show>
      <Badge tone={props.user.totp_enabled ? 'good' : 'neutral'}>
        {props.user.totp_enabled ? 'two factors' : 'password only'}
      </Badge>
      <Show when={props.user.must_change_password}>
        <Badge tone="warn">password to be changed</Badge>
      </Show>
    </div>
  );
}

const columnsOf = (ask: (question: Question) => void, onChanged: () => void): readonly TableColumn<User>[] => [
  {
    title: 'Who',
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
  { title: 'Role', sortBy: ({ role }) => role, cell: (user) => <RoleSelect user={user} onChanged={onChanged} /> },
  { title: 'State', cell: (user) => <UserState user={user} /> },
  {
    title: 'Last login',
    class: 'nums',
    sortBy: (user) => user.last_login_at,
    cell: (user) => showMoment(user.last_login_at),
  },
  {
    title: 'Actions',
    isTitleHidden: true,
    cell: (user) => (
      <div class="row wrap">
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
  const [isAdding, setAdding] = createSignal(false);
  const [question, setQuestion] = createSignal<Question | null>(null);
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
      <PageHead title="Users">
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          New user
        </Button>
      </PageHead>
      <Card isFlush>
        <Table
          label="Users"
          columns={columnsOf(setQuestion, list.reload)}
          of={ofPages(list)}
          keyOf={({ id }) => id}
          empty="There are no users"
        />
      </Card>
      <AddDialog isOpen={isAdding()} onClose={() => setAdding(false)} onAdded={list.reload} />
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
