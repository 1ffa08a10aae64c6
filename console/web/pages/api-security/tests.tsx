// Tests of access: begun on a target, watched, stopped, and read as a matrix.
import { createEffect, createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { apiSecurityText as text } from '../../texts/vm/sources/api-security.js';
import { plain } from '../vulnerabilities/words.js';

type Run = Item<'GET /api/v1/api-security/tests'>;
const refreshMs = 1500;
const tones = { broken: 'danger', holds: 'good', unknown: 'warn', not_tried: 'info' } as const;

const columns: readonly TableColumn<Run>[] = [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  {
    title: text.target,
    cell: ({ input }) => <Foreign text={String((input as { url?: string }).url ?? '')} max={120} />,
  },
  { title: text.state, cell: ({ status }) => plain(status) },
  { title: text.broken, isNumber: true, cell: ({ result }) => (result as { broken?: number }).broken ?? 0 },
];

function Matrix(props: { readonly id: string; readonly mayRun: boolean; readonly onChanged: () => void }): JSX.Element {
  const test = createQuery('GET /api/v1/api-security/tests/{id}', () => ({ params: { id: props.id } }));
  const action = createAction();
  const isOpen = (): boolean => test.data()?.status === 'running';
  createEffect(() => {
    if (!isOpen()) return;
    const timer = setInterval(test.reload, refreshMs);
    onCleanup(() => clearInterval(timer));
  });
  const stop = () =>
    action.run(async () => {
      await call('POST /api/v1/api-security/tests/{id}/cancel', { params: { id: props.id } });
      props.onChanged();
    });
  return (
    <Read of={test}>
      {(one) => (
        <div class="stack">
          <Show when={one().error}>{(error) => <Foreign text={error()} max={500} />}</Show>
          <Show when={isOpen() && props.mayRun}>
            <div>
              <Button onClick={() => void stop()}>{text.stop}</Button>
            </div>
          </Show>
          <For each={one().rows}>
            {(row) => (
              <details>
                <summary>
                  <Badge tone={tones[row.verdict]}>{text.verdicts[row.verdict]}</Badge>{' '}
                  <Foreign text={`${row.method} ${row.template}`} max={160} />{' '}
                  {row.cells.map(({ who, status }) => `${text.who[who]} ${status ?? '–'}`).join(', ')}
                </summary>
                <Foreign text={row.why} max={600} />
                <For each={row.steps}>
                  {(step) => <Foreign text={`${step.purpose}: ${step.request} → ${step.status ?? '–'}`} max={400} />}
                </For>
              </details>
            )}
          </For>
        </div>
      )}
    </Read>
  );
}

export function Tests(props: { readonly mayRun: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/api-security/tests', () => ({}));
  const targets = createQuery('GET /api/v1/targets', () => ({ query: { limit: 500, sort: 'url' as const } }));
  const [target, setTarget] = createSignal('');
  const [roles, setRoles] = createSignal('no');
  const [chosen, choose] = createChosen('test');
  const action = createAction();
  const start = () =>
    action.run(async () => {
      const body = { target_id: target(), first_is_privileged: roles() === 'yes' };
      const { id } = await call('POST /api/v1/api-security/tests', { body });
      tell(text.begun(id));
      list.reload();
      choose(id);
    });
  return (
    <>
      <Show when={props.mayRun}>
        <Card title={text.newTest}>
          <div class="stack">
            <p class="muted">{text.testsAbout}</p>
            <div class="grid-2">
              <SelectField
                label={text.target}
                value={target()}
                options={[
                  ['', text.chooseTarget],
                  ...(targets.data()?.items ?? []).map(({ id, url }) => [id, url ?? id] as const),
                ]}
                onChange={setTarget}
              />
              <SelectField
                label={text.privileged}
                value={roles()}
                options={[
                  ['no', text.no],
                  ['yes', text.yes],
                ]}
                onChange={setRoles}
              />
            </div>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <div>
              <Button look="primary" isBusy={action.isBusy()} disabled={target() === ''} onClick={() => void start()}>
                {text.start}
              </Button>
            </div>
          </div>
        </Card>
      </Show>
      <ListCard
        label={text.tests}
        title={text.tests}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noTests}
        emptyAbout={text.noTestsAbout}
      />
      <Overlay isOpen={chosen() !== null} look="wide" title={text.test(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Matrix id={id} mayRun={props.mayRun} onChanged={list.reload} />}
        </Show>
      </Overlay>
    </>
  );
}
