// An alert rule is written: which number, when, and who is told.
import { createSignal, Show, type JSX } from 'solid-js';
import { createStore } from 'solid-js/store';
import { createAction } from '../../client/action.js';
import { call, type Body } from '../../client/http.js';
import { typedNumber } from '../../kit/fields/typed-number.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { alertsText as text } from '../../texts/apis/alerts.js';
import type { AlertRule } from './alert-rules.js';

type RuleBody = Body<'POST /api/alerts'>;
const severities = ['critical', 'error', 'warning', 'info'] as const;

const blank = {
  name: '',
  metric: 'block_rate' as RuleBody['metric'],
  comparison: 'above' as 'above' | 'below',
  threshold: '20',
  window: '5',
  holds: '0',
  cooldown: '30',
  severity: 'warning' as (typeof severities)[number],
  site: '',
  type: 'webhook' as RuleBody['type'],
  target: '',
};
type Draft = typeof blank;

const draftOf = (rule: AlertRule): Draft => ({
  name: rule.name,
  metric: rule.metric,
  comparison: rule.comparison ?? 'above',
  threshold: String(rule.threshold),
  window: String(rule.window_min),
  holds: String(rule.for_min ?? 0),
  cooldown: String(rule.cooldown_min),
  severity: rule.severity ?? 'warning',
  site: rule.site ?? '',
  type: rule.type,
  target: rule.target,
});

const optionsOf = <Name extends string>(words: Readonly<Record<Name, string>>) =>
  Object.entries(words) as [Name, string][];

/** Fires at the threshold or below; there is nothing to choose. */
const missing = 'missing_data';

/** The numbers that a metric begins with: no other one means the same by them. */
const metricOf = (metric: Draft['metric'], { metric: before, comparison, threshold }: Draft): Partial<Draft> => {
  if (metric === missing) return { metric, comparison: 'below', threshold: '0' };
  return before === missing
    ? { metric, comparison: blank.comparison, threshold: blank.threshold }
    : { metric, comparison, threshold };
};

const unitOf = (metric: Draft['metric']): string => (text.units as Readonly<Record<string, string>>)[metric] ?? '';

function Numbers(props: { readonly of: Draft; readonly onChange: (part: Partial<Draft>) => void }): JSX.Element {
  const minutes = (label: string, name: 'window' | 'holds' | 'cooldown'): JSX.Element => (
    <TextField
      label={label}
      type="number"
      unit={text.minutes}
      value={props.of[name]}
      isRequired
      onInput={(typed) => props.onChange({ [name]: typed })}
    />
  );
  return (
    <>
      <div class="grid-3">
        <SelectField
          label={text.metric}
          value={props.of.metric}
          options={optionsOf(text.metrics)}
          onChange={(metric) => props.onChange(metricOf(metric, props.of))}
        />
        <SelectField
          label={text.comparison}
          value={props.of.comparison}
          options={props.of.metric === missing ? [['below', text.atMost] as const] : optionsOf(text.comparisons)}
          onChange={(comparison) => props.onChange({ comparison })}
        />
        <TextField
          label={text.threshold}
          type="number"
          unit={unitOf(props.of.metric)}
          value={props.of.threshold}
          isRequired
          onInput={(threshold) => props.onChange({ threshold })}
        />
      </div>
      <div class="grid-3">
        {minutes(text.window, 'window')}
        {minutes(text.holds, 'holds')}
        {minutes(text.cooldown, 'cooldown')}
      </div>
    </>
  );
}

/** What is kept secret comes back as asterisks, and is sent back as that unless it was typed anew. */
const bodyOf = (draft: Draft, before: AlertRule | null, secret: string, enabled: boolean): RuleBody => ({
  name: draft.name.trim(),
  enabled,
  metric: draft.metric,
  comparison: draft.comparison,
  threshold: typedNumber(draft.threshold),
  window_min: typedNumber(draft.window),
  for_min: typedNumber(draft.holds),
  cooldown_min: typedNumber(draft.cooldown),
  severity: draft.severity,
  site: draft.site.trim() === '' ? null : draft.site.trim(),
  type: draft.type,
  target: draft.target.trim(),
  ...(before?.repeat === undefined ? {} : { repeat: before.repeat }),
  ...(before?.endpoint === undefined ? {} : { endpoint: before.endpoint }),
  ...(secret !== '' ? { secret } : before?.secret == null ? {} : { secret: before.secret }),
});

export function AlertForm(props: { readonly of: AlertRule | null; readonly onSaved: () => void }): JSX.Element {
  const before = props.of;
  const [draft, setDraft] = createStore<Draft>(before === null ? { ...blank } : draftOf(before));
  const [secret, setSecret] = createSignal('');
  const [isOn, setOn] = createSignal(before?.enabled !== false);
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = bodyOf(draft, before, secret(), isOn());
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/alerts', { body })
        : call('PUT /api/alerts/{id}', { params: { id: before.id }, body }),
    );
    if (!isDone) return;
    tell(text.saved);
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
      <TextField label={text.name} value={draft.name} onInput={(name) => setDraft({ name })} isRequired />
      <Numbers of={draft} onChange={setDraft} />
      <div class="grid-2">
        <SelectField
          label={text.severity}
          value={draft.severity}
          options={severities.map((word) => [word, word] as const)}
          onChange={(severity) => setDraft({ severity })}
        />
        <TextField label={text.site} help={text.siteHelp} value={draft.site} onInput={(site) => setDraft({ site })} />
        <SelectField
          label={text.channel}
          value={draft.type}
          options={optionsOf(text.channels)}
          onChange={(type) => setDraft({ type })}
        />
        <TextField
          label={text.target}
          help={text.targetHelp}
          value={draft.target}
          onInput={(target) => setDraft({ target })}
          isRequired
        />
      </div>
      <Show when={draft.type === 'webhook'}>
        <TextField label={text.secret} type="password" help={text.secretHelp} value={secret()} onInput={setSecret} />
      </Show>
      <Switch label={text.isOn} isOn={isOn()} onChange={setOn} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={draft.name.trim() === ''}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
