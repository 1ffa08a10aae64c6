import { A, useNavigate } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { call, Refused } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Empty, Foreign, PageHead } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import type { CustomRule } from './rule.js';

const inShort = (rule: CustomRule): string =>
  rule.kind === 'raw' ? rule.seclang : `${rule.variable} @${rule.operator} ${rule.value}`;

function RuleTable(props: {
  readonly rules: readonly CustomRule[];
  readonly onEnable: (id: number, isOn: boolean) => void;
}): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>On</th>
            <th class="num">Id</th>
            <th>Name</th>
            <th>What it looks for</th>
            <th>Action</th>
          </tr>
        </thead>
        <tbody>
          <For each={props.rules}>
            {(rule) => (
              <tr>
                <td>
                  <Switch
                    label={`Rule ${rule.id} on`}
                    isLabelHidden
                    isOn={rule.enabled}
                    isDisabled={!mayAs('operator')}
                    onChange={(isOn) => props.onEnable(rule.id ?? 0, isOn)}
                  />
                </td>
                <td class="num">{rule.id}</td>
                <td>
                  <A href={`/waf/rules/${rule.id}`}>
                    <Foreign text={rule.name} max={80} />
                  </A>
                </td>
                <td class="mono">
                  <Foreign text={inShort(rule)} max={140} />
                </td>
                <td>
                  <Badge>{rule.kind === 'raw' ? 'seclang' : rule.action}</Badge>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
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
      <Read of={rules}>
        {(data) => (
          <Card isFlush>
            <Show
              when={data().items.length > 0}
              fallback={<Empty title="There are no rules of your own">The Core Rule Set protects without them.</Empty>}
            >
              <RuleTable
                rules={data().items as unknown as readonly CustomRule[]}
                onEnable={(id, isOn) => void enable(id, isOn)}
              />
            </Show>
          </Card>
        )}
      </Read>
    </>
  );
}
