// A site of the settings as its form holds it, and back. What the form does not show stays as it is stored.
export interface StoredSite {
  readonly name: string;
  readonly host: string | null;
  readonly prefix: string;
  readonly upstream: string;
  readonly upstreams: readonly { readonly url: string; readonly weight: number }[];
  readonly protected: boolean;
  readonly mode: 'On' | 'DetectionOnly' | null;
  readonly fail_mode: 'closed' | 'open';
  readonly host_policy: 'preserve' | 'upstream';
  readonly verify_upstream_certificate: boolean;
  readonly strip_prefix: boolean | null;
  readonly health_check: Readonly<Record<string, unknown>> & { readonly path: string };
  readonly paranoia_level: number | null;
  readonly inbound_threshold: number | null;
  readonly outbound_threshold: number | null;
  readonly second_opinion: 'off' | 'monitor' | 'enforce' | null;
  readonly early_blocking: boolean | null;
  readonly categories: Readonly<Record<string, { readonly enabled?: boolean | null }>> | null;
  readonly request_body_limit_bytes: number | null;
}

export type Choice3 = '' | 'on' | 'off';

export interface SiteForm {
  readonly name: string;
  readonly host: string;
  readonly prefix: string;
  readonly upstream: string;
  /** One a line, with a weight behind it where it is not 1. */
  readonly upstreams: string;
  readonly state: 'follow' | 'On' | 'DetectionOnly' | 'off';
  readonly failMode: StoredSite['fail_mode'];
  readonly hostPolicy: StoredSite['host_policy'];
  readonly isVerified: boolean;
  readonly stripPrefix: Choice3;
  readonly checkPath: string;
  readonly paranoia: string;
  readonly inbound: string;
  readonly outbound: string;
  readonly matchScoring: '' | 'off' | 'monitor' | 'enforce';
  readonly early: Choice3;
  readonly categories: Readonly<Record<string, Choice3>>;
}

export const blankSite: SiteForm = {
  name: '',
  host: '',
  prefix: '/',
  upstream: '',
  upstreams: '',
  state: 'follow',
  failMode: 'closed',
  hostPolicy: 'preserve',
  isVerified: true,
  stripPrefix: '',
  checkPath: '',
  paranoia: '',
  inbound: '',
  outbound: '',
  matchScoring: '',
  early: '',
  categories: {},
};

const choiceOf = (value: boolean | null | undefined): Choice3 => (value == null ? '' : value ? 'on' : 'off');
const flagOf = (choice: Choice3 | undefined): boolean | null =>
  choice === undefined || choice === '' ? null : choice === 'on';
const textOf = (value: number | null): string => (value === null ? '' : String(value));
/** What is no number goes as it was typed: the control plane says what is wrong with it. */
const numberOf = (typed: string): number | string | null => {
  const text = typed.trim();
  return text === '' ? null : Number.isNaN(Number(text)) ? text : Number(text);
};

export const formOf = (site: StoredSite): SiteForm => ({
  name: site.name,
  host: site.host ?? '',
  prefix: site.prefix,
  upstream: site.upstream,
  upstreams: site.upstreams.map(({ url, weight }) => (weight === 1 ? url : `${url} ${weight}`)).join('\n'),
  state: site.protected ? (site.mode ?? 'follow') : 'off',
  failMode: site.fail_mode,
  hostPolicy: site.host_policy,
  isVerified: site.verify_upstream_certificate,
  stripPrefix: choiceOf(site.strip_prefix),
  checkPath: site.health_check.path,
  paranoia: textOf(site.paranoia_level),
  inbound: textOf(site.inbound_threshold),
  outbound: textOf(site.outbound_threshold),
  matchScoring: site.second_opinion ?? '',
  early: choiceOf(site.early_blocking),
  categories: Object.fromEntries(
    Object.entries(site.categories ?? {}).map(([key, { enabled }]) => [key, choiceOf(enabled)]),
  ),
});

function upstreamsOf(typed: string): { readonly url: string; readonly weight: number | string }[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [url = '', weight = '1'] = line.split(/\s+/);
      return { url, weight: numberOf(weight) ?? 1 };
    });
}

/** Categories with a choice; what a category has beside it (paths where it is off) stays. null: none has anything. */
function categoriesOf(form: SiteForm, before: StoredSite | null): object | null {
  const keys = new Set([...Object.keys(before?.categories ?? {}), ...Object.keys(form.categories)]);
  const members = [...keys].flatMap((key) => {
    const { enabled: _, ...others } = before?.categories?.[key] ?? {};
    const enabled = flagOf(form.categories[key]);
    const member = { ...others, ...(enabled === null ? {} : { enabled }) };
    return Object.keys(member).length === 0 ? [] : [[key, member] as const];
  });
  return members.length === 0 ? null : Object.fromEntries(members);
}

/** As it is sent; `before` null: a new one. */
export function siteOf(form: SiteForm, before: StoredSite | null): Readonly<Record<string, unknown>> {
  const checkPath = form.checkPath.trim();
  return {
    ...before,
    name: form.name.trim(),
    host: form.host.trim() === '' ? null : form.host.trim(),
    prefix: form.prefix.trim() === '' ? '/' : form.prefix.trim(),
    upstream: form.upstream.trim(),
    upstreams: upstreamsOf(form.upstreams),
    protected: form.state !== 'off',
    mode:
      form.state === 'On' || form.state === 'DetectionOnly'
        ? form.state
        : form.state === 'off'
          ? (before?.mode ?? null)
          : null,
    fail_mode: form.failMode,
    host_policy: form.hostPolicy,
    verify_upstream_certificate: form.isVerified,
    strip_prefix: flagOf(form.stripPrefix),
    health_check: { ...before?.health_check, path: checkPath },
    paranoia_level: numberOf(form.paranoia),
    inbound_threshold: numberOf(form.inbound),
    outbound_threshold: numberOf(form.outbound),
    second_opinion: form.matchScoring === '' ? null : form.matchScoring,
    early_blocking: flagOf(form.early),
    categories: categoriesOf(form, before),
  };
}

/** What a site is called where nothing was typed: its host or that of its upstream, with a number where it is taken. */
export function nameFor({ host, upstream }: SiteForm, taken: readonly string[]): string {
  const from = host.trim() !== '' ? host : URL.canParse(upstream) ? new URL(upstream).hostname : '';
  const plain = from
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 90);
  const name = plain === '' ? 'site' : plain;
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number += 1) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`;
}
