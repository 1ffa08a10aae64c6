// How findings of API abuse are named and coloured.
import type { Item } from '../../client/http.js';
import type { Tone } from '../../kit/basics.js';
import { threatsText as text } from '../../texts/engine/threats.js';

export type Threat = Item<'GET /api/api-threats'>;
export type Evidence = Threat['evidence'][number];
export type Status = Threat['status'];
export type Kind = Threat['kind'];

export const severityTones: Readonly<Record<Threat['severity'], Tone>> = {
  critical: 'danger',
  high: 'danger',
  medium: 'warn',
  low: 'neutral',
};
export const statusTones: Readonly<Record<Status, Tone>> = {
  open: 'danger',
  acknowledged: 'info',
  dismissed: 'neutral',
};

/** `API1:2023 Broken object level authorization`. */
export function owaspOf(id: string): string {
  const named = (text.owasps as Readonly<Record<string, string>>)[id];
  return named === undefined ? id : text.owaspOf(id, named);
}
