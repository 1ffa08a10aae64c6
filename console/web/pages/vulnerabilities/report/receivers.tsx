// Through which channel a report goes, and to whom: those that the channel allows.
import { createSignal, Show, type JSX } from 'solid-js';
import { createQuery } from '../../../client/query.js';
import { Notice } from '../../../kit/basics.js';
import { AreaField, SelectField } from '../../../kit/form.js';
import { reportsText as text } from '../../../texts/vm/records/reports.js';

export const splitAddresses = (typed: string): string[] => typed.split(/[\s,;]+/).filter(Boolean);

export function createReceivers() {
  const channels = createQuery('GET /api/v1/reports/channels');
  const all = () => channels.data()?.items ?? [];
  const [chosen, setChosen] = createSignal<string | null>(null);
  const [typed, setTyped] = createSignal<string | null>(null);
  const channel = () => all().find(({ id }) => id === chosen()) ?? all().find(({ works }) => works) ?? all()[0];
  // what the channel names stands there until something is typed
  const text = (): string => typed() ?? (channel()?.to ?? []).join('\n');
  return {
    channels,
    all,
    channel,
    text,
    choose: (id: string): void => {
      setChosen(id);
      setTyped(null);
    },
    type: setTyped,
    isReady: (): boolean => channel() !== undefined && splitAddresses(text()).length > 0,
    body: () => ({ channel_id: channel()?.id ?? '', recipients: splitAddresses(text()) }),
  };
}
export type Receivers = ReturnType<typeof createReceivers>;

export function ReceiverFields(props: { readonly of: Receivers }): JSX.Element {
  const allowed = (): string => {
    const { to = [], report_recipients: more = [] } = props.of.channel() ?? {};
    return [...to, ...more].join(', ');
  };
  return (
    <>
      <Show when={props.of.channels.data() !== undefined && props.of.all().length === 0}>
        <Notice tone="warn">{text.noChannel}</Notice>
      </Show>
      <Show when={props.of.all().length > 1}>
        <SelectField
          label={text.channel}
          value={props.of.channel()?.id ?? ''}
          options={props.of.all().map(({ id, name }) => [id, name] as const)}
          onChange={props.of.choose}
        />
      </Show>
      <Show when={props.of.channel()?.works === false}>
        <Notice tone="warn">{text.broken}</Notice>
      </Show>
      <Show when={props.of.channel()}>
        <AreaField
          label={text.recipients}
          help={text.recipientsHelp(allowed())}
          value={props.of.text()}
          onInput={props.of.type}
          rows={3}
        />
      </Show>
    </>
  );
}
