// Targets: the addresses of applications, and groups of them.
import { useSearchParams } from '@solidjs/router';
import { Match, Switch, type JSX } from 'solid-js';
import { createVmAccess } from '../../client/vm-access.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { targetsText as text } from '../../texts/resources/targets.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Groups } from './groups.js';
import { TargetList } from './target-list.js';

type TabName = 'targets' | 'groups';
const tabs: readonly (readonly [TabName, string])[] = [
  ['targets', text.targets],
  ['groups', text.groups],
];

export function Targets(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'targets';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs
        label={text.views}
        tabs={tabs}
        chosen={tab()}
        onChoose={(view) => setSearch({ view, q: '', kind: '', application_id: '' })}
      />
      <Switch>
        <Match when={tab() === 'targets'}>
          <TargetList
            applications={applications}
            mayEdit={access.may('edit_assets')}
            mayRun={access.may('run_scans')}
          />
        </Match>
        <Match when={tab() === 'groups'}>
          <Groups applications={applications} mayEdit={access.may('edit_assets')} mayRun={access.may('run_scans')} />
        </Match>
      </Switch>
    </>
  );
}
