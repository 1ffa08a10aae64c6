// One scan: its progress, what it covered, what it found. Read again while it runs.
import { createEffect, For, onCleanup, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';
import { createPagedList, type PagedList } from '../../../client/pages.js';
import { createQuery } from '../../../client/query.js';
import type { VmAccess } from '../../../client/vm-access.js';
import { Button, Foreign, Loading, Notice, Pairs } from '../../../kit/basics.js';
import { tell } from '../../../kit/overlays.js';
import { Read, Unread } from '../../../kit/page-state.js';
import { activeText as text } from '../../../texts/vm/sources/active-scans.js';
import { FoundCard } from './found-card.js';
import { ScanMore } from './scan-more.js';
import { countOf, inputOf, isOpen, notesOf, resultOf, type ActiveScan, type Found } from './scan-result.js';

const refreshMs = 1000;

function Covered(props: { readonly of: ActiveScan }): JSX.Element {
  const checks = () => Object.entries(resultOf(props.of).checks ?? {});
  const leftOut = () => resultOf(props.of).left_out ?? [];
  return (
    <details>
      <summary>{text.covered}</summary>
      <Show when={checks().length > 0} fallback={<p class="muted">{text.coveredNone}</p>}>
        <p class="muted">{text.coveredAbout}</p>
        <ul class="code">
          <For each={checks()}>{([id, places]) => <li>{`${id}: ${showCount(places)}`}</li>}</For>
        </ul>
      </Show>
      <Show when={leftOut().length > 0}>
        <h3>{text.leftOut}</h3>
        <ul class="code">
          <For each={leftOut()}>
            {({ url, reason }) => (
              <li>
                <Foreign text={`${reason ?? ''}: ${url ?? ''}`} max={300} />
              </li>
            )}
          </For>
        </ul>
      </Show>
    </details>
  );
}

function Progress(props: { readonly of: ActiveScan }): JSX.Element {
  const result = () => resultOf(props.of);
  const phase = (): string => text.phases[result().phase ?? 'login'];
  return (
    <>
      <progress class="full" max="100" value={props.of.progress} aria-label={text.progress} />
      <Pairs
        of={[
          [text.target, <Foreign text={inputOf(props.of).url ?? '–'} max={300} />],
          [text.profile, inputOf(props.of).profile ?? '–'],
          [text.progress, `${props.of.progress} %`],
          [text.phase, phase()],
          [text.requests, countOf(result().requests)],
          [text.perSecond, countOf(result().requests_per_second)],
          [text.pages, countOf(result().pages)],
          [text.inBrowser, countOf(result().browser?.pages)],
          [text.forms, `${countOf(result().forms_done)} / ${countOf(result().forms)}`],
          [text.seconds, countOf(result().seconds)],
          [text.slowed, countOf(result().slowed)],
        ]}
      />
    </>
  );
}

/** That nothing was found counts only for what was looked at. */
function nothingFound(scan: ActiveScan): string {
  if (isOpen(scan)) return text.noFindingsYet;
  return Object.keys(resultOf(scan).checks ?? {}).length === 0 ? text.noCheckEnded : text.noFindings;
}

function FoundList(props: {
  readonly scan: ActiveScan;
  readonly of: PagedList<Found>;
  readonly access: VmAccess;
}): JSX.Element {
  return (
    <Show when={props.access.may('view_findings')} fallback={<p>{text.findingsHidden}</p>}>
      <Show when={props.of.problem()}>{(found) => <Unread problem={found().message} retry={props.of.reload} />}</Show>
      <Show when={props.of.isAnswered()} fallback={props.of.problem() === null ? <Loading /> : null}>
        <For each={props.of.items()} fallback={<p>{nothingFound(props.scan)}</p>}>
          {(row) => (
            <FoundCard
              scan={props.scan.id}
              of={row}
              mayRun={props.access.may('run_scans')}
              mayPatch={props.access.may('apply_vpatch')}
              onProved={props.of.reload}
            />
          )}
        </For>
        <Show when={props.of.hasMore()}>
          <div>
            <Button isBusy={props.of.isLoading()} onClick={props.of.readMore}>
              {text.moreFindings}
            </Button>
          </div>
        </Show>
      </Show>
    </Show>
  );
}

export function ScanView(props: {
  readonly id: string;
  readonly access: VmAccess;
  readonly onChanged: () => void;
  readonly onRemoved: () => void;
}): JSX.Element {
  const { id } = props;
  const scan = createQuery('GET /api/v1/scans/{id}', () => ({ params: { id } }));
  const mayRead = (): boolean => props.access.may('view_findings');
  const found = createPagedList('GET /api/v1/scans/{id}/findings', () => (mayRead() ? {} : null), 100, { id });
  const action = createAction();
  createEffect(() => {
    const now = scan.data();
    scan.problem(); // what could not be read is asked for again, too
    if (now === undefined || !isOpen(now)) return;
    const timer = setTimeout(() => void scan.reload(), refreshMs);
    onCleanup(() => clearTimeout(timer));
  });
  createEffect((before: string) => {
    const now = scan.data();
    if (now === undefined) return before;
    const mark = `${now.status} ${resultOf(now).findings ?? 0}`;
    if (before !== '' && before !== mark) {
      found.reload();
      props.onChanged();
    }
    return mark;
  }, '');
  const stop = async (): Promise<void> => {
    if (await action.run(() => call('POST /api/v1/scans/{id}/cancel', { params: { id } }))) tell(text.stopped);
    await scan.reload();
  };
  return (
    <Read of={scan}>
      {(one) => (
        <div class="stack">
          <Show when={one().error}>
            {(error) => (
              <Notice tone="warn">
                <Foreign text={error()} max={500} />
              </Notice>
            )}
          </Show>
          <For each={notesOf(one())}>
            {(note) => (
              <Notice tone="warn">
                <Foreign text={note} max={500} />
              </Notice>
            )}
          </For>
          <Progress of={one()} />
          <Show when={action.problem()}>{(problem) => <Notice tone="danger">{problem()}</Notice>}</Show>
          <Show when={isOpen(one()) && props.access.may('run_scans')}>
            <div>
              <Button look="danger" isBusy={action.isBusy()} onClick={() => void stop()}>
                {text.stop}
              </Button>
            </div>
          </Show>
          <Covered of={one()} />
          <ScanMore
            of={one()}
            mayRun={props.access.may('run_scans')}
            mayCompare={mayRead()}
            onRemoved={props.onRemoved}
          />
          <h3>{text.findings}</h3>
          <FoundList scan={one()} of={found} access={props.access} />
        </div>
      )}
    </Read>
  );
}
