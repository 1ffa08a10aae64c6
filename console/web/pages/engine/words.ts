// How verdicts of the detection engine are named, put in order and coloured.
import type { Item, Reply } from '../../client/http.js';
import type { Tone } from '../../kit/basics.js';
import { engineText as text } from '../../texts/engine/engine.js';

export type Soc = Reply<'GET /api/ai/soc'>;
export type LiveClient = Soc['top'][number];
export type Brief = Item<'GET /api/ai/history'>;
export type Verdict = Reply<'GET /api/ai/verdicts/{id}'>;
export type Signal = Verdict['why'][number];
export type Rung = LiveClient['verdict'];
export type Layer = Signal['layer'];

/** The strongest first. */
export const rungs = ['BLOCK', 'CHALLENGE', 'RATE_LIMIT', 'ALLOW'] as const;
export const layers = ['signature', 'api_abuse', 'anomaly', 'bot'] as const;
export const rungTones: Readonly<Record<Rung, Tone>> = {
  BLOCK: 'danger',
  CHALLENGE: 'warn',
  RATE_LIMIT: 'info',
  ALLOW: 'neutral',
};

export const rungIn = (given: unknown): Rung | '' => rungs.find((one) => one === given) ?? '';

/** `signature 80, bot 12`: layers that say something. */
export const layerLine = (of: Readonly<Record<string, number>>): string =>
  layers
    .filter((layer) => (of[layer] ?? 0) > 0)
    .map((layer) => `${text.layers[layer]} ${of[layer] ?? 0}`)
    .join(', ') || text.nothing;

/** Whom a verdict is about: an address, or a principal by its kind of credential and the keyed hash of it. */
export function whomOf({ subject, address }: Pick<Brief, 'subject' | 'address'>): string {
  const { credential, id } = subject;
  return credential === null || id === null ? address : text.principalOf(text.credentials[credential], id);
}

/** The same of a key as lists of measures and addresses of pages have it: `bearer:0123456789abcdef`. */
export function nameOfKey(key: string): string {
  const [, kind = '', id = ''] = /^([a-z_]+):([0-9a-f]{16})$/.exec(key) ?? [];
  const known = (text.credentials as Readonly<Record<string, string>>)[kind];
  return known === undefined ? key : text.principalOf(known, id);
}

interface Measured {
  readonly enforced?: Brief['enforced'];
  readonly would?: LiveClient['would'];
  readonly held_back: Brief['held_back'];
}

/** What was done about a client, or would be, or why nothing was. `action`: whether the engine does what it would. */
export function measureOf(
  { enforced = null, would = null, held_back: heldBack }: Measured,
  action: Brief['action'] = 'monitor',
): string {
  if (heldBack !== null) return text.heldBack[heldBack];
  if (enforced !== null) return text.enforced[enforced];
  if (would === null) return text.nothing;
  return action === 'block' ? text.enforced[would] : text.would[would];
}
