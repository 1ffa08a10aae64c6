// Scans of running applications: begun in three clicks, watched while they run, stopped one by one or all at once.
import { createEffect, onCleanup, Show, type JSX } from 'solid-js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { createQuery } from '../../../client/query.js';
import type { VmAccess } from '../../../client/vm-access.js';
import { Badge, Foreign, type Tone } from '../../../kit/basics.js';
import { Overlay } from '../../../kit/overlays.js';
import { createChosen, ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { activeText as text } from '../../../texts/vm/sources/active-scans.js';
import { plain } from '../../vulnerabilities/words.js';
import { Halt } from './halt.js';
import { NewScan } from './new-scan.js';
import { countOf, inputOf, isOpen, resultOf, type ActiveScan } from './scan-result.js';
import { ScanView } from './scan-view.js';

const tones: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'danger', running: 'info', queued: 'info' };
const refreshMs = 2000;

const columns: readonly TableColumn<ActiveScan>[] = [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.target, cell: (one) => <Foreign text={inputOf(one).url ?? '–'} max={120} /> },
  { title: text.profile, cell: (one) => inputOf(one).profile ?? '–' },
  { title: text.state, cell: ({ status }) => <Badge tone={tones[status] ?? 'warn'}>{plain(status)}</Badge> },
  { title: text.progress, isNumber: true, cell: ({ progress }) => `${progress} %` },
  { title: text.requests, isNumber: true, cell: (one) => countOf(resultOf(one).requests) },
  { title: text.found, isNumber: true, cell: (one) => countOf(resultOf(one).findings) },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={60} /> },
];

export function ActiveScans(props: { readonly access: VmAccess }): JSX.Element {
  const list = createPagedList('GET /api/v1/scans', () => ({}));
  const halt = createQuery('GET /api/v1/scan-switch');
  const [chosen, choose] = createChosen('scan');
  const mayRun = (): boolean => props.access.may('run_scans');
  createEffect(() => {
    if (!list.items().some(isOpen)) return;
    const timer = setTimeout(list.reload, refreshMs);
    onCleanup(() => clearTimeout(timer));
  });
  return (
    <>
      <p class="muted">{text.about}</p>
      <Halt
        of={halt}
        mayPress={mayRun()}
        onPressed={() => {
          void halt.reload();
          list.reload();
        }}
      />
      <Show when={mayRun() && halt.data()?.halted === false}>
        <NewScan
          mayAdd={props.access.may('edit_assets')}
          onStarted={(id) => {
            list.reload();
            choose(id);
          }}
        />
      </Show>
      <ListCard
        label={text.scans}
        title={text.scans}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={mayRun() ? text.noneAbout : text.noneViewer}
      />
      <Overlay isOpen={chosen() !== null} look="wide" title={text.scanOf(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => (
            <ScanView
              id={id}
              access={props.access}
              onChanged={list.reload}
              onRemoved={() => {
                choose(null);
                list.reload();
              }}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}
