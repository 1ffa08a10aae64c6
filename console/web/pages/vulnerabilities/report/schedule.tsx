// The report that is set up on the page, built and sent by the clock: a schedule like any other, with the words of it.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body } from '../../../client/http.js';
import { namedZone } from '../../../client/time-zone.js';
import { Button, Notice } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { Overlay, tell } from '../../../kit/overlays.js';
import { reportsText as text } from '../../../texts/vm/records/reports.js';
import { createReceivers, ReceiverFields } from './receivers.js';
import { rhythms, toCron, toIana, type Rhythm } from './times.js';

/** What the page is set to. */
export interface ScheduledReport {
  readonly payload: Body<'POST /api/v1/schedules'>['payload'];
  /** For people: sections, period and format. */
  readonly about: string;
}

const monthdays = Array.from({ length: 28 }, (_, index) => [String(index + 1), String(index + 1)] as const);

function createTimes() {
  const [rhythm, setRhythm] = createSignal<Rhythm>('weekly');
  const [weekday, setWeekday] = createSignal('1');
  const [monthday, setMonthday] = createSignal('1');
  const [time, setTime] = createSignal('08:00');
  const cron = (): string | null =>
    toCron({ rhythm: rhythm(), time: time(), weekday: weekday(), monthday: monthday() });
  return { rhythm, setRhythm, weekday, setWeekday, monthday, setMonthday, time, setTime, cron };
}

function TimeFields(props: { readonly of: ReturnType<typeof createTimes> }): JSX.Element {
  return (
    <div class="grid grid-3">
      <SelectField
        label={text.rhythm}
        value={props.of.rhythm()}
        options={rhythms.map((one) => [one, text.rhythms[one]] as const)}
        onChange={props.of.setRhythm}
      />
      <Show when={props.of.rhythm() === 'weekly'}>
        <SelectField
          label={text.weekday}
          value={props.of.weekday()}
          options={text.weekdays.map((name, index) => [String(index), name] as const)}
          onChange={props.of.setWeekday}
        />
      </Show>
      <Show when={props.of.rhythm() === 'monthly'}>
        <SelectField
          label={text.monthday}
          value={props.of.monthday()}
          options={monthdays}
          onChange={props.of.setMonthday}
        />
      </Show>
      <TextField
        label={text.time}
        help={text.timeHelp(namedZone())}
        value={props.of.time()}
        onInput={props.of.setTime}
        problem={props.of.cron() === null ? text.timeProblem : null}
      />
    </div>
  );
}

function ScheduleForm(props: { readonly of: ScheduledReport; readonly onSaved: () => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const times = createTimes();
  const receivers = createReceivers();
  const action = createAction();
  const save = async (): Promise<void> => {
    const cron = times.cron();
    if (cron === null) return;
    const { channel_id: channel, recipients } = receivers.body();
    const payload = { ...props.of.payload, channel_id: channel, recipients: recipients.join(',') };
    const body = { name: name().trim(), kind: 'report' as const, cron, timezone: toIana(namedZone()), payload };
    if (!(await action.run(() => call('POST /api/v1/schedules', { body })))) return;
    tell(text.scheduled);
    props.onSaved();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <p class="muted">{text.scheduleAbout(props.of.about)}</p>
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <TimeFields of={times} />
      <ReceiverFields of={receivers} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={!receivers.isReady() || name().trim() === '' || times.cron() === null}
        >
          {text.save}
        </Button>
      </div>
    </form>
  );
}

export function ScheduleReport(props: {
  readonly of: ScheduledReport | null;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.of !== null} title={text.scheduleTitle} onClose={props.onClose}>
      <Show when={props.of}>{(of) => <ScheduleForm of={of()} onSaved={props.onClose} />}</Show>
    </Overlay>
  );
}
