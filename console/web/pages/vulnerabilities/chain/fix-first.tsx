// What to fix first, and what would be left of the chains if it were: chosen findings are asked about together.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Button, Card, Foreign, Notice } from '../../../kit/basics.js';
import { Switch } from '../../../kit/form.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofQuery, ofRows } from '../../../kit/table/table-source.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { chainAt, severityTone } from '../words.js';

type Fix = Reply<'GET /api/v1/graph/chokepoints'>['items'][number];
type WhatIf = Reply<'POST /api/v1/graph/attack-chains/what-if'>;
type FigureName = keyof typeof words.figures;

/** What the page is asked about beside findings. */
export interface Scope {
  readonly application_id?: string;
  readonly internet_only?: boolean;
}

/** Chains that are named; of more the number is told. */
const namedMax = 10;

const fixColumns: readonly TableColumn<Fix>[] = [
  { title: text.severity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  {
    title: text.finding,
    cell: ({ vuln_id: id, title }) => (
      <A href={`/vulnerabilities?finding=${id}&status=all`}>
        <Foreign text={title} max={200} />
      </A>
    ),
  },
  { title: text.application, cell: ({ application }) => <Foreign text={application} max={80} /> },
  { title: text.breaks, isNumber: true, sortBy: (fix) => fix.chains_broken, cell: (fix) => String(fix.chains_broken) },
  {
    title: text.breaksDangerous,
    isNumber: true,
    sortBy: (fix) => fix.danger_chains_broken,
    cell: (fix) => String(fix.danger_chains_broken),
  },
  {
    title: text.maxRisk,
    isNumber: true,
    cell: (fix) => text.riskAfter(fix.max_chain_risk_before, fix.max_chain_risk_after),
  },
];

function Named(props: { readonly title: string; readonly of: WhatIf['chains_gone'] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{props.title}</h3>
      <ul class="stack tight">
        <For each={props.of.slice(0, namedMax)}>
          {({ id, name, score }) => (
            <li class="row wrap">
              <span class="nums">{score}</span>{' '}
              <A href={chainAt(id)}>
                <Foreign text={name} max={300} />
              </A>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

function Left(props: { readonly of: WhatIf }): JSX.Element {
  const columns: readonly TableColumn<FigureName>[] = [
    { title: words.what, cell: (name) => words.figures[name] },
    { title: words.before, isNumber: true, cell: (name) => showCount(props.of.before[name]) },
    { title: words.after, isNumber: true, cell: (name) => showCount(props.of.after[name]) },
  ];
  return (
    <Card title={words.result}>
      <div class="stack">
        <Table
          label={words.result}
          columns={columns}
          of={ofRows(() => Object.keys(words.figures) as FigureName[])}
          keyOf={(name) => name}
          empty=""
        />
        <Show when={props.of.chains_gone.length > 0} fallback={<p class="muted">{words.nothingGoes}</p>}>
          <Named title={words.chainsGone(showCount(props.of.chains_gone.length))} of={props.of.chains_gone} />
        </Show>
        <Show when={props.of.chains_new.length > 0}>
          <Named title={words.chainsNew(showCount(props.of.chains_new.length))} of={props.of.chains_new} />
        </Show>
      </div>
    </Card>
  );
}

/** What would be left is the answer to one question: another choice has to be asked anew. */
function createWhatIf(scope: () => Scope) {
  const [ids, setIds] = createSignal<readonly string[]>([]);
  const [areBehindPatches, setBehindPatches] = createSignal(false);
  const [answer, setAnswer] = createSignal<{ readonly asked: string; readonly of: WhatIf } | null>(null);
  const action = createAction();
  const body = () => ({
    ...(scope().application_id === undefined ? {} : { application_id: scope().application_id as string }),
    ...(scope().internet_only === true ? { internet_only: true } : {}),
    remove_vuln_ids: [...ids()],
    ...(areBehindPatches() ? { controls: ['virtual_patches' as const] } : {}),
  });
  const ask = (): Promise<boolean> =>
    action.run(async () => {
      const asked = body();
      const of = await call('POST /api/v1/graph/attack-chains/what-if', { body: asked });
      setAnswer({ asked: JSON.stringify(asked), of });
    });
  return {
    ids,
    action,
    ask,
    areBehindPatches,
    setBehindPatches,
    choose: (id: string, isIn: boolean): void =>
      void setIds((all) => [...all.filter((one) => one !== id), ...(isIn ? [id] : [])]),
    answer: (): WhatIf | null => (answer()?.asked === JSON.stringify(body()) ? (answer()?.of ?? null) : null),
  };
}

export function FixFirst(props: { readonly query: Scope }): JSX.Element {
  const fixes = createQuery('GET /api/v1/graph/chokepoints', () => ({ query: { ...props.query } }));
  const whatIf = createWhatIf(() => props.query);
  const choosing: TableColumn<Fix> = {
    title: words.choose,
    cell: ({ vuln_id: id, title }) => (
      <input
        type="checkbox"
        aria-label={words.chooseOne(title)}
        checked={whatIf.ids().includes(id)}
        onChange={(event) => whatIf.choose(id, event.currentTarget.checked)}
      />
    ),
  };
  return (
    <>
      <div class="row wrap between">
        <p class="muted">{words.whatIfAbout}</p>
        <div class="row wrap">
          <Switch label={words.withPatches} isOn={whatIf.areBehindPatches()} onChange={whatIf.setBehindPatches} />
          <Button
            isBusy={whatIf.action.isBusy()}
            disabled={whatIf.ids().length === 0 && !whatIf.areBehindPatches()}
            onClick={() => void whatIf.ask()}
          >
            {whatIf.ids().length === 0 && whatIf.areBehindPatches()
              ? words.whatIfPatched
              : words.whatIf(whatIf.ids().length)}
          </Button>
        </div>
      </div>
      <Show when={whatIf.action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={whatIf.answer()}>{(of) => <Left of={of()} />}</Show>
      <Card isFlush>
        <Table
          label={text.fixFirst}
          columns={[choosing, ...fixColumns]}
          of={ofQuery(fixes, ({ items }) => items)}
          keyOf={({ vuln_id: id }) => id}
          empty={text.nothingToFix}
        />
      </Card>
    </>
  );
}
