// What happens at run time: events of clusters, rules over them, and sensors that are registered.
import { useSearchParams } from '@solidjs/router';
import { Match, Switch, type JSX } from 'solid-js';
import { createVmAccess } from '../../client/vm-access.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { clustersText as text } from '../../texts/vm/models/clusters.js';
import { createApplications } from '../vulnerabilities/words.js';
import { ClusterEvents } from './events.js';
import { ClusterRules } from './rules.js';
import { KnownClusters, RightsOfClusters } from './known.js';
import { Sensors } from './sensors.js';

type View = keyof typeof text.views;
const views = Object.entries(text.views) as readonly (readonly [View, string])[];

export function Clusters(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const view = (): View => views.find(([name]) => name === search['view'])?.[0] ?? 'events';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs
        label={text.title}
        tabs={views}
        chosen={view()}
        onChoose={(name) => setSearch({ view: name === 'events' ? '' : name, add: '' })}
      />
      <Switch fallback={<ClusterEvents applications={applications} />}>
        <Match when={view() === 'rules'}>
          <ClusterRules mayEdit={access.may('edit_k8s')} />
        </Match>
        <Match when={view() === 'clusters'}>
          <KnownClusters mayEdit={access.may('edit_k8s')} />
        </Match>
        <Match when={view() === 'rights'}>
          <RightsOfClusters />
        </Match>
        <Match when={view() === 'sensors'}>
          <Sensors applications={applications} mayEdit={access.may('manage_sensors')} />
        </Match>
      </Switch>
    </>
  );
}
