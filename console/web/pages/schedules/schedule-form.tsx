// A schedule as it is made and changed.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { matchOf, type ResourceRow } from '../../kit/resource/resource-list.js';
import { kitText } from '../../texts/kit.js';
import { schedulesText as text } from '../../texts/vm/sources/schedules.js';
import { PayloadFields, type NewSchedule, type Payload } from './payload-fields.js';

export type Schedule = Item<'GET /api/v1/schedules'>;
type Kind = NewSchedule['kind'];
type Missed = NewSchedule['missed'];

export const kindsOf = (): readonly (readonly [Kind, string])[] => [
  ['scan', text.kinds.scan],
  ['exploit', text.kinds.exploit],
  ['feed', text.kinds.feed],
  ['report', text.kinds.report],
];

export function ScheduleForm(props: {
  readonly of: Schedule | null;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  const [name, setName] = createSignal(of?.name ?? '');
  const [kind, setKind] = createSignal<Kind>(of?.kind ?? 'scan');
  const [cron, setCron] = createSignal(of?.cron ?? '0 3 * * *');
  const [timezone, setTimezone] = createSignal(of?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [missed, setMissed] = createSignal<Missed>(of?.missed ?? 'run_once');
  const [payload, setPayload] = createSignal<Payload>(of?.payload ?? {});
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = { name: name(), cron: cron(), timezone: timezone(), missed: missed(), payload: payload() };
    let saved: Schedule | undefined;
    const isDone = await action.run(async () => {
      saved =
        of === null
          ? await call('POST /api/v1/schedules', { body: { ...body, kind: kind() } })
          : await call('PATCH /api/v1/schedules/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
    });
    if (!isDone || saved === undefined) return;
    tell(kitText.saved);
    props.onSaved(saved);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired={true} />
      <Show when={of === null}>
        <SelectField
          label={text.kind}
          value={kind()}
          options={kindsOf()}
          onChange={(value) => {
            setKind(value);
            setPayload({});
          }}
        />
      </Show>
      <PayloadFields kind={kind()} of={payload()} set={setPayload} />
      <TextField label={text.cron} help={text.cronHelp} value={cron()} onInput={setCron} isRequired={true} />
      <TextField label={text.timezone} help={text.timezoneHelp} value={timezone()} onInput={setTimezone} />
      <SelectField
        label={text.missed}
        value={missed()}
        options={[
          ['run_once', text.missedRun],
          ['skip', text.missedSkip],
        ]}
        onChange={setMissed}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()}>
          {kitText.save}
        </Button>
      </div>
    </form>
  );
}
