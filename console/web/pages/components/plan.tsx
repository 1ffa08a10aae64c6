// The upgrade plan of an application: which packages to move to which version.
import { useSearchParams } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { sbomsText as text } from '../../texts/vm/sources/sboms.js';
import type { Applications } from '../vulnerabilities/words.js';

type Plan = Reply<'GET /api/v1/sca/upgrade-plan'>;
type Step = Plan['steps'][number];

const columns: readonly TableColumn<Step>[] = [
  { title: text.package, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.from, class: 'mono', cell: ({ from }) => <Foreign text={from} max={60} /> },
  {
    title: text.to,
    class: 'mono',
    cell: ({ to, is_major: isMajor }) => (
      <span class="row wrap">
        <Foreign text={to} max={60} />
        <Show when={isMajor}>
          <Badge tone="warn">{text.major}</Badge>
        </Show>
      </span>
    ),
  },
  {
    title: text.through,
    class: 'words',
    cell: ({ through }) => <Foreign text={through.join(', ') || '–'} max={200} />,
  },
  {
    title: text.closes,
    class: 'words',
    cell: ({ closes, leaves }) => (
      <span class="stack tight">
        <Foreign text={closes.map(({ id }) => id).join(', ')} max={300} />
        <Show when={leaves.length > 0}>
          <span class="muted small">
            <Foreign text={text.leaves(leaves.join(', '))} max={200} />
          </span>
        </Show>
      </span>
    ),
  },
  { title: text.share, isNumber: true, cell: ({ share }) => `${Math.round(share * 100)} %` },
];

function OfApplication(props: { readonly id: string }): JSX.Element {
  const plan = createQuery('GET /api/v1/sca/upgrade-plan', () => ({ query: { application_id: props.id, most: 50 } }));
  return (
    <Read of={plan}>
      {(answer) => (
        <div class="stack">
          <Show when={answer().not_comparable > 0}>
            <p class="muted small">{text.notComparable(showCount(answer().not_comparable))}</p>
          </Show>
          <Table
            label={text.view.plan}
            columns={columns}
            of={{ rows: answer().steps }}
            keyOf={({ component_id: id }) => id}
            empty={text.planNone}
            emptyAbout={text.planNoneAbout}
          />
          <Show when={answer().without_fix.length > 0}>
            <section class="stack tight">
              <h3>{text.withoutFix}</h3>
              <ul class="code">
                <For each={answer().without_fix}>
                  {({ name, version, advisories }) => (
                    <li>
                      <Foreign text={`${name} ${version}: ${advisories.join(', ')}`} max={300} />
                    </li>
                  )}
                </For>
              </ul>
            </section>
          </Show>
        </div>
      )}
    </Read>
  );
}

export function UpgradePlan(props: { readonly applications: Applications }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const chosen = (): string => (typeof search['application_id'] === 'string' ? search['application_id'] : '');
  return (
    <Card title={text.view.plan}>
      <div class="stack">
        <p>{text.planAbout}</p>
        <SelectField
          label={text.application}
          value={chosen()}
          options={props.applications.options(text.choose)}
          onChange={(id) => setSearch({ application_id: id })}
        />
        <Show when={chosen()} keyed fallback={<p class="muted small">{text.planChoose}</p>}>
          {(id) => <OfApplication id={id} />}
        </Show>
      </div>
    </Card>
  );
}
