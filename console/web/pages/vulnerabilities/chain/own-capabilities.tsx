// What people say a finding or a weakness gives an attacker: the list, the form and taking one back.
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body, type Reply } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createVmAccess } from '../../../client/vm-access.js';
import { Button, Card, Foreign, Notice } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofRows } from '../../../kit/table/table-source.js';
import { ownGraphText as text } from '../../../texts/vm/models/own-graph.js';

type Own = Reply<'GET /api/v1/graph/capabilities'>['own'][number];
type Override = NonNullable<Body<'PUT /api/v1/graph/capabilities/{vuln_id}'>['override']>;
type Stage = Override['stage'];

const columns: readonly TableColumn<Own>[] = [
  { title: text.of, sortBy: ({ id }) => id, cell: ({ id }) => <span class="mono">{id}</span> },
  { title: text.stage, cell: ({ stage }) => stage ?? text.none },
  { title: text.capability, class: 'mono', cell: ({ capability }) => capability ?? '–' },
  { title: text.reason, cell: ({ reason }) => <Foreign text={reason} max={200} /> },
  {
    title: text.by,
    isMinor: true,
    cell: (one) => <Foreign text={`${one.set_by}, ${showMoment(one.set_at)}`} max={120} />,
  },
];

function ClassifyForm(props: {
  readonly stages: readonly (readonly [string, string])[];
  readonly onSaved: () => void;
}): JSX.Element {
  const [of, setOf] = createSignal('');
  const [stage, setStage] = createSignal<string>('none');
  const [capability, setCapability] = createSignal('');
  const [reason, setReason] = createSignal('');
  const action = createAction();
  const save = async (): Promise<void> => {
    const override: Override = {
      stage: stage() as Stage,
      ...(stage() === 'none' ? {} : { capability: capability().trim() }),
    };
    const options = { params: { vuln_id: of().trim() }, body: { override, reason: reason() } };
    if (!(await action.run(() => call('PUT /api/v1/graph/capabilities/{vuln_id}', options)))) return;
    tell(text.classified);
    props.onSaved();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="grid grid-4">
        <TextField label={text.of} value={of()} onInput={setOf} help={text.ofHelp} isRequired />
        <SelectField
          label={text.stage}
          value={stage()}
          options={[['none', text.none], ...props.stages]}
          onChange={setStage}
        />
        <TextField label={text.capability} value={capability()} onInput={setCapability} help={text.capabilityHelp} />
        <TextField label={text.reason} value={reason()} onInput={setReason} isRequired />
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button type="submit" isBusy={action.isBusy()} disabled={of().trim() === '' || reason().trim() === ''}>
          {text.classify}
        </Button>
      </div>
    </form>
  );
}

export function OwnCapabilities(props: {
  readonly of: Reply<'GET /api/v1/graph/capabilities'>;
  readonly onChanged: () => void;
}): JSX.Element {
  const access = createVmAccess();
  const action = createAction();
  const stages = createMemo(() => [
    ...new Map(props.of.items.map(({ stage, stage_label: label }) => [stage as string, label])),
  ]);
  const takeBack = async ({ id }: Own): Promise<void> => {
    const options = { params: { vuln_id: id }, body: { override: null, reason: '-' } };
    if (await action.run(() => call('PUT /api/v1/graph/capabilities/{vuln_id}', options))) props.onChanged();
  };
  const withRemoval = (): readonly TableColumn<Own>[] => [
    ...columns,
    {
      title: text.remove,
      cell: (one) => (
        <Button isSmall aria-label={text.removeOne(one.id)} isBusy={action.isBusy()} onClick={() => void takeBack(one)}>
          {text.remove}
        </Button>
      ),
    },
  ];
  return (
    <Card isFlush title={text.own}>
      <div class="body stack">
        <p class="muted">{text.ownAbout}</p>
        <Show when={access.may('edit_graph')}>
          <ClassifyForm stages={stages()} onSaved={props.onChanged} />
        </Show>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </div>
      <Table
        label={text.own}
        columns={access.may('edit_graph') ? withRemoval() : columns}
        of={ofRows(() => props.of.own)}
        keyOf={({ id }) => id}
        empty={text.noOwn}
      />
    </Card>
  );
}
