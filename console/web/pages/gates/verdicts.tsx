// Answers of the gate, the newest first; each opens with its conditions and what broke them.
import { useSearchParams } from '@solidjs/router';
import { type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import type { VmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, type Tone } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { textOf } from '../governance/predicate.js';
import type { Applications } from '../vulnerabilities/words.js';
import { VerdictDrawer } from './verdict-drawer.js';

export type Evaluation = Item<'GET /api/v1/gate/evaluations'>;
type Verdict = Evaluation['verdict'];

const verdicts: readonly Verdict[] = ['fail', 'warn', 'pass'];
const tones: Readonly<Record<Verdict, Tone>> = { pass: 'good', warn: 'warn', fail: 'danger' };

export function VerdictBadge(props: { readonly of: Verdict }): JSX.Element {
  return <Badge tone={tones[props.of]}>{props.of}</Badge>;
}

export const gateNameOf = ({ gate }: Evaluation): string => textOf((gate as { name?: unknown } | null)?.name) || '–';

const columnsOf = (applications: Applications): readonly TableColumn<Evaluation>[] => [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.verdict, cell: ({ verdict }) => <VerdictBadge of={verdict} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  {
    title: text.commit,
    cell: ({ commit, branch }) => (
      <div class="stack tight">
        <span class="mono">
          <Foreign text={commit} max={40} />
        </span>
        <span class="small faint">
          <Foreign text={branch} max={60} />
        </span>
      </div>
    ),
  },
  { title: text.why, cell: ({ reason }) => <Foreign text={reason} max={200} /> },
  { title: text.newFindings, isNumber: true, cell: (one) => showCount(one.new_findings) },
  { title: text.openFindings, isNumber: true, cell: (one) => showCount(one.open_findings) },
  { title: text.gate, cell: (one) => <Foreign text={gateNameOf(one)} max={80} /> },
];

export function Verdicts(props: { readonly applications: Applications; readonly access: VmAccess }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [chosen, choose] = createChosen('verdict_of');
  const application = (): string => (typeof search['application_id'] === 'string' ? search['application_id'] : '');
  const verdict = (): Verdict | '' => verdicts.find((name) => name === search['verdict']) ?? '';
  const list = createPagedList('GET /api/v1/gate/evaluations', () => {
    const [of, wanted] = [application(), verdict()];
    return { ...(of === '' ? {} : { application_id: of }), ...(wanted === '' ? {} : { verdict: wanted }) };
  });
  return (
    <>
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.everyApplication)}
          onChange={(id) => setSearch({ application_id: id })}
        />
        <SelectField
          label={text.verdict}
          value={verdict()}
          options={[['', text.anyVerdict], ...verdicts.map((name) => [name, name] as const)]}
          onChange={(name) => setSearch({ verdict: name })}
        />
      </div>
      <ListCard
        label={text.verdicts}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ evaluation_id: id }) => id}
        chosen={chosen()}
        onOpen={({ evaluation_id: id }) => choose(id)}
        empty={text.noVerdicts}
        emptyAbout={text.noVerdictsAbout}
      />
      <VerdictDrawer
        id={chosen()}
        applications={props.applications}
        mayOverride={props.access.may('override_gate')}
        onClose={() => choose(null)}
        onChanged={list.reload}
      />
    </>
  );
}
