// The form of a dashboard: its title, and the parts in their order.
import { createSignal, Index, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { dashboardsText as text } from '../../texts/vm/models/dashboards.js';
import { plain } from '../vulnerabilities/words.js';
import type { Dashboard, Metric, Widget } from './widget.js';

const shapes = Object.entries(text.shapes) as readonly (readonly [Widget['shape'], string])[];
const partsMax = 24;

/** Something that fits the shape: the first way to split it, by time for a line. */
function fitting(of: Widget, metric: Metric | undefined): Widget {
  const ways = (metric?.by ?? []).filter((by) => of.shape !== 'line' || by.includes(':'));
  if (of.shape === 'number') return { ...of, by: null };
  return of.by != null && ways.includes(of.by) ? of : { ...of, by: ways[0] ?? null };
}

function Part(props: {
  readonly of: Widget;
  readonly at: number;
  readonly metrics: readonly Metric[];
  readonly onChange: (of: Widget) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  const metric = (): Metric | undefined => props.metrics.find(({ id }) => id === props.of.metric);
  const change = (what: Partial<Widget>): void => {
    const next = { ...props.of, ...what };
    props.onChange(
      fitting(
        next,
        props.metrics.find(({ id }) => id === next.metric),
      ),
    );
  };
  const ways = (): readonly (readonly [string, string])[] =>
    (metric()?.by ?? [])
      .filter((by) => props.of.shape !== 'line' || by.includes(':'))
      .map((by) => [by, plain(by.replace(':', ' '))] as const);
  return (
    <div class="row wrap" role="group" aria-label={text.part(props.at + 1)}>
      <SelectField
        label={text.metric}
        value={props.of.metric}
        options={props.metrics.map(({ id, title }) => [id, title] as const)}
        onChange={(id) => change({ metric: id })}
      />
      <SelectField label={text.shape} value={props.of.shape} options={shapes} onChange={(shape) => change({ shape })} />
      <Show when={props.of.shape !== 'number'}>
        <SelectField label={text.by} value={props.of.by ?? ''} options={ways()} onChange={(by) => change({ by })} />
      </Show>
      <TextField label={text.partTitle} value={props.of.title ?? ''} onInput={(title) => change({ title })} />
      <Switch label={text.wide} isOn={props.of.wide === true} onChange={(wide) => change({ wide })} />
      <Button isSmall aria-label={text.remove(props.at + 1)} onClick={props.onRemove}>
        ×
      </Button>
    </div>
  );
}

/** `of` null: a new one. */
export function Editor(props: {
  readonly of: Dashboard | null;
  readonly metrics: readonly Metric[];
  readonly onSaved: (id: string) => void;
}): JSX.Element {
  const [id, setId] = createSignal(props.of?.id ?? '');
  const [title, setTitle] = createSignal(props.of?.title ?? '');
  const [description, setDescription] = createSignal(props.of?.description ?? '');
  const [widgets, setWidgets] = createSignal<readonly Widget[]>(props.of?.widgets ?? []);
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = { title: title(), description: description(), widgets: [...widgets()] };
    const options = { params: { id: id() }, body, ifMatch: `"${props.of?.version ?? 0}"` };
    if (!(await action.run(() => call('PUT /api/v1/bi/dashboards/{id}', options)))) return;
    tell(text.saved);
    props.onSaved(id());
  };
  const add = (): void => {
    const [metric] = props.metrics;
    if (metric !== undefined) setWidgets((all) => [...all, { metric: metric.id, shape: 'number' }]);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Show when={props.of === null}>
        <TextField label={text.id} help={text.idHelp} value={id()} onInput={setId} isRequired />
      </Show>
      <TextField label={text.name} value={title()} onInput={setTitle} isRequired />
      <AreaField label={text.description} value={description()} onInput={setDescription} rows={2} />
      <fieldset class="stack">
        <legend>{text.parts}</legend>
        <Index each={widgets()}>
          {(widget, at) => (
            <Part
              of={widget()}
              at={at}
              metrics={props.metrics}
              onChange={(next) => setWidgets((all) => all.map((one, nth) => (nth === at ? next : one)))}
              onRemove={() => setWidgets((all) => all.filter((_, nth) => nth !== at))}
            />
          )}
        </Index>
        <Show when={widgets().length < partsMax}>
          <div>
            <Button isSmall onClick={add}>
              {text.add}
            </Button>
          </div>
        </Show>
      </fieldset>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button type="submit" look="primary" isBusy={action.isBusy()} disabled={id() === '' || title().trim() === ''}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
