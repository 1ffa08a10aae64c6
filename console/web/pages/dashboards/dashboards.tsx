// Dashboards: the chosen one drawn, and the form that changes it.
import { useSearchParams } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Empty, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { dashboardsText as text } from '../../texts/vm/models/dashboards.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Editor } from './editor.js';
import { WidgetCard, type Dashboard, type Metric } from './widget.js';

function Drawn(props: { readonly of: Dashboard; readonly metrics: readonly Metric[] }): JSX.Element {
  const applications = createApplications();
  const metricOf = (id: string): Metric | undefined => props.metrics.find((one) => one.id === id);
  return (
    <div class="stack">
      <Show when={props.of.description !== ''}>
        <p class="muted">
          <Foreign text={props.of.description} max={2000} />
        </p>
      </Show>
      <Show when={props.of.widgets.length > 0} fallback={<Empty title={text.empty} />}>
        <div class="dashboard">
          <For each={props.of.widgets}>
            {(widget) => (
              <Show when={metricOf(widget.metric)}>
                {(metric) => <WidgetCard of={widget} metric={metric()} applications={applications} />}
              </Show>
            )}
          </For>
        </div>
      </Show>
    </div>
  );
}

function Removal(props: { readonly id: string; readonly onRemoved: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/bi/dashboards/{id}', { params: { id: props.id } })))) return;
    setAsking(false);
    tell(text.deleted);
    props.onRemoved();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.delete}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.deleteTitle}
        action={text.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>{text.deleteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}

export function Dashboards(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const all = createQuery('GET /api/v1/bi/dashboards');
  const [editing, setEditing] = createSignal<'chosen' | 'new' | null>(null);
  const chosen = (): Dashboard | undefined => {
    const items = all.data()?.items ?? [];
    return items.find(({ id }) => id === search['dashboard']) ?? items[0];
  };
  const metrics = (): readonly Metric[] => all.data()?.metrics ?? [];
  const saved = (id: string): void => {
    setEditing(null);
    void all.reload().then(() => setSearch({ dashboard: id }));
  };
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Show when={access.may('build_reports')}>
          <Button onClick={() => setEditing('chosen')}>{text.change}</Button>
          <Button look="primary" icon="plus" onClick={() => setEditing('new')}>
            {text.another}
          </Button>
          <Show when={(chosen()?.version ?? 0) > 0 && chosen()}>
            {(of) => <Removal id={of().id} onRemoved={() => void all.reload()} />}
          </Show>
        </Show>
      </PageHead>
      <Read of={all}>
        {(data) => (
          <>
            <div class="narrow-grid">
              <SelectField
                label={text.dashboard}
                value={chosen()?.id ?? ''}
                options={data().items.map(({ id, title }) => [id, title] as const)}
                onChange={(id) => setSearch({ dashboard: id })}
              />
            </div>
            <Show when={chosen()}>{(of) => <Drawn of={of()} metrics={metrics()} />}</Show>
          </>
        )}
      </Read>
      <Overlay isOpen={editing() !== null} look="wide" title={text.dashboard} onClose={() => setEditing(null)}>
        <Show when={editing()} keyed>
          {(which) => <Editor of={which === 'new' ? null : (chosen() ?? null)} metrics={metrics()} onSaved={saved} />}
        </Show>
      </Overlay>
    </>
  );
}
