// A rate limit as its form holds it, and as the settings have it: the default one, a zone, or one of an endpoint.
import type { SettingsValues } from '../../client/settings-draft.js';
import { withEntry, type EntryChange } from '../setup/entries.js';

export interface Zone {
  readonly name: string;
  readonly match_path: string;
  readonly key: string;
  readonly events: number;
  readonly window: string;
  readonly dry_run: boolean;
  readonly headers: boolean;
}

export interface EndpointLimit {
  readonly path: string;
  readonly method: string;
  readonly events: number;
  readonly window: string;
  readonly dry_run: boolean;
  readonly headers: boolean;
}

/** What a form began with. */
export type StoredLimit =
  | { readonly kind: 'default'; readonly entry: null }
  | { readonly kind: 'zone'; readonly entry: Zone }
  | { readonly kind: 'endpoint'; readonly entry: EndpointLimit };

export const windowUnits = ['s', 'm', 'h', 'd'] as const;
export type WindowUnit = (typeof windowUnits)[number];

export interface LimitForm {
  readonly kind: StoredLimit['kind'];
  readonly name: string;
  readonly path: string;
  readonly method: string;
  readonly countedBy: 'ip' | 'global' | 'header';
  readonly header: string;
  readonly events: string;
  readonly count: string;
  readonly unit: WindowUnit;
  readonly isDry: boolean;
  readonly sendsHeaders: boolean;
}

export const blankLimit: LimitForm = {
  kind: 'endpoint',
  name: '',
  path: '',
  method: '*',
  countedBy: 'ip',
  header: '',
  events: '10',
  count: '1',
  unit: 'm',
  isDry: false,
  sendsHeaders: false,
};

function windowOf(window: string): Pick<LimitForm, 'count' | 'unit'> {
  const unit = windowUnits.find((one) => window.endsWith(one)) ?? 'm';
  return { count: window.slice(0, -1), unit };
}

export function formOf(limit: StoredLimit, stored: SettingsValues): LimitForm {
  if (limit.kind === 'default')
    return {
      ...blankLimit,
      kind: 'default',
      events: String(stored['rl_events']),
      ...windowOf(String(stored['rl_window'])),
      isDry: stored['rl_dry_run'] === true,
      sendsHeaders: stored['rl_headers'] === true,
    };
  const { events, window, dry_run: isDry, headers: sendsHeaders } = limit.entry;
  const common = { ...blankLimit, events: String(events), ...windowOf(window), isDry, sendsHeaders };
  if (limit.kind === 'endpoint')
    return { ...common, kind: 'endpoint', path: limit.entry.path, method: limit.entry.method };
  const { key, name, match_path: path } = limit.entry;
  const countedBy = key === 'global' ? 'global' : key.startsWith('header:') ? 'header' : 'ip';
  return { ...common, kind: 'zone', name, path, countedBy, header: key.replace(/^header:|^ip$|^global$/, '') };
}

/** What is no number goes as it was typed: the control plane says what is wrong with it. */
const numberOf = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);

/** A name of a zone that none has: of its path. */
function nameFor(path: string, taken: readonly string[]): string {
  const plain = path
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50);
  const name = plain === '' ? 'everything' : plain;
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number += 1) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`;
}

const keyOf = ({ countedBy, header }: LimitForm): string =>
  countedBy === 'header' ? `header:${header.trim()}` : countedBy;

const pathOf = ({ path }: LimitForm): string => path.trim();

/** The change of the settings that saves it; `before` null: a new one. Throws ChangedMeanwhile. */
export function changeFor(form: LimitForm, before: StoredLimit | null, stored: SettingsValues): EntryChange {
  const events = numberOf(form.events);
  const window = `${form.count.trim()}${form.unit}`;
  if (form.kind === 'default')
    return {
      patch: { rl_events: events, rl_window: window, rl_dry_run: form.isDry, rl_headers: form.sendsHeaders },
      place: '',
    };
  const common = { events, window, dry_run: form.isDry, headers: form.sendsHeaders };
  if (form.kind === 'endpoint') {
    const list = (stored['endpoint_limits'] ?? []) as readonly object[];
    const made = withEntry<object>(list, before?.entry ?? null, { ...common, path: pathOf(form), method: form.method });
    return { patch: { endpoint_limits: made.list }, place: `/endpoint_limits/${made.index}` };
  }
  const zones = (stored['rl_zones'] ?? []) as readonly Zone[];
  const name =
    form.name.trim() === ''
      ? nameFor(
          form.path,
          zones.map((zone) => zone.name),
        )
      : form.name.trim();
  const zone = { ...common, name, match_path: pathOf(form), key: keyOf(form) };
  const made = withEntry<object>(zones, before?.entry ?? null, zone);
  return { patch: { rl_zones: made.list }, place: `/rl_zones/${made.index}` };
}

/** The settings without it. Throws ChangedMeanwhile. */
export function removalOf(limit: StoredLimit, stored: SettingsValues): EntryChange {
  const name = limit.kind === 'zone' ? 'rl_zones' : 'endpoint_limits';
  return {
    patch: { [name]: withEntry<unknown>((stored[name] ?? []) as unknown[], limit.entry, null).list },
    place: '',
  };
}

/** What is asked of the recorded requests; null: it is not complete enough to be asked. */
export function effectBody(form: LimitForm) {
  const events = Number(form.events);
  const isWhole = Number.isInteger(events) && events >= 1 && events <= 10_000_000;
  const isPath = form.kind === 'default' || /^\/[^?#]*$/.test(pathOf(form));
  if (!isWhole || !isPath || !/^[1-9]\d{0,4}$/.test(form.count.trim())) return null;
  if (form.countedBy === 'header' && form.kind === 'zone') return null;
  return {
    kind: form.kind,
    ...(form.kind === 'default' ? {} : { path: pathOf(form) }),
    ...(form.kind === 'endpoint' && form.method !== '*' ? { method: form.method } : {}),
    key: form.kind === 'zone' ? keyOf(form) : 'ip',
    events,
    window: `${form.count.trim()}${form.unit}`,
  };
}
