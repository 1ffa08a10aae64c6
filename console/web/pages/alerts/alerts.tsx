// Who is told when a number stays where it should not be, and where events are sent on to.
import { useSearchParams } from '@solidjs/router';
import { Match, Switch, type JSX } from 'solid-js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { alertsText as text } from '../../texts/apis/alerts.js';
import { AlertRules } from './alert-rules.js';
import { Connectors } from './connectors.js';

type TabName = 'rules' | 'connectors';
const tabs: readonly (readonly [TabName, string])[] = [
  ['rules', text.rules],
  ['connectors', text.connectors],
];

export function Alerts(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => (search['view'] === 'connectors' ? 'connectors' : 'rules');
  return (
    <>
      <PageHead title={text.alerts} about={text.alertsAbout} />
      <Tabs label={text.alerts} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'rules'}>
          <AlertRules />
        </Match>
        <Match when={tab() === 'connectors'}>
          <Connectors />
        </Match>
      </Switch>
    </>
  );
}
