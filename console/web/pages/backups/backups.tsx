// Backups: the last one, its age, the next, and what reading it back said.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Empty, Figure, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { WithCommands } from '../../kit/commands.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createVmAccess } from '../../client/vm-access.js';
import { backupsText as text } from '../../texts/vm/backups.js';
import { StoredBackups } from './stored.js';

const minuteS = 60;
const hourS = 3600;
const dayS = 86_400;
/** As much as the server keeps of one. */
const errorMax = 2000;

function age(seconds: number): string {
  if (seconds < minuteS) return text.justNow;
  if (seconds < hourS) return text.ago(text.minutes(Math.floor(seconds / minuteS)));
  return text.ago(seconds < 2 * dayS ? text.hours(Math.floor(seconds / hourS)) : text.days(Math.floor(seconds / dayS)));
}

const checkedText = (checked: 'complete' | 'bytes' | null): string =>
  checked === null ? text.notChecked : text[checked];
const tones = { running: 'neutral', made: 'good', failed: 'danger' } as const;
/** What reading the last good one back said; nothing where it is older than the list. */
const noteOf = (run: BackupRun | undefined): string => (run === undefined ? '' : checkedText(run.checked));

type BackupRun = Reply<'GET /api/backup'>['items'][number];
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function Runs(props: { readonly of: readonly BackupRun[] }): JSX.Element {
  return (
    <Card title={text.runs} isFlush>
      <Show when={props.of.length > 0} fallback={<Empty title={text.noRuns} />}>
        <div class="table-scroll">
          <table class="table" aria-label={text.runs}>
            <thead>
              <tr>
                <th>{text.when}</th>
                <th>{text.state}</th>
                <th>{text.file}</th>
                <th class="num">{text.size}</th>
                <th>{text.readBack}</th>
                <th>{text.who}</th>
              </tr>
            </thead>
            <tbody>
              <For each={props.of}>
                {(run) => (
                  <tr>
                    <td class="nums">{showMoment(run.started_at)}</td>
                    <td>
                      <Badge tone={tones[run.state]}>{text.states[run.state]}</Badge>
                    </td>
                    <td class="words">
                      <Foreign text={run.error ?? run.name ?? ''} max={errorMax} />
                    </td>
                    <td class="num">{run.bytes === null ? '' : megabytes(run.bytes)}</td>
                    <td>{run.state === 'made' ? checkedText(run.checked) : ''}</td>
                    <td>{run.actor ?? text.bySchedule}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </Card>
  );
}

function Figures(props: { readonly of: Reply<'GET /api/backup'> }): JSX.Element {
  const good = () => props.of.items.find(({ state }) => state === 'made');
  return (
    <div class="grid-3">
      <Figure
        label={text.last}
        value={props.of.age_seconds === null ? text.never : age(props.of.age_seconds ?? 0)}
        note={props.of.last_good_at === null ? '' : showMoment(props.of.last_good_at)}
      />
      <Figure label={text.readBack} value={noteOf(good()) || '–'} />
      <Figure
        label={text.next}
        value={props.of.every_hours === 0 ? text.noSchedule : text.every(props.of.every_hours)}
        note={props.of.next_at === null ? '' : showMoment(props.of.next_at)}
      />
    </div>
  );
}

export function Backups(): JSX.Element {
  const backups = createQuery('GET /api/backup', () => ({}), { everyMs: 15_000 });
  const action = createAction();
  const access = createVmAccess();
  const start = async (): Promise<void> => {
    if (!(await action.run(() => call('POST /api/backup/run')))) return;
    tell(text.started);
    await backups.reload();
  };
  return (
    <>
      <PageHead title={text.title} about={<WithCommands text={text.about} />} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Read of={backups}>
        {(data) => {
          /** A first backup that fails is not merely a missing one. */
          const isFailed = (): boolean => data().items[0]?.state === 'failed';
          return (
            <>
              <Show when={!data().can_run}>
                <Notice tone="warn">
                  <WithCommands text={text.cannot} />
                </Notice>
              </Show>
              <Show when={data().last_good_at === null && !data().is_running && !isFailed()}>
                <Notice tone="warn" title={text.none}>
                  {text.noneAbout}
                </Notice>
              </Show>
              <Show when={isFailed()}>
                <Notice tone="danger" title={text.lastFailed}>
                  <Foreign text={data().items[0]?.error ?? ''} max={errorMax} />
                </Notice>
              </Show>
              <Figures of={data()} />
              <Show when={mayAs('admin')}>
                <div class="row">
                  <Button
                    look="primary"
                    isBusy={action.isBusy() || data().is_running}
                    disabled={!data().can_run || data().is_running}
                    onClick={() => void start()}
                  >
                    {text.start}
                  </Button>
                  <A href="/admin/settings/retention#backup_every_hours">
                    {data().every_hours === 0 ? text.setSchedule : text.schedule}
                  </A>
                </div>
              </Show>
              <Show when={data().can_run && access.may('manage_backups')}>
                <StoredBackups />
              </Show>
              <Runs of={data().items} />
            </>
          );
        }}
      </Read>
    </>
  );
}
