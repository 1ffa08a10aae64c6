import { Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { account, chooseTimeZone } from '../../client/session.js';
import { timeZone, timeZones } from '../../client/time-zone.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { PasswordForm } from './password-form.js';
import { TwoFactor } from './two-factor.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { accountText as text } from '../../texts/account.js';

type Session = Item<'GET /api/account/sessions'>;

function Sessions(): JSX.Element {
  const list = createPagedList('GET /api/account/sessions', () => ({}));
  const end = async ({ id }: Session): Promise<void> => {
    try {
      await call('DELETE /api/account/sessions/{id}', { params: { id } });
      tell(text.sessionHasEnded);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  const columns: readonly TableColumn<Session>[] = [
    {
      title: text.begun,
      class: 'nums',
      sortBy: (session) => session.created_at,
      cell: (session) => showMoment(session.created_at),
    },
    { title: text.from, class: 'mono', sortBy: (session) => session.source_ip, cell: (session) => session.source_ip },
    { title: text.with, cell: (session) => <Foreign text={session.user_agent} max={80} /> },
    {
      title: text.seen,
      class: 'nums',
      sortBy: (session) => session.last_seen_at,
      cell: (session) => showMoment(session.last_seen_at),
    },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (session) => (
        <Show when={!session.current} fallback={<Badge tone="good">{text.thisOne}</Badge>}>
          <Button isSmall onClick={() => void end(session)}>
            {text.end}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Card title={text.sessions} isFlush>
      <Table
        label={text.sessions}
        columns={columns}
        of={ofPages(list)}
        keyOf={(session) => session.id}
        empty={text.thereAreNoSessions}
      />
    </Card>
  );
}

function TimeZoneCard(): JSX.Element {
  const choose = async (chosen: string): Promise<void> => {
    try {
      await chooseTimeZone(timeZones.find((zone) => zone === chosen) ?? 'GMT+4');
      tell(text.timeZoneKept);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
  };
  return (
    <Card title={text.timeZone}>
      <SelectField
        label={text.timeZone}
        value={timeZone()}
        options={timeZones.map((zone) => [zone, text.timeZones[zone]])}
        help={text.timeZoneAbout}
        onChange={(zone) => void choose(zone)}
      />
    </Card>
  );
}

export function Account(): JSX.Element {
  return (
    <>
      <PageHead title={text.myAccount} about={account()?.email} />
      <div class="grid-2">
        <Card title={text.password}>
          <Show when={account()?.origin === 'local'} fallback={<p class="muted">{text.yourProviderKeeps}</p>}>
            <PasswordForm onDone={() => {}} />
          </Show>
        </Card>
        <Card title={text.secondFactor}>
          <TwoFactor />
        </Card>
      </div>
      <TimeZoneCard />
      <Sessions />
    </>
  );
}
