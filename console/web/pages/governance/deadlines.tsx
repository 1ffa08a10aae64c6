// Deadlines: which finding is due next, and the terms that give deadlines.
import { useNavigate, useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, PageHead, Tabs, type Tone } from '../../kit/basics.js';
import { createEditedRows, EditedRowDialogs } from '../../kit/table/edited-rows.js';
import { Switch as Toggle } from '../../kit/form.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import { createApplications, plain, severities, severityTone, type Applications } from '../vulnerabilities/words.js';
import { PolicyForm } from './policy-form.js';
import { namesIn } from './named-values.js';
import { sentenceOf } from './predicate.js';

type Clock = Item<'GET /api/v1/sla/clocks'>;
export type Policy = Item<'GET /api/v1/sla/policies'>;

const tones: Readonly<Record<string, Tone>> = { breached: 'danger', at_risk: 'warn', ok: 'good' };

const clockColumns = (applications: Applications): readonly TableColumn<Clock>[] => [
  { title: text.dueAt, class: 'nums', cell: ({ sla }) => showMoment(sla.due_at) },
  {
    title: text.deadlineState,
    cell: ({ sla }) => <Badge tone={tones[sla.state] ?? 'neutral'}>{plain(sla.state)}</Badge>,
  },
  { title: text.severity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  { title: text.finding, cell: ({ title }) => <Foreign text={title} max={200} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={60} /> },
  { title: text.termsOf, cell: ({ sla }) => <Foreign text={sla.class} max={80} /> },
];

function Clocks(props: { readonly applications: Applications }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const navigate = useNavigate();
  const isOverdue = (): boolean => search['breached'] === '1';
  const clocks = createPagedList('GET /api/v1/sla/clocks', () => (isOverdue() ? null : {}));
  const missed = createPagedList('GET /api/v1/sla/breaches', () => (isOverdue() ? {} : null));
  return (
    <ListCard
      label={text.due}
      title={text.due}
      actions={
        <Toggle
          label={text.onlyOverdue}
          isOn={isOverdue()}
          onChange={(isOn) => setSearch({ breached: isOn ? '1' : '' })}
        />
      }
      list={isOverdue() ? missed : clocks}
      columns={clockColumns(props.applications)}
      keyOf={({ id }) => id}
      onOpen={({ id }) => navigate(`/vulnerabilities?finding=${id}`)}
      empty={text.nothingDue}
      emptyAbout={text.nothingDueAbout}
    />
  );
}

const policyColumns = (
  applications: Applications,
  mayManage: () => boolean,
  onEdit: (policy: Policy) => void,
  onDelete: (policy: Policy) => void,
): readonly TableColumn<Policy>[] => [
  { title: text.position, isNumber: true, cell: ({ position }) => String(position ?? '–') },
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={100} /> },
  {
    title: text.holdsFor,
    cell: ({ selector }) => <Foreign text={sentenceOf(selector, namesIn(applications))} max={300} />,
  },
  ...severities.map(
    (severity): TableColumn<Policy> => ({
      title: severity,
      isNumber: true,
      cell: ({ matrix }) => (matrix?.[severity] == null ? text.noTerm : `${matrix[severity]} ${text.days}`),
    }),
  ),
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (policy) => (
      <Show when={mayManage()}>
        <div class="row">
          <Button isSmall onClick={() => onEdit(policy)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(policy)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

function Policies(props: { readonly applications: Applications; readonly mayManage: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/sla/policies', () => ({ sort: 'position' as const }));
  const rows = createEditedRows<Policy>();
  return (
    <>
      <ListCard
        label={text.policies}
        title={text.policies}
        actions={
          <Show when={props.mayManage}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newPolicy}
            </Button>
          </Show>
        }
        list={list}
        columns={policyColumns(props.applications, () => props.mayManage, rows.edit, rows.askToDelete)}
        keyOf={({ id }) => id}
        empty={text.noPolicies}
        emptyAbout={text.noPoliciesAbout}
      />
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newPolicy}
        form={(of, onSaved) => <PolicyForm of={of} onSaved={onSaved} />}
        deleteTitle={text.deletePolicy}
        deleteAbout={text.deletePolicyAbout}
        remove={({ id }) => call('DELETE /api/v1/sla/policies/{id}', { params: { id } })}
        onChanged={() => list.reload()}
      />
    </>
  );
}

type TabName = 'due' | 'terms';
const tabs: readonly (readonly [TabName, string])[] = [
  ['due', text.due],
  ['terms', text.policies],
];

export function Deadlines(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const tab = (): TabName => (search['view'] === 'terms' ? 'terms' : 'due');
  return (
    <>
      <PageHead title={text.deadlines} about={text.deadlinesAbout} />
      <Tabs label={text.deadlines} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'due'}>
          <Clocks applications={applications} />
        </Match>
        <Match when={tab() === 'terms'}>
          <Policies applications={applications} mayManage={access.may('manage_sla')} />
        </Match>
      </Switch>
    </>
  );
}
