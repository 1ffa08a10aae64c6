// Packs of evidence: built for a period, downloaded, and verified from their bytes on.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, type Body, type Item, type Reply } from '../../client/http.js';
import { showBytes, showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery, ofRows } from '../../kit/table/table-source.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';
import { Checks } from './checks.js';
import { createSections, Sections } from './sections.js';
import { createApplications } from '../vulnerabilities/words.js';

type Pack = Item<'GET /api/v1/evidence'>;
type PackItem = Pack['items'][number];
type Verified = Reply<'POST /api/v1/evidence/{id}/verify'>;

const tones = { building: 'info', ready: 'good', failed: 'danger' } as const;
const everyMs = 10_000;
/** As many as there can be, and as one answer holds. */
const packsMax = 500;
const dayMs = 86_400_000;
const quarterDays = 90;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function BuildForm(props: { readonly onBegun: (id: string) => void }): JSX.Element {
  const applications = createApplications();
  const frameworks = createQuery('GET /api/v1/compliance/frameworks');
  const [title, setTitle] = createSignal('');
  const [framework, setFramework] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [from, setFrom] = createSignal(dayOf(Date.now() - quarterDays * dayMs));
  const [to, setTo] = createSignal(dayOf(Date.now() + dayMs));
  const [keep, setKeep] = createSignal('365');
  const sections = createSections(() => application() !== '');
  const action = createAction();
  const build = async (): Promise<void> => {
    const chosen = sections.chosen();
    const body: Body<'POST /api/v1/evidence'> = {
      period: { from: `${from()}T00:00:00Z`, to: `${to()}T00:00:00Z` },
      keep_days: Number(keep()),
      ...(chosen === null ? {} : { sections: chosen }),
      ...(title().trim() === '' ? {} : { title: title().trim() }),
      ...(framework() === '' ? {} : { framework: framework() }),
      ...(application() === '' ? {} : { scope: { application_id: application() } }),
    };
    let begun = '';
    if (!(await action.run(async () => void (begun = (await call('POST /api/v1/evidence', { body })).id)))) return;
    tell(text.building);
    props.onBegun(begun);
  };
  return (
    <Card title={text.build}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="grid-3">
          <TextField label={text.packTitle} value={title()} onInput={setTitle} />
          <SelectField
            label={text.framework}
            value={framework()}
            options={[
              ['', text.anyFramework] as const,
              ...(frameworks.data()?.items ?? []).map((one) => [one.id, `${one.name} ${one.version}`] as const),
            ]}
            onChange={setFramework}
          />
          <SelectField
            label={text.application}
            value={application()}
            options={applications.options(text.organisation)}
            onChange={setApplication}
          />
          <TextField label={text.from} type="date" value={from()} onInput={setFrom} isRequired />
          <TextField label={text.to} type="date" value={to()} onInput={setTo} isRequired />
          <TextField label={text.keep} type="number" value={keep()} onInput={setKeep} isRequired />
        </div>
        <Sections of={sections} />
        <div class="row">
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void build()}>
            {text.build}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const State = (props: { readonly of: Pack }): JSX.Element => (
  <span class="row wrap">
    <Badge tone={tones[props.of.state]}>{text.states[props.of.state]}</Badge>
    <Show when={props.of.hold}>
      <Badge>{text.held}</Badge>
    </Show>
  </span>
);

const columns: readonly TableColumn<Pack>[] = [
  { title: text.packTitle, cell: ({ title }) => <Foreign text={title} max={120} /> },
  { title: text.framework, isMinor: true, cell: ({ framework }) => framework ?? '–' },
  {
    title: text.period,
    class: 'nums',
    cell: ({ period: { from, to } }) => text.periodOf(from.slice(0, 10), to.slice(0, 10)),
  },
  { title: text.state, cell: (one) => <State of={one} /> },
  { title: text.size, isNumber: true, isMinor: true, cell: ({ bytes }) => (bytes === null ? '' : showBytes(bytes)) },
  { title: text.keptUntil, class: 'nums', isMinor: true, cell: ({ keep_until: until }) => until.slice(0, 10) },
];

const itemColumns: readonly TableColumn<PackItem>[] = [
  { title: text.path, class: 'mono', cell: ({ path }) => <Foreign text={path} max={120} /> },
  { title: text.source, cell: ({ source }) => <Foreign text={source} max={80} /> },
  { title: text.collected, class: 'nums', isMinor: true, cell: ({ collected_at: at }) => showMoment(at) },
  {
    title: text.rows,
    isNumber: true,
    cell: ({ rows, cut }) => (
      <>
        {rows === null ? '' : showCount(rows)} <Show when={cut}>{text.cut}</Show>
      </>
    ),
  },
  { title: text.controls, isNumber: true, isMinor: true, cell: ({ controls }) => showCount(controls.length) },
];

/** A pack that failed, or whose time is over. */
const isOver = (of: Pack): boolean => of.state === 'failed' || (!of.hold && Date.parse(of.keep_until) <= Date.now());

function Opened(props: { readonly of: Pack; readonly mayBuild: boolean; readonly onChanged: () => void }): JSX.Element {
  const action = createAction();
  const [verified, setVerified] = createSignal<Verified | null>(null);
  const params = () => ({ id: props.of.id });
  const verify = (): Promise<boolean> =>
    action.run(async () => void setVerified(await call('POST /api/v1/evidence/{id}/verify', { params: params() })));
  const hold = async (): Promise<void> => {
    const body = { hold: !props.of.hold };
    if (await action.run(() => call('PATCH /api/v1/evidence/{id}', { params: params(), body }))) props.onChanged();
  };
  const remove = async (): Promise<void> => {
    if (await action.run(() => call('DELETE /api/v1/evidence/{id}', { params: params() }))) props.onChanged();
  };
  return (
    <div class="stack">
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={props.of.error}>{(error) => <Notice tone="danger">{error()}</Notice>}</Show>
      <Show when={props.of.state === 'ready'}>
        <div class="row wrap">
          <a
            class="button primary"
            href={linkTo('GET /api/v1/evidence/{id}/download', undefined, params())}
            download=""
          >
            {text.download}
          </a>
          <Button isBusy={action.isBusy()} onClick={() => void verify()}>
            {text.verify}
          </Button>
          <Show when={props.mayBuild}>
            <Button onClick={() => void hold()}>{props.of.hold ? text.endHold : text.hold}</Button>
          </Show>
        </div>
      </Show>
      <Show when={props.mayBuild && isOver(props.of)}>
        <div class="row">
          <Button onClick={() => void remove()}>{text.remove}</Button>
        </div>
      </Show>
      <Show when={verified()}>{(found) => <Checks of={found()} />}</Show>
      <Pairs
        of={[
          [text.state, <State of={props.of} />],
          [text.period, text.periodOf(props.of.period.from.slice(0, 10), props.of.period.to.slice(0, 10))],
          [text.framework, props.of.framework ?? '–'],
          [text.by, <Foreign text={props.of.created_by} max={100} />],
          [text.keptUntil, showMoment(props.of.keep_until)],
          [text.key, <span class="mono">{props.of.key_id ?? '–'}</span>],
          [text.root, <span class="mono words">{props.of.root ?? '–'}</span>],
        ]}
      />
      <Card isFlush title={text.items}>
        <Table
          label={text.items}
          columns={itemColumns}
          of={ofRows(() => props.of.items)}
          keyOf={({ path }) => path}
          empty={text.noItems}
        />
      </Card>
    </div>
  );
}

export function Packs(props: { readonly mayBuild: boolean }): JSX.Element {
  const packs = createQuery('GET /api/v1/evidence', () => ({ query: { limit: packsMax } }), { everyMs });
  const [chosen, choose] = createChosen('pack');
  const opened = (): Pack | undefined => packs.data()?.items.find(({ id }) => id === chosen());
  const changed = (): void => void packs.reload();
  return (
    <>
      <Show when={props.mayBuild}>
        <BuildForm
          onBegun={(id) => {
            changed();
            choose(id);
          }}
        />
      </Show>
      <Card isFlush title={text.view.packs}>
        <Table
          label={text.view.packs}
          columns={columns}
          of={ofQuery(packs, ({ items }) => items)}
          keyOf={({ id }) => id}
          chosen={chosen()}
          onOpen={({ id }) => choose(id)}
          empty={text.none}
        />
      </Card>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={opened()?.title ?? ''} onClose={() => choose(null)}>
        <Show when={opened()}>{(one) => <Opened of={one()} mayBuild={props.mayBuild} onChanged={changed} />}</Show>
      </Overlay>
    </>
  );
}
