// From saved to in force: what differs, what it would have done, then the apply; below, every version with its diff
// and the way back.
import { createEffect, createSignal, For, on, Show, type JSX } from 'solid-js';
import { call, Refused, written, type Diagnostic, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { Confirm, tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { DiffLines } from './diff-lines.js';
import { ImpactView } from './impact.js';
import { RolloutButton } from './rollout-dialog.js';
import { changesText as text } from '../../texts/changes.js';

type Version = Item<'GET /api/config/versions'>;
type Applied = Reply<'POST /api/apply'>;

function Diagnostics(props: { readonly of: readonly Diagnostic[] }): JSX.Element {
  return (
    <For each={props.of}>
      {(one) => (
        <Notice tone={one.severity === 'error' ? 'danger' : 'warn'} title={one.message}>
          <span class="small mono">
            {one.path ?? ''} {one.code}
          </span>
          <span>{one.hint}</span>
        </Notice>
      )}
    </For>
  );
}

function NodeResults(props: { readonly applied: Applied }): JSX.Element {
  return (
    <ul class="stack tight">
      <For each={props.applied.nodes}>
        {(node) => (
          <li class="row">
            <Badge tone={node.state === 'active' ? 'good' : 'warn'}>{node.state}</Badge>
            <code>{node.url}</code> <span class="faint small">{node.detail}</span>
          </li>
        )}
      </For>
    </ul>
  );
}

/** The version that waits, and the two buttons that matter. */
function Waiting(props: { readonly head: Version; readonly active: number | null }): JSX.Element {
  const [step, setStep] = createSignal<'check' | 'apply' | null>(null);
  const [checked, setChecked] = createSignal<Applied | null>(null);
  const [done, setDone] = createSignal<Applied | null>(null);
  const [refused, setRefused] = createSignal<Refused | null>(null);
  const diff = createQuery('GET /api/config/diff', () =>
    props.active === null ? null : { query: { from: props.active, to: props.head.id } },
  );
  const run = async (kind: 'check' | 'apply'): Promise<void> => {
    setStep(kind);
    setRefused(null);
    try {
      const query = kind === 'check' ? { dry_run: true } : {};
      const reply = await call('POST /api/apply', { query });
      if (kind === 'check') setChecked(reply);
      else {
        setDone(reply);
        tell(text.versionForceTookS(reply.version, (reply.took_ms / 1000).toFixed(1)));
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setRefused(error);
    } finally {
      setStep(null);
    }
  };
  return (
    <Card
      title={text.versionSavedNotForce(props.head.id)}
      actions={
        <Show when={mayAs('operator')}>
          <Button isBusy={step() === 'check'} disabled={step() !== null} onClick={() => void run('check')}>
            {text.tryAgainstRecordedTraffic}
          </Button>
          <RolloutButton isDisabled={step() !== null} />
          <Button
            look="primary"
            isBusy={step() === 'apply'}
            disabled={step() !== null}
            onClick={() => void run('apply')}
          >
            {text.apply}
          </Button>
        </Show>
      }
    >
      <div class="stack">
        <Show when={step() !== null}>
          <p class="muted" role="status">
            {text.whatIsInForceOf(step() === 'apply' ? text.compilingThenOneNode : text.compilingThenReplaying)}
          </p>
        </Show>
        <Show when={refused()}>
          {(error) => (
            <>
              <Notice tone="danger" title={text.nothingWasChanged}>
                {error().message}
              </Notice>
              <Diagnostics of={error().diagnostics} />
            </>
          )}
        </Show>
        <Show when={done()}>{(reply) => <NodeResults applied={reply()} />}</Show>
        <Show when={checked()}>{(reply) => <ImpactView applied={reply()} />}</Show>
        <DiffLines changes={diff.data()?.changes ?? []} />
      </div>
    </Card>
  );
}

function VersionTable(props: {
  readonly of: TableSource<Version>;
  readonly onRestore: (version: Version) => void;
}): JSX.Element {
  const [opened, setOpened] = createSignal<readonly number[]>([]);
  const isOpen = ({ id }: Version): boolean => opened().includes(id);
  const toggle = ({ id }: Version): void =>
    void setOpened((all) => (all.includes(id) ? all.filter((one) => one !== id) : [...all, id]));
  const columns: readonly TableColumn<Version>[] = [
    { title: text.version, isNumber: true, sortBy: ({ id }) => id, cell: ({ id }) => id },
    { title: text.when, class: 'nums', cell: ({ at }) => showMoment(at) },
    { title: text.who, sortBy: ({ author }) => author, cell: ({ author }) => <Foreign text={author} max={80} /> },
    {
      title: text.what,
      cell: (version) => (
        <>
          <Foreign text={version.summary} max={300} />{' '}
          <Show when={version.active}>
            <Badge tone="good">{text.force}</Badge>
          </Show>
        </>
      ),
    },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (version) => (
        <div class="row">
          <Button isSmall aria-expanded={isOpen(version)} onClick={() => toggle(version)}>
            {text.diff}
          </Button>
          <Show when={mayAs('admin') && !version.active}>
            <Button isSmall onClick={() => props.onRestore(version)}>
              {text.bringBack}
            </Button>
          </Show>
        </div>
      ),
    },
  ];
  return (
    <Table
      label={text.versions}
      columns={columns}
      of={props.of}
      keyOf={({ id }) => String(id)}
      empty={text.thereAreNoVersions}
      below={(version) => (isOpen(version) ? <DiffLines changes={version.changes} /> : null)}
    />
  );
}

export function Changes(): JSX.Element {
  const versions = createPagedList('GET /api/config/versions', () => ({}), 50);
  const head = (): Version | undefined => versions.items().find((one) => one.head);
  const active = (): Version | undefined => versions.items().find((one) => one.active);
  createEffect(on(written, versions.reload, { defer: true }));
  const [restoring, setRestoring] = createSignal<Version | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const restore = async (version: number): Promise<void> => {
    setBusy(true);
    try {
      await call('POST /api/config/rollback', { body: { version, apply: true } });
      tell(text.settingsVersionAreForce(version));
      setRestoring(null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PageHead title={text.changes} about={text.settingsAreSavedAs} />
      <Show
        when={head()?.active === false ? head() : undefined}
        fallback={
          <Show when={versions.items().length > 0}>
            <Notice tone="good" title={text.everythingSavedForce} />
          </Show>
        }
      >
        {(one) => <Waiting head={one()} active={active()?.id ?? null} />}
      </Show>
      <Card title={text.versions} isFlush>
        <VersionTable of={ofPages(versions)} onRestore={setRestoring} />
      </Card>
      <Confirm
        isOpen={restoring() !== null}
        title={text.bringBackVersion(restoring()?.id ?? '')}
        action={text.bringBackApply}
        isBusy={isBusy()}
        onConfirm={() => void restore(restoring()?.id ?? 0)}
        onClose={() => setRestoring(null)}
      >
        <p>{text.itsSettingsBecomeNew}</p>
      </Confirm>
    </>
  );
}
