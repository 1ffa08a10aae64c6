// What is left of a scan: its log, what it covered of what is known, and another scan of the same target beside it.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { SelectField } from '../../../kit/form.js';
import { Confirm, tell } from '../../../kit/overlays.js';
import { Read } from '../../../kit/page-state.js';
import { activeText } from '../../../texts/vm/sources/active-scans.js';
import { inputOf, isOpen, type ActiveScan } from './scan-result.js';

const text = activeText.more;
const scansMax = 50;
type Compared = Reply<'GET /api/v1/scans/compare'>;

function Log(props: { readonly id: string }): JSX.Element {
  const log = createQuery('GET /api/v1/scans/{id}/log', () => ({ params: { id: props.id } }));
  return (
    <Read of={log}>
      {(answer) => (
        <ul class="code">
          <For each={answer().items} fallback={<li>{text.noLines}</li>}>
            {({ at, text: line }) => (
              <li>
                <Foreign text={`${showMoment(at)} ${line}`} max={400} />
              </li>
            )}
          </For>
        </ul>
      )}
    </Read>
  );
}

function Inventory(props: { readonly id: string }): JSX.Element {
  const coverage = createQuery('GET /api/v1/scans/{id}/coverage', () => ({ params: { id: props.id } }));
  return (
    <Read of={coverage}>
      {(answer) => (
        <Show when={answer().inventory.percent !== null} fallback={<p>{text.noInventory}</p>}>
          <p>{text.inventory(answer().inventory.covered, answer().inventory.known)}</p>
          <ul class="code">
            <For each={answer().inventory.missing}>
              {(one) => (
                <li>
                  <Foreign text={one} max={300} />
                </li>
              )}
            </For>
          </ul>
        </Show>
      )}
    </Read>
  );
}

function Places(props: { readonly title: string; readonly of: Compared['new'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <h4>{`${props.title}: ${props.of.length}`}</h4>
      <ul class="code">
        <For each={props.of}>
          {({ check, method, url, param }) => (
            <li>
              <Foreign text={`${check}: ${method} ${url}${param === null ? '' : ` [${param}]`}`} max={400} />
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

/** What is new is of the scan that is shown, whichever is the later one. */
function Compare(props: { readonly of: ActiveScan }): JSX.Element {
  const others = createQuery('GET /api/v1/scans', () => ({
    query: { limit: scansMax, target_id: inputOf(props.of).target_id ?? '' },
  }));
  const [before, setBefore] = createSignal('');
  const compared = createQuery('GET /api/v1/scans/compare', () =>
    before() === '' ? null : { query: { a: before(), b: props.of.id } },
  );
  return (
    <>
      <SelectField
        label={text.before}
        value={before()}
        options={[
          ['', text.choose],
          ...(others.data()?.items ?? [])
            .filter(({ id }) => id !== props.of.id)
            .map((one) => [one.id, `${one.id}, ${inputOf(one).profile ?? ''}, ${showMoment(one.created_at)}`] as const),
        ]}
        from={others}
        onChange={setBefore}
      />
      <Show when={before() !== ''}>
        <Read of={compared}>
          {(answer) => (
            <>
              <Places title={text.isNew} of={answer().new} />
              <Places title={text.fixed} of={answer().fixed} />
              <Places title={text.notLookedAt} of={answer().not_looked_at} />
              <Places title={text.same} of={answer().same} />
            </>
          )}
        </Read>
      </Show>
    </>
  );
}

function Removal(props: { readonly id: string; readonly onRemoved: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/scans/{id}', { params: { id: props.id } })))) return;
    tell(text.deleted);
    props.onRemoved();
  };
  return (
    <div>
      <Button onClick={() => setAsking(true)}>{text.remove}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.removeTitle}
        action={text.remove}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>{text.removeAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </div>
  );
}

function Folded(props: { readonly title: string; readonly children: JSX.Element }): JSX.Element {
  const [isOpened, setOpened] = createSignal(false);
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{props.title}</summary>
      <Show when={isOpened()}>{props.children}</Show>
    </details>
  );
}

export function ScanMore(props: {
  readonly of: ActiveScan;
  readonly mayRun: boolean;
  readonly mayCompare: boolean;
  readonly onRemoved: () => void;
}): JSX.Element {
  return (
    <>
      <Folded title={text.log}>
        <Log id={props.of.id} />
      </Folded>
      <Folded title={text.known}>
        <Inventory id={props.of.id} />
      </Folded>
      <Show when={props.mayCompare}>
        <Folded title={text.compare}>
          <Compare of={props.of} />
        </Folded>
      </Show>
      <Show when={props.mayRun && !isOpen(props.of)}>
        <Removal id={props.of.id} onRemoved={props.onRemoved} />
      </Show>
    </>
  );
}
