// Three steps for whoever starts, each done where it is told: name the application, put it in force, see the first
// attack blocked. Gone once they are done, or put away.
import { A } from '@solidjs/router';
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { draft, edit, loadSettings, problems, save } from '../../client/settings-draft.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { overviewText as text } from '../../texts/overview.js';
import { attackCommand } from './attack-command.js';
import { firstAttack } from './first-attack.js';

const kept = 'gatehouse.first-steps';
const lookEveryMs = 3000;
const newVersionsMax = 10;
/** `up` sends an attack at each of its starts: so many of them in a row are looked past. */
const blockedNewest = { verdict: 'block', limit: 20 } as const;

function Step(props: {
  readonly isDone: boolean;
  /** What belongs to it is shown also when it is done. */
  readonly isKept?: boolean;
  readonly title: string;
  readonly about: string;
  readonly children?: JSX.Element;
}): JSX.Element {
  return (
    <li>
      <div class="stack tight">
        <div class="row">
          <strong>{props.title}</strong>
          <Show when={props.isDone}>
            <Badge tone="good">{text.done}</Badge>
          </Show>
        </div>
        <p class="muted">{props.about}</p>
        <Show when={!props.isDone || props.isKept === true}>{props.children}</Show>
      </div>
    </li>
  );
}

/** Runs what a person asked for: busy meanwhile, and its refusal as text. */
function createAttempt() {
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string | null>(null);
  const run = async (work: () => Promise<string | null>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      setProblem(await work());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem([error.message, ...error.diagnostics.map(({ message }) => message)].join(' '));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}

function Problem(props: { readonly of: string | null }): JSX.Element {
  return (
    <Show when={props.of}>
      {(words) => (
        <Notice tone="danger">
          <Foreign text={words()} />
        </Notice>
      )}
    </Show>
  );
}

/** Saves one site for everything, in front of the address that was typed. */
function NameApplication(props: { readonly onSaved: () => void }): JSX.Element {
  const [upstream, setUpstream] = createSignal('');
  const { isBusy, problem, run } = createAttempt();
  const protect = (): Promise<void> =>
    run(async () => {
      await loadSettings();
      if (draft() === null) return text.settingsUnread;
      edit('sites', [{ name: 'application', prefix: '/', upstream: upstream().trim(), protected: true }]);
      if (!(await save(['sites'])))
        return problems()
          .map(({ reason, fix }) => `${reason}. ${fix ?? ''}`)
          .join(' ');
      props.onSaved();
      return null;
    });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void protect();
  };
  return (
    <form class="row wrap end" onSubmit={submit}>
      <TextField
        label={text.whereItAnswers}
        value={upstream()}
        onInput={setUpstream}
        placeholder="http://127.0.0.1:3000"
        isRequired
      />
      <Button type="submit" look="primary" isBusy={isBusy()} disabled={upstream().trim() === ''}>
        {text.protectIt}
      </Button>
      <Problem of={problem()} />
    </form>
  );
}

