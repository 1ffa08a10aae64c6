// Alert rules with their states; each opens with the reason why it fires, or does not.
import { For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Pairs, type Tone } from '../../kit/basics.js';
import { createEditedRows, EditedRowDialogs } from '../../kit/table/edited-rows.js';
import { Overlay, tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { alertsText as text } from '../../texts/apis/alerts.js';
import { AlertForm } from './alert-form.js';

export type AlertRule = Item<'GET /api/alerts'>;

const everyMs = 15_000;
const tones: Readonly<Record<AlertRule['state'], Tone>> = {
  ok: 'good',
  pending: 'warn',
  firing: 'danger',
  resolved: 'info',
};
const saysOf = ({ metric, comparison = 'above', threshold, window_min: window }: AlertRule): string =>
  text.says(
    text.metrics[metric],
    metric === 'missing_data' ? text.atMost : text.comparisons[comparison],
    threshold,
    window,
  );

/** A number with its unit, as exact as somebody reads it. */
const valueOf = (metric: AlertRule['metric'], value: number | null): string =>
  value === null
    ? '–'
    : text.withUnit(
        showCount(Math.round(value * 10) / 10),
        (text.units as Readonly<Record<string, string>>)[metric] ?? '',
      );

function Why(props: { readonly id: string; readonly metric: AlertRule['metric'] }): JSX.Element {
  const why = createQuery('GET /api/alerts/{id}/why', () => ({ params: { id: props.id } }), { everyMs });
  return (
    <Read of={why}>
      {(data) => (
        <>
          <Badge tone={tones[data().state]}>{data().state}</Badge>
          <section class="stack tight">
            <h3>{text.why}</h3>
            <ul class="stack tight">
              <For each={data().reasons}>
                {(reason) => (
                  <li>
                    <Foreign text={reason} max={500} />
                  </li>
                )}
              </For>
            </ul>
          </section>
          <Pairs
            of={[
              [text.measured, text.windowOf(showMoment(data().window.from), showMoment(data().window.to))],
              [text.value, valueOf(props.metric, data().value)],
              [text.threshold, valueOf(props.metric, data().threshold)],
              [
                text.countedAbout,
                text.counted(showCount(data().requests), showCount(data().blocked), showCount(data().errors)),
              ],
              [text.pendingUntil, showMoment(data().pending_until)],
              [text.cooldownUntil, showMoment(data().cooldown_until)],
            ]}
          />
          <section class="stack tight">
            <h3>{text.history}</h3>
            <ol class="stack tight plain-list">
              <For each={data().history} fallback={<li class="muted">{text.noHistory}</li>}>
                {(one) => (
                  <li>
                    {showMoment(one.at)} {text.moved(one.from, one.to)}
                  </li>
                )}
              </For>
            </ol>
          </section>
          <section class="stack tight">
            <h3>{text.notices}</h3>
            <ol class="stack tight plain-list">
              <For each={data().notices} fallback={<li class="muted">{text.noNotices}</li>}>
                {(one) => (
                  <li class="row wrap">
                    <span>{showMoment(one.at)}</span>
                    <Badge>{one.action}</Badge>
                    <Foreign text={one.outcome ?? '–'} max={300} />
                  </li>
                )}
              </For>
            </ol>
          </section>
        </>
      )}
    </Read>
  );
}

const columnsOf = (
  onEdit: (rule: AlertRule) => void,
  onTry: (rule: AlertRule) => void,
  onDelete: (rule: AlertRule) => void,
): readonly TableColumn<AlertRule>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={100} /> },
  { title: text.state, cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  { title: text.condition, class: 'words', cell: (rule) => saysOf(rule) },
  { title: text.value, isNumber: true, cell: ({ metric, value }) => valueOf(metric, value) },
  { title: text.since, class: 'nums', cell: ({ since }) => showMoment(since) },
  { title: text.told, class: 'nums', cell: ({ type }) => text.channels[type] },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (rule) => (
      <Show when={mayAs('admin')}>
        <div class="row">
          <Button isSmall onClick={() => onTry(rule)}>
            {text.try}
          </Button>
          <Button isSmall onClick={() => onEdit(rule)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(rule)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

/** Sends a notice through the channel of a rule, and says what became of it. */
async function tryChannel({ id }: AlertRule): Promise<void> {
  const action = createAction();
  const isDone = await action.run(async () => {
    const { sent, reason } = await call('POST /api/alerts/test', { body: { id } });
    if (sent) tell(text.sent);
    else tell(text.notSent(reason ?? ''), true);
  });
  if (!isDone) tellProblem(new Error(action.problem() ?? ''));
}

export function AlertRules(): JSX.Element {
  const rules = createQuery('GET /api/alerts', () => ({}), { everyMs });
  const [chosen, choose] = createChosen('rule');
  const rows = createEditedRows<AlertRule>();
  return (
    <>
      <Card
        isFlush
        title={text.rules}
        actions={
          <Show when={mayAs('admin')}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newRule}
            </Button>
          </Show>
        }
      >
        <Table
          label={text.rules}
          columns={columnsOf(rows.edit, (rule) => void tryChannel(rule), rows.askToDelete)}
          of={ofQuery(rules, ({ items }) => items)}
          keyOf={({ id }) => id}
          chosen={chosen()}
          onOpen={({ id }) => choose(id)}
          empty={text.noRules}
          emptyAbout={text.noRulesAbout}
        />
      </Card>
      <Overlay isOpen={chosen() !== null} look="drawer" title={text.why} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Why id={id} metric={rules.data()?.items.find((rule) => rule.id === id)?.metric ?? 'requests'} />}
        </Show>
      </Overlay>
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newRule}
        form={(of, onSaved) => <AlertForm of={of} onSaved={onSaved} />}
        deleteTitle={text.deleteRule}
        deleteAbout={text.deleteAbout}
        remove={({ id }) => call('DELETE /api/alerts/{id}', { params: { id } })}
        onChanged={() => void rules.reload()}
      />
    </>
  );
}
