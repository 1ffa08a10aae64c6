// A site is added or changed. To add one its upstream is enough; the rest is folded away until it is wanted.
import { A } from '@solidjs/router';
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { createStore } from 'solid-js/store';
import type { SettingsValues } from '../../client/settings-draft.js';
import { createQuery } from '../../client/query.js';
import { Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch as Toggle, TextField } from '../../kit/form.js';
import { formsText } from '../../texts/setup/forms.js';
import { sitesText as text } from '../../texts/setup/sites.js';
import { withEntry } from '../setup/entries.js';
import { createEntrySave, SaveFoot, type EntrySave } from '../setup/entry-save.js';
import type { SitesReply } from './site-rows.js';
import { blankSite, formOf, nameFor, siteOf, type Choice3, type SiteForm, type StoredSite } from './site-values.js';

interface PartProps {
  readonly form: SiteForm;
  readonly set: (part: Partial<SiteForm>) => void;
  readonly save: EntrySave;
  /** The settings of the installation. */
  readonly stored: SettingsValues;
}

/** Fields that show their problems themselves. */
const fields = [
  ...['name', 'host', 'prefix', 'upstream', 'upstreams', 'health_check/path'],
  ...['inbound_threshold', 'outbound_threshold', 'paranoia_level'],
];

function Where(props: PartProps): JSX.Element {
  const at = (field: string): string | null => props.save.problems().at(field);
  return (
    <>
      <TextField
        label={text.upstream}
        help={text.upstreamHelp}
        value={props.form.upstream}
        placeholder="http://127.0.0.1:3000"
        problem={at('upstream')}
        isRequired
        onInput={(upstream) => props.set({ upstream })}
      />
      <div class="grid-2">
        <TextField
          label={text.host}
          help={text.hostHelp}
          value={props.form.host}
          placeholder={text.hostExample}
          problem={at('host')}
          onInput={(host) => props.set({ host })}
        />
        <TextField
          label={text.prefix}
          help={text.prefixHelp}
          value={props.form.prefix}
          problem={at('prefix')}
          onInput={(prefix) => props.set({ prefix })}
        />
      </div>
      <TextField
        label={text.name}
        help={text.nameHelp}
        value={props.form.name}
        problem={at('name')}
        onInput={(name) => props.set({ name })}
      />
    </>
  );
}

function Protection(props: PartProps): JSX.Element {
  const installation = (): string => text.modes[String(props.stored['mode'])] ?? String(props.stored['mode']);
  return (
    <div class="grid-2">
      <SelectField
        label={text.mode}
        value={props.form.state}
        options={[
          ['follow', text.modeFollow(installation())],
          ['On', text.modeOn],
          ['DetectionOnly', text.modeMonitor],
          ['off', text.modeOff],
        ]}
        onChange={(state) => props.set({ state })}
      />
      <SelectField
        label={text.failMode}
        value={props.form.failMode}
        options={[
          ['closed', text.failClosed],
          ['open', text.failOpen],
        ]}
        onChange={(failMode) => props.set({ failMode })}
      />
    </div>
  );
}

const shownFlag = (value: unknown): string => (value === true ? formsText.on : formsText.off);

function FlagChoice(props: {
  readonly label: string;
  readonly value: Choice3;
  /** What an empty choice means. */
  readonly follows: string;
  readonly onChange: (value: Choice3) => void;
}): JSX.Element {
  return (
    <SelectField
      label={props.label}
      value={props.value}
      options={[
        ['', props.follows],
        ['on', formsText.on],
        ['off', formsText.off],
      ]}
      onChange={props.onChange}
    />
  );
}

function Policy(props: PartProps): JSX.Element {
  const follow = (value: unknown): string => formsText.followInstallation(String(value));
  const threshold = (label: string, field: 'inbound' | 'outbound'): JSX.Element => (
    <TextField
      label={label}
      value={props.form[field]}
      placeholder={follow(props.stored[`${field}_threshold`])}
      problem={props.save.problems().at(`${field}_threshold`)}
      onInput={(typed) => props.set({ [field]: typed })}
    />
  );
  const scoring = (): string => text.matchScorings[String(props.stored['second_opinion'])] ?? '';
  return (
    <>
      <p class="muted">{text.policyAbout}</p>
      <div class="grid-2">
        <SelectField
          label={text.paranoia}
          value={props.form.paranoia}
          options={[
            ['', follow(props.stored['paranoia_level'])],
            ...['1', '2', '3', '4'].map((level) => [level, level] as const),
          ]}
          problem={props.save.problems().at('paranoia_level')}
          onChange={(paranoia) => props.set({ paranoia })}
        />
        <FlagChoice
          label={text.early}
          value={props.form.early}
          follows={follow(shownFlag(props.stored['early_blocking']))}
          onChange={(early) => props.set({ early })}
        />
        {threshold(text.inbound, 'inbound')}
        {threshold(text.outbound, 'outbound')}
        <SelectField
          label={text.matchScoring}
          value={props.form.matchScoring}
          options={[
            ['', follow(scoring())],
            ...(['off', 'monitor', 'enforce'] as const).map((one) => [one, text.matchScorings[one] ?? one] as const),
          ]}
          onChange={(matchScoring) => props.set({ matchScoring })}
        />
      </div>
      <Categories {...props} />
    </>
  );
}

