// The one way back: measures on a client end before their time, by any view, and nodes know at once.
import type { Tx } from '../db/client.js';
import { ApiError, type Actor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { NodeGates } from '../edge/node-gates.js';
import { toDenied } from '../addresses/denied.js';
import { kindOfSubject, readPlace, subjectOfPlace, type MeasureAction } from './model.js';
import { followPlaces } from './places.js';
import { liftMeasures, type Lifted } from './store.js';

export type LiftParts = Pick<Parts, 'database' | 'now' | 'audit' | 'measuresChanged' | 'locations'> & {
  readonly nodeGates: NodeGates | null;
};

export interface LiftRequest {
  /** Canonical. */
  readonly subject: string;
  readonly actions: readonly MeasureAction[];
  readonly sources?: readonly string[] | undefined;
  readonly actor: Actor;
  readonly audited: {
    readonly action: 'ban.lift' | 'threat.remove' | 'verdict.lift' | 'measure.lift';
    readonly summary: string;
  };
  /** What the refusal says where nothing is in force. */
  readonly absent: string;
}

/** Canonical, as measures have it; throws `validation_failed` for what is no address, network, principal or place. */
export function subjectOf(text: string, path = '/network'): string {
  if (kindOfSubject(text) === 'principal') return text;
  const place = readPlace(text);
  if (place !== null) return subjectOfPlace(place);
  const parsed = toDenied(text);
  if (!('reason' in parsed)) return parsed.network;
  throw new ApiError('validation_failed', `The network ${parsed.reason}.`, {
    errors: [{ path, reason: parsed.reason }],
  });
}

/** Throws `not_found` where nothing is in force. Returns what was lifted; resolves when nodes that answer know it. */
export async function lift(parts: LiftParts, request: LiftRequest): Promise<readonly Lifted[]> {
  const { subject, actions, sources, actor, audited, absent } = request;
  const now = new Date(parts.now());
  const lifted = await parts.database.sql.begin(async (tx: Tx) => {
    const found = await liftMeasures(tx, { subjects: [subject], actions, sources }, actor.name, now);
    if (found.length === 0) throw new ApiError('not_found', absent);
    const details = { measures: found.map(({ action, source }) => ({ action, source })) };
    await parts.audit.record(tx, { actor, ...audited, details });
    return found;
  });
  if (readPlace(subject) !== null) await followPlaces(parts, now);
  await tellNodes(parts, lifted, sources === undefined || sources.includes('auto-ban'));
  return lifted;
}

/**
 * All at once: a node that hangs at one keeps no other waiting. `areBansLifted`: nodes forget their own bans of these
 * clients, and the bans before, also such as are not measures yet.
 */
export async function tellNodes(
  parts: Pick<LiftParts, 'measuresChanged' | 'nodeGates'>,
  lifted: readonly Lifted[],
  areBansLifted: boolean,
): Promise<void> {
  const isOfNetwork = ({ subject, action }: Lifted): boolean =>
    action === 'deny' && ['address', 'network'].includes(kindOfSubject(subject));
  const networks = [...new Set(lifted.filter(isOfNetwork).map(({ subject }) => subject))];
  await Promise.all([
    areBansLifted && networks.length > 0 ? parts.nodeGates?.lift(networks) : null,
    lifted.length > 0 ? parts.measuresChanged() : null,
  ]);
}
