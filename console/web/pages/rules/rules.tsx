import { A, useNavigate } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { inWords } from './conditions.js';
import type { CustomRule } from './rule.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { rulesText as text } from '../../texts/rules/rules.js';

function inShort(rule: CustomRule): string {
  if (rule.kind === 'raw') return rule.seclang;
  return rule.kind === 'conditions' ? inWords(rule) : `${rule.variable} @${rule.operator} ${rule.value}`;
}

/** Hits of the last days, by the number of the rule. */
type Hits = ReadonlyMap<number, { readonly hits: number; readonly last_at: string | null }>;
const hitDays = 7;

function RuleTable(props: {
  readonly of: TableSource<CustomRule>;
  /** undefined: not counted yet. */
  readonly hits: Hits | undefined;
  readonly onEnable: (id: number, isOn: boolean) => void;
}): JSX.Element {
  const columns: readonly TableColumn<CustomRule>[] = [
    {
      title: text.on,
      cell: (rule) => (
        <Switch
          label={text.ruleOn(rule.id)}
          isLabelHidden
          isOn={rule.enabled}
          isDisabled={!mayAs('operator')}
          onChange={(isOn) => props.onEnable(rule.id ?? 0, isOn)}
        />
      ),
    },
    { title: text.id, isNumber: true, sortBy: (rule) => rule.id, cell: (rule) => rule.id },
    {
      title: text.name,
      cell: (rule) => (
        <A href={`/waf/rules/${rule.id}`}>
          <Foreign text={rule.name} max={80} />
        </A>
      ),
    },
    { title: text.whatLooksFor, class: 'mono', cell: (rule) => <Foreign text={inShort(rule)} max={140} /> },
    {
      title: text.hits(hitDays),
      isNumber: true,
      sortBy: (rule) => props.hits?.get(rule.id ?? 0)?.hits ?? 0,
      cell: (rule) => (
        <Show when={props.hits} fallback={text.notCounted}>
          {(hits) => {
            const of = () => hits().get(rule.id ?? 0);
            return (
              <A href={`/soc?rule_id=${rule.id}`} title={text.lastHit(showMoment(of()?.last_at))}>
                {showCount(of()?.hits ?? 0)}
              </A>
            );
          }}
        </Show>
      ),
    },
    { title: text.action, cell: (rule) => <Badge>{rule.kind === 'raw' ? 'seclang' : rule.action}</Badge> },
  ];
  return (
    <Table
      label={text.customRules}
      columns={columns}
      of={props.of}
      keyOf={(rule) => String(rule.id)}
      empty={text.thereAreNoRules}
      emptyAbout={text.coreRuleSetProtects}
    />
  );
}

/** Rules of one's own. */
export function Rules(): JSX.Element {
  const navigate = useNavigate();
  const rules = createQuery('GET /api/rules');
  const evidence = createQuery('GET /api/rules/evidence', () => ({ query: { days: hitDays, limit: 1000 } }));
  const hits = (): Hits | undefined => {
    const counted = evidence.data();
    if (counted === undefined) return undefined;
    return new Map(counted.rules.map(({ rule_id: id, hits, last_at }) => [id, { hits, last_at }]));
  };
  const enable = async (id: number, enabled: boolean): Promise<void> => {
    try {
      await call('PATCH /api/rules/{id}', { params: { id }, body: { enabled } });
      tell(text.ruleNextApply(id, enabled ? 'on' : 'off'));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    await rules.reload();
  };
  return (
    <>
      <PageHead title={text.customRules} about={text.rulesYourOwnFrom}>
        <Show when={mayAs('operator')}>
          <Button look="primary" icon="plus" onClick={() => navigate('/waf/rules/new')}>
            {text.newRule}
          </Button>
        </Show>
      </PageHead>
      <Card isFlush>
        <RuleTable
          hits={hits()}
          of={ofQuery(rules, ({ items }) => items as unknown as readonly CustomRule[])}
          onEnable={(id, isOn) => void enable(id, isOn)}
        />
      </Card>
    </>
  );
}