function Categories(props: PartProps): JSX.Element {
  const installed = (): Readonly<Record<string, { readonly enabled?: boolean }>> =>
    (props.stored['categories'] ?? {}) as Readonly<Record<string, { readonly enabled?: boolean }>>;
  return (
    <fieldset class="stack bare">
      <legend>{text.categories}</legend>
      <div class="grid-3">
        <For each={Object.entries(installed())}>
          {([key, { enabled }]) => (
            <FlagChoice
              label={text.categoryNames[key] ?? key}
              value={props.form.categories[key] ?? ''}
              follows={formsText.followInstallation(shownFlag(enabled))}
              onChange={(choice) => props.set({ categories: { ...props.form.categories, [key]: choice } })}
            />
          )}
        </For>
      </div>
    </fieldset>
  );
}

function Upstream(props: PartProps): JSX.Element {
  return (
    <>
      <AreaField
        label={text.furtherUpstreams}
        help={text.furtherUpstreamsHelp}
        rows={3}
        value={props.form.upstreams}
        problem={props.save.problems().at('upstreams')}
        onInput={(upstreams) => props.set({ upstreams })}
      />
      <div class="grid-2">
        <TextField
          label={text.checkPath}
          help={text.checkPathHelp}
          value={props.form.checkPath}
          placeholder={text.checkExample}
          problem={props.save.problems().at('health_check/path')}
          onInput={(checkPath) => props.set({ checkPath })}
        />
        <SelectField
          label={text.hostPolicy}
          value={props.form.hostPolicy}
          options={[
            ['preserve', text.hostPreserve],
            ['upstream', text.hostUpstream],
          ]}
          onChange={(hostPolicy) => props.set({ hostPolicy })}
        />
        <FlagChoice
          label={text.stripPrefix}
          value={props.form.stripPrefix}
          follows={text.stripFollow}
          onChange={(stripPrefix) => props.set({ stripPrefix })}
        />
      </div>
      <Toggle label={text.verify} isOn={props.form.isVerified} onChange={(isVerified) => props.set({ isVerified })} />
    </>
  );
}

/** What becomes of the sites of the environment: the licence may allow fewer than would be saved. */
function Defaults(props: {
  readonly of: SitesReply['defaults'];
  readonly mayKeep: boolean | undefined;
  readonly keeps: boolean;
  readonly onChange: (keeps: boolean) => void;
}): JSX.Element {
  const names = (): string => props.of.map(({ name }) => name).join(', ');
  return (
    <Switch fallback={<Notice tone="warn">{text.defaultsEnd(names())}</Notice>}>
      <Match when={props.mayKeep === undefined}>{null}</Match>
      <Match when={props.mayKeep}>
        <Toggle label={text.keepDefaults(names())} isOn={props.keeps} onChange={props.onChange} />
      </Match>
    </Switch>
  );
}

/** Sites of the environment as they are saved beside the first one, so that they stay protected. */
const savedDefault = ({ name, prefix, upstream }: SitesReply['defaults'][number]): object => ({
  name,
  prefix,
  upstream,
  protected: true,
});

export function SiteFormFields(props: {
  /** null: a new one. */
  readonly before: StoredSite | null;
  readonly stored: SettingsValues;
  /** Sites of the environment that the first saved one would replace. */
  readonly defaults: SitesReply['defaults'];
  readonly onSaved: () => void;
}): JSX.Element {
  const before = props.before;
  const [form, set] = createStore<SiteForm>(before === null ? { ...blankSite } : formOf(before));
  const [keepsDefaults, setKeepsDefaults] = createSignal(true);
  const licence = createQuery('GET /api/license', () => (props.defaults.length > 0 ? {} : null));
  const mayKeep = (): boolean | undefined => {
    const allowed = licence.data()?.allowed_domains;
    return allowed === undefined ? undefined : allowed > props.defaults.length;
  };
  const save = createEntrySave(fields);
  const send = async (isApplied: boolean): Promise<void> => {
    const isDone = await save.run((stored) => {
      const saved = (stored['sites'] ?? []) as readonly StoredSite[];
      const isFirst = before === null && saved.length === 0 && keepsDefaults() && mayKeep() === true;
      const list: readonly object[] = isFirst ? props.defaults.map(savedDefault) : saved;
      const names = list.map((one) => (one as { readonly name: string }).name);
      const site = siteOf(form.name.trim() === '' ? { ...form, name: nameFor(form, names) } : form, before);
      const made = withEntry<object>(list, before, site);
      return { patch: { sites: made.list }, place: `/sites/${made.index}` };
    }, isApplied);
    if (isDone) props.onSaved();
  };
  const parts = (): PartProps => ({ form, set, save, stored: props.stored });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send(false);
      }}
    >
      <Where {...parts()} />
      <Show when={before === null && props.defaults.length > 0}>
        <Defaults of={props.defaults} mayKeep={mayKeep()} keeps={keepsDefaults()} onChange={setKeepsDefaults} />
      </Show>
      <details class="fold" open={before !== null}>
        <summary>{text.protection}</summary>
        <div class="stack">
          <Protection {...parts()} />
        </div>
      </details>
      <details class="fold">
        <summary>{text.policy}</summary>
        <div class="stack">
          <Policy {...parts()} />
        </div>
      </details>
      <details class="fold">
        <summary>{text.upstreamSettings}</summary>
        <div class="stack">
          <Upstream {...parts()} />
        </div>
      </details>
      <Show when={before !== null}>
        <A class="small" href="/admin/settings/sites#sites">
          {text.advanced}
        </A>
      </Show>
      <SaveFoot
        of={save}
        isBlank={form.upstream.trim() === '' && form.upstreams.trim() === ''}
        onSave={(isApplied) => void send(isApplied)}
      />
    </form>
  );
}
