// What a schedule starts: the members of its payload, by its kind.
import { Match, Switch, type JSX } from 'solid-js';
import type { Body } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { SelectField, TextField } from '../../kit/form.js';
import { reportsText } from '../../texts/vm/records/reports.js';
import { schedulesText as text } from '../../texts/vm/sources/schedules.js';
import { createApplications } from '../vulnerabilities/words.js';

export type NewSchedule = Required<Body<'POST /api/v1/schedules'>>;
export type Payload = NewSchedule['payload'];
const targetsMax = 500;
const sets = ['epss', 'kev', 'osv'] as const;

function ScanFields(props: { readonly of: Payload; readonly set: (payload: Payload) => void }): JSX.Element {
  const targets = createQuery('GET /api/v1/targets', () => ({ query: { limit: targetsMax, sort: 'url' as const } }));
  const profiles = createQuery('GET /api/v1/scans/profiles');
  const put = (name: string) => (value: string) => props.set({ ...props.of, [name]: value });
  return (
    <>
      <SelectField
        label={text.target}
        value={props.of['target_id'] ?? ''}
        options={[['', text.choose], ...(targets.data()?.items ?? []).map(({ id, url }) => [id, url ?? id] as const)]}
        from={targets}
        onChange={put('target_id')}
      />
      <SelectField
        label={text.profile}
        value={props.of['profile'] ?? ''}
        options={[
          ['', text.choose],
          ...(profiles.data()?.items ?? []).filter(({ id }) => id === null).map(({ name }) => [name, name] as const),
        ]}
        from={profiles}
        onChange={put('profile')}
      />
    </>
  );
}

const formats = ['pdf', 'html', 'csv', 'json'] as const;

function ReportFields(props: { readonly of: Payload; readonly set: (payload: Payload) => void }): JSX.Element {
  const applications = createApplications();
  const channels = createQuery('GET /api/v1/reports/channels');
  // the server takes no empty member
  const put = (name: string) => (value: string) =>
    props.set(Object.fromEntries(Object.entries({ ...props.of, [name]: value }).filter(([, one]) => one !== '')));
  const at = (name: string): string => props.of[name] ?? '';
  return (
    <>
      <TextField
        label={reportsText.reportTitle}
        value={at('title')}
        onInput={put('title')}
        placeholder={reportsText.titleOfSections}
      />
      <SelectField
        label={reportsText.about}
        value={at('application_id')}
        options={applications.options(reportsText.anyApplication)}
        onChange={put('application_id')}
      />
      <SelectField
        label={reportsText.format}
        value={at('format')}
        options={[['', text.choose], ...formats.map((one) => [one, one.toUpperCase()] as const)]}
        onChange={put('format')}
      />
      <TextField
        label={reportsText.sections}
        help={reportsText.sectionsHelp}
        value={at('sections')}
        onInput={put('sections')}
      />
      <TextField label={reportsText.days} value={at('days')} onInput={put('days')} placeholder="30" />
      <SelectField
        label={reportsText.channel}
        value={at('channel_id')}
        options={[
          ['', reportsText.anyChannel],
          ...(channels.data()?.items ?? []).map(({ id, name }) => [id, name] as const),
        ]}
        onChange={put('channel_id')}
        from={channels}
      />
      <TextField
        label={reportsText.recipients}
        help={reportsText.recipientsList}
        value={at('recipients')}
        onInput={put('recipients')}
      />
    </>
  );
}

export function PayloadFields(props: {
  readonly kind: string;
  readonly of: Payload;
  readonly set: (payload: Payload) => void;
}): JSX.Element {
  return (
    <Switch>
      <Match when={props.kind === 'scan'}>
        <ScanFields of={props.of} set={props.set} />
      </Match>
      <Match when={props.kind === 'exploit'}>
        <TextField
          label={text.replay}
          value={props.of['replay_of'] ?? ''}
          onInput={(value) => props.set({ replay_of: value })}
        />
      </Match>
      <Match when={props.kind === 'report'}>
        <ReportFields of={props.of} set={props.set} />
      </Match>
      <Match when={props.kind === 'feed'}>
        <SelectField
          label={text.set}
          value={props.of['set'] ?? ''}
          options={[['', text.choose], ...sets.map((name) => [name, name] as const)]}
          onChange={(value) => props.set({ set: value })}
        />
      </Match>
    </Switch>
  );
}