function PutInForce(props: { readonly onDone: () => void }): JSX.Element {
  const { isBusy, problem, run } = createAttempt();
  const apply = (): Promise<void> =>
    run(async () => {
      const { version, took_ms } = await call('POST /api/apply');
      tell(text.inForce(version, (took_ms / 1000).toFixed(1)));
      props.onDone();
      return null;
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <Button look="primary" isBusy={isBusy()} onClick={() => void apply()}>
          {text.apply}
        </Button>
        <A href="/admin/changes">{text.lookFirst}</A>
      </div>
      <Problem of={problem()} />
    </div>
  );
}

type Blocked = Item<'GET /api/events'>;
type Sites = QueryState<Reply<'GET /api/sites'>>;

/** The command that attacks, and under it the newest attack that was blocked, whenever that was. */
function FirstAttack(props: { readonly blocked: Blocked | undefined; readonly sites: Sites }): JSX.Element {
  const command = (): string => {
    const { port, items } = props.sites.data() ?? { port: null, items: [] };
    return port === null ? '' : attackCommand(location.hostname, port, items);
  };
  return (
    <div class="stack tight">
      <Read of={props.sites}>{() => <pre class="code">{command()}</pre>}</Read>
      <div class="row wrap">
        <Show when={command() !== ''}>
          <CopyButton of={command()} kind="command" />
        </Show>
        <Show when={props.blocked === undefined}>
          <span class="spinner" aria-hidden="true" />
          <span class="muted" role="status">
            {text.waitingForAttack}
          </span>
        </Show>
      </div>
      <Show when={props.blocked}>{(event) => <Seen event={event()} />}</Show>
    </div>
  );
}

function Seen(props: { readonly event: Blocked }): JSX.Element {
  return (
    <Notice tone="good" title={text.attackBlocked(showMoment(props.event.at))}>
      <span class="mono small">
        <Foreign text={`${props.event.method} ${props.event.uri}`} max={120} />
      </span>
      <A href={`/soc?event=${props.event.id}&of=${encodeURIComponent(props.event.request_id)}`}>{text.seeWhy}</A>
    </Notice>
  );
}

/** What is done of the three, from what the control plane says. */
function createProgress(settings: QueryState<unknown>) {
  const hasSites = (): boolean =>
    ((settings.data() as { readonly sites?: unknown[] } | undefined)?.sites?.length ?? 0) > 0;
  /** What is asked besides waits for its turn behind the settings. */
  const isDue = createMemo(() => settings.data() !== undefined);
  const versions = createQuery('GET /api/config/versions', () => (isDue() ? { query: { limit: 5 } } : null), {
    everyMs: lookEveryMs,
  });
  // whenever it was: who attacked before this page was opened, or before naming an application, has seen one blocked
  const blocked = createQuery('GET /api/events', () => (isDue() ? { query: blockedNewest } : null), {
    everyMs: lookEveryMs,
  });
  const isInForce = (): boolean => hasSites() && versions.data()?.items[0]?.active === true;
  const first = (): Blocked | undefined => firstAttack(blocked.data()?.items ?? []);
  const isKnown = (): boolean =>
    settings.data() !== undefined && versions.data() !== undefined && blocked.data() !== undefined;
  /** Who has changed so much needs no first steps. */
  const isOld = (): boolean => hasSites() && (versions.data()?.items[0]?.id ?? 0) > newVersionsMax;
  const reload = (): void => {
    void settings.reload();
    void versions.reload();
  };
  return { hasSites, isInForce, first, isKnown, isOld, reload };
}

interface FirstStepsProps {
  readonly settings: QueryState<unknown>;
  readonly sites: Sites;
}

function Steps(props: FirstStepsProps & { readonly onAway: () => void }): JSX.Element {
  const { hasSites, isInForce, first, isKnown, isOld, reload } = createProgress(props.settings);
  const wasDone = (): boolean => isOld() || (isInForce() && first() !== undefined);
  const [isFresh, setFresh] = createSignal(false);
  const onDone = (): void => {
    setFresh(true); // who did the steps here sees the last of them as well
    reload();
  };
  return (
    <Show when={isFresh() || (isKnown() && !wasDone())}>
      <Card
        title={text.threeStepsStart}
        actions={
          <Button look="plain" isSmall onClick={props.onAway}>
            {text.putAway}
          </Button>
        }
      >
        <ol class="steps">
          <Step isDone={hasSites()} title={text.protectYourApplication} about={text.nameApplicationAbout}>
            <Show when={mayAs('admin')} fallback={<span class="faint">{text.adminsOnly}</span>}>
              <NameApplication onSaved={onDone} />
            </Show>
          </Step>
          <Step isDone={isInForce()} title={text.putInForce} about={text.putInForceAbout}>
            <Show when={hasSites() && mayAs('operator')}>
              <PutInForce onDone={onDone} />
            </Show>
          </Step>
          <Step isDone={first() !== undefined} isKept title={text.seeAttackBlocked} about={text.seeAttackAbout}>
            <FirstAttack blocked={first()} sites={props.sites} />
          </Step>
        </ol>
      </Card>
    </Show>
  );
}

export function FirstSteps(props: FirstStepsProps): JSX.Element {
  const [isAway, setAway] = createSignal(localStorage.getItem(kept) === 'away');
  const putAway = (): void => {
    localStorage.setItem(kept, 'away');
    setAway(true);
  };
  return (
    <Show when={!isAway()}>
      <Steps {...props} onAway={putAway} />
    </Show>
  );
}
