// The channels that alert rules notify, each once with the rules that use it.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Button, Card, Foreign } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { alertsText } from '../../texts/apis/alerts.js';
import { connectorsText as text } from '../../texts/setup/connectors.js';
import { channelsOf, type Channel } from './channel-rows.js';

const everyMs = 15_000;

async function tryChannel({ ruleId }: Channel): Promise<void> {
  const action = createAction();
  const isDone = await action.run(async () => {
    const { sent, reason } = await call('POST /api/alerts/test', { body: { id: ruleId } });
    if (sent) tell(alertsText.sent);
    else tell(alertsText.notSent(reason ?? ''), true);
  });
  if (!isDone) tellProblem(new Error(action.problem() ?? ''));
}

const columns: readonly TableColumn<Channel>[] = [
  { title: text.channel, cell: ({ type }) => text.channelKinds[type] },
  { title: text.channelTarget, class: 'mono', cell: ({ target }) => <Foreign text={target} max={120} /> },
  { title: text.rules, class: 'words', cell: ({ rules }) => <Foreign text={rules.join(', ')} max={300} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (channel) => (
      <Show when={mayAs('admin')}>
        <Button isSmall onClick={() => void tryChannel(channel)}>
          {text.tryChannel}
        </Button>
      </Show>
    ),
  },
];

export function Channels(): JSX.Element {
  const alerts = createQuery('GET /api/alerts', () => ({}), { everyMs });
  return (
    <Card
      isFlush
      title={text.channels}
      actions={
        <A class="button small" href="/alerts">
          {text.addRule}
        </A>
      }
    >
      <Table
        label={text.list}
        columns={columns}
        of={ofQuery(alerts, ({ items }) => channelsOf(items))}
        keyOf={({ key }) => key}
        empty={text.noChannels}
        emptyAbout={text.noChannelsAbout}
      />
    </Card>
  );
}
