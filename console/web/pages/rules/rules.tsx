import { A, useNavigate } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';

import type { CustomRule } from './rule.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table.js';
import { ofQuery } from '../../kit/table-source.js';

const inShort = (rule: CustomRule): string =>
  rule.kind === 'raw' ? rule.seclang : `${rule.variable} @${rule.operator} ${rule.value}`;

function RuleTable(props: {
  readonly of: TableSource<CustomRule>;
  readonly onEnable: (id: number, isOn: boolean) => void;
}): JSX.Element {
  const columns: readonly TableColumn<CustomRule>[] = [
    {
      title: 'On',
      cell: (rule) => (
        <Switch
          label={`Rule ${rule.id} on`}
          isLabelHidden
          isOn={rule.enabled}
          isDisabled={!mayAs('operator')}
          onChange={(isOn) => props.onEnable(rule.id ?? 0, isOn)}
        />
      ),
    },
    { title: 'Id', isNumber: true, sortBy: (rule) => rule.id, cell: (rule) => rule.id },
    {
      title: 'Name',
      cell: (rule) => (
        <A href={`/waf/rules/${rule.id}`}>
          <Foreign text={rule.name} max={80} />
        </A>
      ),
    },
    { title: 'What it looks for', class: 'mono', cell: (rule) => <Foreign text={inShort(rule)} max={140} /> },
    { title: 'Action', cell: (rule) => <Badge>{rule.kind === 'raw' ? 'seclang' : rule.action}</Badge> },
  ];
  return (
    <Table
      label="Custom rules"
      columns={columns}
      of={props.of}
      keyOf={(rule) => String(rule.id)}
      empty="There are no rules of your own"
      emptyAbout="The Core Rule Set protects without them."
    />
  );
}

/** Rules of one's own. */
export function Rules(): JSX.Element {
  const navigate = useNavigate();
  const rules = createQuery('GET /api/rules');
  const enable = async (id: number, enabled: boolean): Promise<void> => {
    try {
      await call('PATCH /api/rules/{id}', { params: { id }, body: { enabled } });
      tell(`Rule ${id} is ${enabled ? 'on' : 'off'} with the next apply.`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    await rules.reload();
  };
  return (
    <>
      <PageHead
        title="Custom rules"
        about="Rules of your own, from a form or as seclang. Rules that are off are kept and not loaded."
      >
        <Show when={mayAs('operator')}>
          <Button look="primary" icon="plus" onClick={() => navigate('/waf/rules/new')}>
            New rule
          </Button>
        </Show>
      </PageHead>
      <Card isFlush>
        <RuleTable
          of={ofQuery(rules, ({ items }) => items as unknown as readonly CustomRule[])}
          onEnable={(id, isOn) => void enable(id, isOn)}
        />
      </Card>
    </>
  );
}
