// The detection engine: what it sees now, what it decided, what other settings would decide, what it has
// learned, and how far it can be trusted.
// A verdict opens beside whichever of them is shown.
import { A, useSearchParams } from '@solidjs/router';
import { createSignal, Match, Switch, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { createChosen } from '../../kit/table/list-card.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { CalibrationPanel } from './calibration.js';
import { History } from './history.js';
import { Learning } from './learning.js';
import { Live } from './live.js';
import { VerdictDrawer } from './verdict-drawer.js';
import { WhatIf } from './what-if.js';

const everyMs = 5000;

type TabName = keyof typeof text.tabs;
const tabs = Object.entries(text.tabs) as [TabName, string][];

export function Engine(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'live';
  const soc = createQuery('GET /api/ai/soc', () => ({}), { everyMs });
  const [verdict, chooseVerdict] = createChosen('verdict');
  const [client, chooseClient] = createChosen('client');
  const [marked, setMarked] = createSignal(0);
  return (
    <>
      <PageHead title={text.engine} about={text.about}>
        <A class="button" href="/engine/simulation">
          {text.simulate}
        </A>
        <A class="button" href="/admin/settings/engine">
          {text.settings}
        </A>
      </PageHead>
      <Tabs label={text.engine} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'live'}>
          <Live of={soc} chosen={client()} onOpen={chooseClient} />
        </Match>
        <Match when={tab() === 'history'}>
          <History generation={marked()} chosen={verdict()} onOpen={chooseVerdict} />
        </Match>
        <Match when={tab() === 'what-if'}>
          <WhatIf />
        </Match>
        <Match when={tab() === 'learning'}>
          <Learning of={soc} />
        </Match>
        <Match when={tab() === 'calibration'}>
          <CalibrationPanel />
        </Match>
      </Switch>
      <VerdictDrawer
        id={verdict()}
        client={client()}
        onClose={() => setSearch({ verdict: '', client: '' })}
        onMarked={() => setMarked((count) => count + 1)}
      />
    </>
  );
}
