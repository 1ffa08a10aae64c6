// What a rule would do to the open findings there are, in its place among the others.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { triageText as text } from '../../texts/resources/triage.js';
import { severities, severityTone, type Applications } from '../vulnerabilities/words.js';

type Trial = Reply<'POST /api/v1/rules/{id}/dry-run'>;
type Tried = Trial['sample'][number];

/** Severities come as numbers, the lowest first. */
function shown(member: string, value: unknown): string {
  if (value === null || value === undefined) return text.none;
  const plain: unknown = Array.isArray(value) ? value[0] : value;
  if (member === 'severity') return [...severities].reverse()[Number(plain)] ?? String(plain);
  return typeof plain === 'string' ? plain : JSON.stringify(plain);
}

const columnsOf = (applications: Applications): readonly TableColumn<Tried>[] => [
  {
    title: text.severity,
    cell: ({ finding }) => <Badge tone={severityTone(finding.severity)}>{finding.severity}</Badge>,
  },
  {
    title: text.finding,
    cell: ({ finding }) => (
      <>
        <A href={`/vulnerabilities?status=all&finding=${finding.id}`}>
          <Foreign text={finding.title} max={120} />
        </A>{' '}
        <Foreign text={applications.nameOf(finding.application_id)} max={60} />
      </>
    ),
  },
  {
    title: text.change,
    cell: ({ changes }) => (
      <Foreign
        text={changes
          .map(({ member, before, after }) => text.from(member, shown(member, before), shown(member, after)))
          .join('; ')}
        max={300}
      />
    ),
  },
];

const saidOf = ({ matched, would_change: changed }: Trial): string =>
  changed === 0 ? text.trialNothing(showCount(matched)) : text.trialSome(showCount(matched), showCount(changed));

export function TrialRun(props: {
  readonly of: { readonly id: string; readonly version: number };
  readonly applications: Applications;
}): JSX.Element {
  const tried = createQuery('POST /api/v1/rules/{id}/dry-run', () =>
    // another version may do something else
    props.of.version < 0 ? null : { params: { id: props.of.id } },
  );
  return (
    <section class="stack">
      <div class="row wrap between">
        <h3>{text.trial}</h3>
        <Button isSmall isBusy={tried.isLoading()} onClick={() => void tried.reload()}>
          {text.tryAgain}
        </Button>
      </div>
      <Read of={tried}>
        {(data) => (
          <Show when={data().matched > 0} fallback={<Notice tone="info">{text.trialNone}</Notice>}>
            <p>
              {saidOf(data())}{' '}
              <Show when={data().looked_at < data().matched}>
                <span class="muted">{text.trialFirst(showCount(data().looked_at))}</span>
              </Show>
            </p>
            <Show when={data().sample.length > 0}>
              <Table
                label={text.trial}
                columns={columnsOf(props.applications)}
                of={ofRows(() => data().sample)}
                keyOf={({ finding }) => finding.id}
                empty={text.trialNone}
              />
            </Show>
          </Show>
        )}
      </Read>
    </section>
  );
}
