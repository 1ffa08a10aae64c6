// Virtual patches of findings: drafts, those in force with their proof, and those that do not hold any more.
import { A, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, PageHead, type Tone } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { vpatchText as text } from '../../texts/vm/vpatches.js';
import { PatchDrawer } from './patch-drawer.js';
import { ProposeForm } from './propose-form.js';

export type Patch = Item<'GET /api/v1/vpatches'>;
type State = Patch['state'];

const states: readonly State[] = ['draft', 'active', 'proven', 'stale', 'disabled'];
const tones: Readonly<Record<State, Tone>> = {
  draft: 'neutral',
  active: 'info',
  proven: 'good',
  stale: 'danger',
  disabled: 'neutral',
};

export function PatchState(props: { readonly of: State }): JSX.Element {
  return <Badge tone={tones[props.of]}>{props.of}</Badge>;
}

function ProofBadge(props: { readonly of: Patch['proof'] }): JSX.Element {
  return (
    <Show when={props.of} fallback={<span class="faint">{text.notProven}</span>}>
      {(proof) => <Badge tone={proof().holds ? 'good' : 'danger'}>{proof().holds ? text.holds : text.fails}</Badge>}
    </Show>
  );
}

const columns: readonly TableColumn<Patch>[] = [
  {
    title: text.name,
    cell: ({ name, rule_id: rule }) => (
      <div class="stack tight">
        <Foreign text={name} max={160} />
        <span class="small faint mono">{rule}</span>
      </div>
    ),
  },
  { title: text.state, cell: ({ state }) => <PatchState of={state} /> },
  { title: text.proof, cell: ({ proof }) => <ProofBadge of={proof} /> },
  { title: text.strategy, cell: ({ strategy }) => strategy },
  { title: text.site, cell: ({ site }) => <Foreign text={site ?? text.everySite} max={60} /> },
  { title: text.findings, isNumber: true, cell: ({ vulnerability_ids: ids }) => String(ids.length) },
  { title: text.hits, isNumber: true, cell: ({ hits_30_days: hits }) => showCount(hits) },
  { title: text.updated, class: 'nums', cell: ({ updated_at: at }) => showMoment(at) },
];

export function FindingPatches(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const [chosen, choose] = createChosen('patch');
  const [proposed, propose] = createChosen('propose');
  const state = (): State | '' => states.find((name) => name === search['state']) ?? '';
  const finding = (): string => (typeof search['vulnerability_id'] === 'string' ? search['vulnerability_id'] : '');
  const list = createPagedList('GET /api/v1/vpatches', () => {
    const [wanted, of] = [state(), finding()];
    return { ...(wanted === '' ? {} : { state: wanted }), ...(of === '' ? {} : { vulnerability_id: of }) };
  });
  const mayPatch = (): boolean => access.may('apply_vpatch');
  return (
    <>
      <PageHead title={text.patches} about={text.patchesAbout} />
      <div class="narrow-grid">
        <SelectField
          label={text.state}
          value={state()}
          options={[['', text.everyState], ...states.map((name) => [name, name] as const)]}
          onChange={(name) => setSearch({ state: name })}
        />
      </div>
      <ListCard
        label={text.patches}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={text.noPatches}
        emptyAbout={
          <>
            {text.noPatchesAbout} <A href="/vulnerabilities">{text.toFindings}</A>
          </>
        }
      />
      <PatchDrawer id={chosen()} mayPatch={mayPatch()} onClose={() => choose(null)} onChanged={list.reload} />
      <Overlay
        isOpen={proposed() !== null && mayPatch()}
        look="wide"
        title={text.proposeFor(proposed() ?? '')}
        onClose={() => propose(null)}
      >
        <Show when={proposed()} keyed>
          {(id) => (
            <ProposeForm
              finding={id}
              onMade={(patch) => {
                setSearch({ propose: '', patch });
                list.reload();
              }}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}
