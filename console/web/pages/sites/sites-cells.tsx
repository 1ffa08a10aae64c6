// How the state of a site, its upstreams and its certificate are shown, in the list and beside it.
import { Show, type JSX } from 'solid-js';
import { Badge, type Tone } from '../../kit/basics.js';
import { sitesText as text } from '../../texts/setup/sites.js';
import type { SiteRow, SiteState } from './site-rows.js';

const stateTones: Readonly<Record<SiteState, Tone>> = { on: 'good', monitor: 'warn', off: 'neutral' };

export function StateBadge(props: { readonly of: SiteState }): JSX.Element {
  return (
    <span title={text.statesAbout[props.of]}>
      <Badge tone={stateTones[props.of]}>{text.states[props.of]}</Badge>
    </span>
  );
}

/** Not "none": it could not be read. */
const NotKnown = (): JSX.Element => (
  <span class="faint" title={text.notKnownAbout}>
    {text.notKnown}
  </span>
);

export function HealthCell(props: { readonly of: SiteRow }): JSX.Element {
  const up = (): number => (props.of.upstreams ?? []).filter(({ isUp }) => isUp).length;
  const all = (): number => (props.of.upstreams ?? []).length;
  return (
    <Show
      when={all() > 0}
      fallback={
        <Show when={props.of.upstreams} fallback={<NotKnown />}>
          <span class="faint" title={text.notCheckedAbout}>
            {text.notChecked}
          </span>
        </Show>
      }
    >
      <Badge tone={up() === all() ? 'good' : up() === 0 ? 'danger' : 'warn'}>{text.healthUp(up(), all())}</Badge>
    </Show>
  );
}

type Certificate = NonNullable<SiteRow['certificate']>;
const certificateTones: Readonly<Record<Certificate['state'], Tone>> = {
  waiting: 'info',
  serving: 'good',
  failing: 'warn',
  ended: 'danger',
  revoked: 'neutral',
};

export function CertificateCell(props: { readonly of: SiteRow }): JSX.Element {
  return (
    <Show
      when={props.of.certificate}
      fallback={
        <Show when={props.of.certificate === null} fallback={<NotKnown />}>
          <span class="faint">{text.noCertificate}</span>
        </Show>
      }
    >
      {(one) => (
        <span class="row wrap">
          <Badge tone={certificateTones[one().state]}>{text.certificateStates[one().state]}</Badge>
          <Show when={one().issued}>
            {(issued) => <span class="small nums">{text.until(issued().not_after.slice(0, 10))}</span>}
          </Show>
        </span>
      )}
    </Show>
  );
}
