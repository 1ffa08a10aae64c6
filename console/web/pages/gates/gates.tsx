// Gates of pipelines: what they answered, the runs that asked them, what they ask, and how a pipeline is connected.
import { useSearchParams } from '@solidjs/router';
import { Match, Switch, type JSX } from 'solid-js';
import { createVmAccess } from '../../client/vm-access.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { hooksText } from '../../texts/vm/hooks.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Connect } from './connect.js';
import { Definitions } from './definitions.js';
import { Hooks } from './hooks.js';
import { Runs } from './runs.js';
import { Verdicts } from './verdicts.js';

type TabName = 'verdicts' | 'runs' | 'gates' | 'hooks' | 'connect';
const tabs: readonly (readonly [TabName, string])[] = [
  ['verdicts', text.verdicts],
  ['runs', text.runs],
  ['gates', text.definitions],
  ['hooks', hooksText.hooks],
  ['connect', text.tryIt],
];

export function PipelineGates(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const applications = createApplications();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'verdicts';
  return (
    <>
      <PageHead title={text.gates} about={text.gatesAbout} />
      <Tabs label={text.gates} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'verdicts'}>
          <Verdicts applications={applications} access={access} />
        </Match>
        <Match when={tab() === 'runs'}>
          <Runs applications={applications} />
        </Match>
        <Match when={tab() === 'gates'}>
          <Definitions mayManage={access.may('manage_gates')} />
        </Match>
        <Match when={tab() === 'hooks'}>
          <Hooks applications={applications} mayManage={access.may('manage_gates')} />
        </Match>
        <Match when={tab() === 'connect'}>
          <Connect applications={applications} mayAsk={access.may('run_ci')} />
        </Match>
      </Switch>
    </>
  );
}
