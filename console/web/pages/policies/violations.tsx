// What a policy has left behind: the findings that it holds for, since when, and of which a notice was given.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { policiesText as text } from '../../texts/resources/policies.js';
import { termsText as terms } from '../../texts/vm/records/terms.js';
import { TermForm } from '../governance/term-form.js';
import { severityTone, type Applications } from '../vulnerabilities/words.js';

type Violation = Reply<'GET /api/v1/policies/violations'>['items'][number];

const shownMax = 50;

function Waive(props: { readonly of: Violation; readonly onDone: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  return (
    <div class="stack tight">
      <div>
        <Button isSmall onClick={() => setAsking((is) => !is)}>
          {terms.waive}
        </Button>
      </div>
      <Show when={isAsking()}>
        <TermForm
          label={terms.waive}
          about={terms.waiveAbout}
          days={90}
          send={(reason, until) =>
            call('POST /api/v1/policies/violations/{id}/waive', {
              params: { id: props.of.id },
              body: { reason, expires_at: until ?? '' },
            })
          }
          onDone={props.onDone}
        />
      </Show>
    </div>
  );
}

const columnsOf = (applications: Applications, waived: (() => void) | null): readonly TableColumn<Violation>[] => [
  { title: text.findingSeverity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  {
    title: text.finding,
    cell: ({ finding_id: id, title }) => (
      <A href={`/vulnerabilities?status=all&finding=${id}`}>
        <Foreign text={title} max={120} />
      </A>
    ),
  },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={60} /> },
  { title: text.since, cell: ({ since }) => showMoment(since) },
  { title: text.told, cell: ({ told_at: at }) => (at === null ? text.notTold : showMoment(at)) },
  ...(waived === null ? [] : [{ title: terms.act, cell: (row: Violation) => <Waive of={row} onDone={waived} /> }]),
];

export function Violations(props: { readonly policy: string; readonly applications: Applications }): JSX.Element {
  const access = createVmAccess();
  const noted = createQuery('GET /api/v1/policies/violations', () => ({
    query: { policy_id: props.policy, limit: shownMax },
  }));
  return (
    <section class="stack">
      <h3>{text.noted}</h3>
      <p class="muted">{text.notedAbout}</p>
      <Read of={noted}>
        {(data) => (
          <>
            <Show when={data().total > data().items.length}>
              <p class="muted">{text.latestOf(data().items.length, showCount(data().total))}</p>
            </Show>
            <Table
              label={text.noted}
              columns={columnsOf(
                props.applications,
                access.may('approve_acceptance') ? () => void noted.reload() : null,
              )}
              of={ofRows(() => data().items)}
              keyOf={({ id }) => id}
              empty={text.notedNone}
            />
          </>
        )}
      </Read>
    </section>
  );
}
