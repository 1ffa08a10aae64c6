// What the settings name, and what becomes of requests and answers that do not fit it.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { mayAs } from '../../client/session.js';
import { draft, edit, problems } from '../../client/settings-draft.js';
import { Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { specsText as text } from '../../texts/apis/specs.js';
import { changeNamed, indexOfNamed, namedSpecs, takeOut, type NamedSpec, type SchemaAction } from './named.js';

const actions = Object.entries(text.actions) as (readonly [SchemaAction, string])[];

const keyOf = ({ site, name }: NamedSpec): string => JSON.stringify([site, name]);

function ActionField(props: {
  readonly of: NamedSpec;
  readonly member: 'action' | 'response_action' | 'unknown_paths';
  readonly label: string;
  readonly help: string;
}): JSX.Element {
  const problem = (): string | null => {
    const path = `/api_specs/${indexOfNamed(props.of)}/${props.member}`;
    const found = problems().find((one) => one.path === path);
    return found === undefined ? null : `${found.reason} ${found.fix ?? ''}`;
  };
  const options = (): readonly (readonly [string, string])[] =>
    props.member === 'action' ? [['', text.asForAll], ...actions] : actions;
  return (
    <SelectField
      label={props.label}
      value={props.of[props.member] ?? ''}
      options={options()}
      help={props.help}
      problem={problem()}
      onChange={(chosen) => changeNamed(props.of, { [props.member]: chosen === '' ? null : chosen })}
    />
  );
}

function Edited(props: { readonly of: NamedSpec }): JSX.Element {
  return (
    <div class="stack">
      <p>
        <Foreign text={text.versionOf(props.of.site, props.of.name, props.of.version)} max={300} />
      </p>
      <ActionField of={props.of} member="action" label={text.ownAction} help={text.ownActionHelp} />
      <ActionField of={props.of} member="response_action" label={text.answerAction} help={text.answerActionHelp} />
      <ActionField of={props.of} member="unknown_paths" label={text.unknownPaths} help={text.unknownPathsHelp} />
    </div>
  );
}

const columnsOf = (onEdit: (one: NamedSpec) => void): readonly TableColumn<NamedSpec>[] => [
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={80} /> },
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={80} /> },
  { title: text.version, isNumber: true, cell: ({ version }) => version },
  { title: text.ownAction, cell: ({ action }) => action ?? text.asForAll },
  { title: text.answerAction, cell: (one) => one.response_action },
  { title: text.unknownPaths, cell: (one) => one.unknown_paths },
  {
    title: text.buttons,
    isTitleHidden: true,
    cell: (one) => (
      <Show when={mayAs('operator')}>
        <span class="row">
          <Button isSmall onClick={() => onEdit(one)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => takeOut(one)}>
            {text.takeOut}
          </Button>
        </span>
      </Show>
    ),
  },
];

export function InForce(): JSX.Element {
  const [edited, setEdited] = createSignal<string | null>(null);
  const unfit = (): string =>
    problems()
      .filter(({ path }) => path.startsWith('/api_specs') || path.startsWith('/schema_action'))
      .map(({ path, reason }) => `${path} ${reason}`)
      .join('. ');
  return (
    <Card
      title={text.inForce}
      actions={
        <A class="button small" href="/admin/settings/api#api_specs">
          {text.settings}
        </A>
      }
    >
      <div class="stack">
        <p class="muted">{text.inForceAbout}</p>
        <Show when={unfit() !== ''}>
          <Notice tone="danger">{unfit()}</Notice>
        </Show>
        <div class="narrow-grid">
          <SelectField
            label={text.actionForAll}
            value={String((draft()?.['schema_action'] ?? 'ignore') as string)}
            options={actions}
            help={text.actionForAllHelp}
            isDisabled={!mayAs('operator')}
            onChange={(chosen) => edit('schema_action', chosen)}
          />
        </div>
        <Table
          label={text.inForce}
          columns={columnsOf((one) => setEdited(keyOf(one)))}
          of={ofRows(namedSpecs)}
          keyOf={keyOf}
          empty={text.nothingNamed}
          emptyAbout={text.nothingNamedAbout}
        />
      </div>
      <Overlay
        isOpen={edited() !== null}
        title={text.editTitle}
        onClose={() => setEdited(null)}
        footer={
          <Button look="primary" onClick={() => setEdited(null)}>
            {text.done}
          </Button>
        }
      >
        <Show when={namedSpecs().find((one) => keyOf(one) === edited())}>{(one) => <Edited of={one()} />}</Show>
      </Overlay>
    </Card>
  );
}
