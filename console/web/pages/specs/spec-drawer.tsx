// One stored version: what it declares, its text, how it differs from another, and whether the settings name it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Foreign, ForeignLines, Notice, Pairs } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { specsText as text } from '../../texts/apis/specs.js';
import { Comparison } from './comparison.js';
import { isNamed, nameVersion, takeOut, type StoredSpec } from './named.js';
import { Preview } from './preview.js';
import { Reality } from './reality.js';

type Operation = Reply<'GET /api/spec/{id}'>['operations'][number];

/** Beyond it a text is cut on the page; a document may have four million characters. */
const textMax = 60_000;

const needs = ({ security }: Operation): string => {
  if (security === null) return text.loginGlobal;
  return security.map((all) => all.join(' + ')).join(', ') || text.loginNone;
};

const columns: readonly TableColumn<Operation>[] = [
  { title: text.method, class: 'mono', cell: ({ method }) => <Foreign text={method.toUpperCase()} max={20} /> },
  {
    title: text.path,
    class: 'mono',
    cell: ({ path, deprecated }) => (
      <span class="row wrap">
        <Foreign text={path} max={200} />
        <Show when={deprecated}>
          <Badge tone="warn">{text.deprecated}</Badge>
        </Show>
      </span>
    ),
  },
  {
    title: text.summary,
    cell: ({ summary, operation_id: id }) => <Foreign text={summary || (id ?? '–')} max={200} />,
  },
  { title: text.login, cell: (one) => <Foreign text={needs(one)} max={120} /> },
];

function Details(props: { readonly of: StoredSpec }): JSX.Element {
  const stored = createQuery('GET /api/spec/{id}', () => ({ params: { id: props.of.id } }));
  return (
    <Read of={stored}>
      {(data) => (
        <div class="stack">
          <Table
            label={text.operations}
            columns={columns}
            of={ofRows(() => data().operations)}
            keyOf={({ method, path }) => `${method} ${path}`}
            empty={text.noOperations}
          />
          <details class="fold">
            <summary>{text.document}</summary>
            <pre class="code">
              <ForeignLines text={data().text} max={textMax} />
            </pre>
          </details>
        </div>
      )}
    </Read>
  );
}

function Choices(props: { readonly of: StoredSpec; readonly onDelete: () => void }): JSX.Element {
  const change = (): void => {
    const wasNamed = isNamed(props.of);
    if (wasNamed) takeOut(props.of);
    else nameVersion(props.of);
    tell(wasNamed ? text.takeDraft : text.putDraft);
  };
  return (
    <div class="row wrap">
      <Button onClick={change}>{isNamed(props.of) ? text.takeOut : text.putInForce}</Button>
      <Button look="danger" onClick={props.onDelete}>
        {text.delete}
      </Button>
    </div>
  );
}

function Against(props: { readonly of: StoredSpec; readonly all: readonly StoredSpec[] }): JSX.Element {
  const [against, setAgainst] = createSignal('');
  const others = (): readonly StoredSpec[] =>
    props.all.filter(({ site, name, id }) => site === props.of.site && name === props.of.name && id !== props.of.id);
  return (
    <Show when={others().length > 0}>
      <SelectField
        label={text.compareWith}
        value={against()}
        options={[['', text.choose], ...others().map(({ id, version }) => [String(id), String(version)] as const)]}
        onChange={setAgainst}
      />
      <Show when={others().find(({ id }) => String(id) === against())}>
        {(other) => <Comparison one={props.of} other={other()} />}
      </Show>
    </Show>
  );
}

function Facts(props: { readonly of: StoredSpec }): JSX.Element {
  const shown = (words: string): JSX.Element => <Foreign text={words} max={200} />;
  return (
    <Pairs
      of={[
        [text.title, shown(props.of.title)],
        [text.declared, shown(props.of.declared_version)],
        [text.dialect, text.dialectOf(props.of.openapi, props.of.format)],
        [text.operations, showCount(props.of.operations)],
        [text.uploaded, showMoment(props.of.at)],
        [text.author, shown(props.of.author)],
        [text.checksum, <span class="mono small">{props.of.sha256}</span>],
      ]}
    />
  );
}

export function SpecDrawer(props: {
  /** null: closed. */
  readonly of: StoredSpec | null;
  readonly all: readonly StoredSpec[];
  readonly onClose: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const [isAsked, setAsked] = createSignal(false);
  const action = createAction();
  const remove = async (id: number): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/spec/{id}', { params: { id } })))) return;
    tell(text.deleted);
    setAsked(false);
    props.onClose();
    props.onChanged();
  };
  return (
    <>
      <Overlay isOpen={props.of !== null} look="drawer" title={text.specification} onClose={props.onClose}>
        <Show when={props.of} keyed>
          {(one) => (
            <>
              <h3>
                <Foreign text={text.versionOf(one.site, one.name, one.version)} max={300} />
              </h3>
              <Facts of={one} />
              <Show when={mayAs('operator')}>
                <Choices of={one} onDelete={() => setAsked(true)} />
              </Show>
              <Preview id={one.id} />
              <Reality of={one} />
              <Against of={one} all={props.all} />
              <Details of={one} />
            </>
          )}
        </Show>
      </Overlay>
      <Confirm
        isOpen={isAsked()}
        title={text.deleteAsk}
        action={text.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove(props.of?.id ?? 0)}
        onClose={() => setAsked(false)}
      >
        <p>{text.deleteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
