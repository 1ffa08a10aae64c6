// One site: its facts, and its form for those who may change it.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { mayAs } from '../../client/session.js';
import type { SettingsValues } from '../../client/settings-draft.js';
import { Badge, Button, Foreign, Pairs } from '../../kit/basics.js';
import { formsText } from '../../texts/setup/forms.js';
import { sitesText as text } from '../../texts/setup/sites.js';
import { withEntry, type EntryChange } from '../setup/entries.js';
import { Removal } from '../setup/removal.js';
import { SiteFormFields } from './site-form.js';
import type { SiteRow } from './site-rows.js';
import type { StoredSite } from './site-values.js';
import { CertificateCell, StateBadge } from './sites-cells.js';

function rulesOf({ view }: SiteRow): string {
  if (view === null) return text.ofInstallation;
  const { policy, disabled_categories: off, own_rules: own } = view.rules;
  return [
    policy === 'base' ? text.ofInstallation : text.ofItsOwn,
    ...(off.length > 0 ? [text.categoriesOff(off.map((key) => text.categoryNames[key] ?? key).join(', '))] : []),
    ...(own.length > 0 ? [text.ownRules(own.length)] : []),
  ].join('; ');
}

function Upstreams(props: { readonly of: SiteRow }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.health}</h3>
      <ul class="stack tight plain-list">
        <For
          each={props.of.upstreams ?? []}
          fallback={<li class="muted">{props.of.upstreams === null ? text.notKnownAbout : text.notCheckedAbout}</li>}
        >
          {(one) => (
            <li class="row wrap">
              <Badge tone={one.isUp ? 'good' : 'danger'}>{one.isUp ? text.up : text.down}</Badge>
              <code>
                <Foreign text={one.url} max={120} />
              </code>
              <span class="small faint">
                {text.atNode(one.node)} <Foreign text={one.detail} max={200} />
              </span>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

const withoutSite = (site: StoredSite, settings: SettingsValues): EntryChange => ({
  patch: { sites: withEntry((settings['sites'] ?? []) as readonly StoredSite[], site, null).list },
  place: '/sites',
});

function Facts(props: { readonly of: SiteRow }): JSX.Element {
  const pairs = (): readonly (readonly [string, JSX.Element])[] => {
    const { of } = props;
    const { rules, example } = of.view ?? {};
    return [
      [text.state, <StateBadge of={of.state} />],
      [text.reachedAt, <Foreign text={`${of.host ?? text.anyHost} ${of.prefix}`} max={160} />],
      [text.upstream, <Foreign text={of.upstream} max={160} />],
      ...(example === undefined
        ? []
        : [[text.exampleRequest, <Foreign text={text.goesTo(example.path, example.goes_to)} max={200} />] as const]),
      [text.rulesOf, rulesOf(of)],
      ...(rules === undefined
        ? []
        : [
            [text.paranoia, rules.paranoia_level] as const,
            [text.thresholds, text.thresholdsOf(rules.inbound_threshold, rules.outbound_threshold)] as const,
          ]),
      [text.requests, of.requests === null ? '–' : showCount(of.requests)],
      [text.blocked, of.blocked === null ? '–' : showCount(of.blocked)],
      [text.certificate, <CertificateCell of={of} />],
      ...(of.certificate?.error == null
        ? []
        : [[text.certificateError, <Foreign text={of.certificate.error} max={500} />] as const]),
      ...(of.certificate?.issued == null
        ? []
        : [[text.certificateEnds, showMoment(of.certificate.issued.not_after)] as const]),
    ];
  };
  return <Pairs of={pairs()} />;
}

export function SiteDrawer(props: {
  readonly of: SiteRow;
  readonly settings: SettingsValues;
  readonly onChanged: () => void;
  readonly onRemoved: () => void;
}): JSX.Element {
  const [isEditing, setEditing] = createSignal(false);
  const stored = (): StoredSite | undefined =>
    ((props.settings['sites'] ?? []) as readonly StoredSite[]).find(({ name }) => name === props.of.name);
  const saved = (): void => {
    setEditing(false);
    props.onChanged();
  };
  const query = (): string => encodeURIComponent(props.of.name);
  return (
    <Show
      when={isEditing() ? stored() : undefined}
      keyed
      fallback={
        <div class="stack">
          <Facts of={props.of} />
          <Show when={mayAs('admin') ? stored() : undefined}>
            {(site) => (
              <div class="row wrap">
                <Button look="primary" onClick={() => setEditing(true)}>
                  {formsText.edit}
                </Button>
                <Removal
                  text={text}
                  name={site().name}
                  change={(settings) => withoutSite(site(), settings)}
                  onRemoved={props.onRemoved}
                />
              </div>
            )}
          </Show>
          <Upstreams of={props.of} />
          <p class="row wrap">
            <A href={`/soc?site=${query()}`}>{text.seeEvents}</A>
            <A href={`/requests?site=${query()}`}>{text.seeRequests}</A>
            <A href="/admin/certificates">{text.seeCertificates}</A>
          </p>
        </div>
      }
    >
      {(site) => <SiteFormFields before={site} stored={props.settings} defaults={[]} onSaved={saved} />}
    </Show>
  );
}
