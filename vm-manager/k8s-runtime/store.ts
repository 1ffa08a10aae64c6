// Events of clusters as rows: taken once, counted where they are alike, asked of the rules, tied to findings.
import { createHash } from 'node:crypto';
import type { Actor } from '#http-kit';
import { json, type Tx } from '../database.js';
import { holds, type Fields, type Predicate } from '../kit/predicate.js';
import { confirm, note } from '../runtime/confirm.js';
import type { Place } from './place.js';
import { imageName } from './place.js';
import { priorities, type ClusterEvent } from './read.js';

/** Alike within it is one row. */
export const dedupeMs = 300_000;
const takenDays = 2;

export const eventFields: Fields = {
  source: { type: 'text', column: 'source' },
  cluster: { type: 'text', column: 'cluster' },
  rule: { type: 'text', column: 'rule' },
  priority: {
    type: 'number',
    column: 'priority',
    words: Object.fromEntries(priorities.map((name, index) => [name, index])),
  },
  namespace: { type: 'text', column: 'namespace' },
  workload: { type: 'text', column: 'workload' },
  pod: { type: 'text', column: 'pod' },
  container: { type: 'text', column: 'container' },
  image: { type: 'text', column: 'image' },
  verb: { type: 'text', column: 'verb' },
  resource: { type: 'text', column: 'resource' },
  username: { type: 'text', column: 'username' },
  outcome: { type: 'text', column: 'outcome' },
  output: { type: 'text', column: 'output' },
};

export interface ClusterRule {
  readonly name: string;
  readonly predicate: Predicate;
  readonly effect: 'note' | 'finding' | 'proof';
  readonly severity: 'critical' | 'high' | 'medium' | 'low';
  readonly cwe: number | null;
}

const keyOf = (event: ClusterEvent, place: Place | null): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        ...[place?.applicationId ?? 0, event.source, event.cluster, event.rule, event.namespace, event.workload],
        ...[event.container, event.image, event.verb, event.resource, event.username, event.outcome, event.priority],
      ]),
    )
    .digest('hex');

export type Outcome = 'accepted' | 'counted' | 'known';
export interface Stored {
  readonly outcome: Outcome;
  readonly hits: number;
  readonly linked: boolean;
}

const placesOf = ({ namespace, workload, image }: ClusterEvent): string[] =>
  [`${namespace}/${workload}`, image, imageName(image), workload].filter(
    (one) => one.length > 2 && !one.startsWith('/') && !one.endsWith('/'),
  );

/** The finding that the rules that hold make, find or prove; null: none. */
async function tie(
  tx: Tx,
  id: number,
  event: ClusterEvent,
  place: Place,
  rules: readonly ClusterRule[],
  actor: Actor,
  now: Date,
): Promise<number | null> {
  const rule = rules.find(({ effect }) => effect === 'proof') ?? rules.find(({ effect }) => effect === 'finding');
  if (rule === undefined) return null;
  const where = [event.namespace, event.workload].filter((one) => one !== '').join('/');
  const told = {
    ...{ id, kind: 'cluster' as const, name: rule.name, requestId: null, at: event.at },
    attack: { cwe: rule.cwe, severity: rule.severity, title: rule.name },
    places: placesOf(event),
    location: [where, event.image].filter((one) => one !== '').join(' ') || event.resource,
    proof: { rule: event.rule, output: event.output, pod: event.pod, container: event.container },
    of: ['cluster', rule.name, event.cluster, where, event.image],
  };
  return rule.effect === 'proof' ? confirm(tx, place, told, actor, now) : note(tx, place, told, actor, now);
}

export async function storeEvent(
  tx: Tx,
  event: ClusterEvent,
  place: Place | null,
  rules: readonly ClusterRule[],
  actor: Actor,
  now: Date,
): Promise<Stored> {
  const hash = createHash('sha256').update(`${event.cluster}\n${event.hash}`).digest('hex');
  const [known] = await tx`select 1 from vm_k8s_taken where hash = ${hash}`;
  if (known !== undefined) return { outcome: 'known', hits: 0, linked: false };
  const key = keyOf(event, place);
  const [like] = await tx<{ id: number }[]>`
    select id from vm_k8s_events where key = ${key}
      and first_at > ${new Date(event.at.getTime() - dedupeMs)} and last_at < ${new Date(event.at.getTime() + dedupeMs)}
    order by last_at desc limit 1 for update`;
  if (like !== undefined) {
    await tx`
      update vm_k8s_events set times = times + 1, last_at = greatest(last_at, ${event.at}),
        first_at = least(first_at, ${event.at}), received_at = ${now} where id = ${like.id}`;
    await tx`insert into vm_k8s_taken (hash, event_id, at) values (${hash}, ${like.id}, ${now})`;
    return { outcome: 'counted', hits: 0, linked: false };
  }
  const { at, hash: _hash, ...columns } = event;
  const holding = rules.filter(({ predicate }) => holds(predicate, columns, eventFields, now));
  const [made] = await tx<{ id: number }[]>`
    insert into vm_k8s_events ${tx({
      ...columns,
      ...{
        application_id: place?.applicationId ?? null,
        key,
        hits: json(
          tx,
          holding.map(({ name }) => name),
        ),
      },
      ...{ first_at: at, last_at: at, received_at: now },
    } as never)} returning id`;
  if (made === undefined) throw new Error('the event was not stored');
  await tx`insert into vm_k8s_taken (hash, event_id, at) values (${hash}, ${made.id}, ${now})`;
  const finding = place === null ? null : await tie(tx, made.id, event, place, holding, actor, now);
  if (finding !== null) await tx`update vm_k8s_events set finding_id = ${finding} where id = ${made.id}`;
  return { outcome: 'accepted', hits: holding.length, linked: finding !== null };
}

/** Ids of events are remembered for two days, events for ninety. */
export async function forgetOld(tx: Tx, now: Date): Promise<void> {
  await tx`delete from vm_k8s_taken where at < ${new Date(now.getTime() - takenDays * 86_400_000)}`;
  await tx`delete from vm_k8s_events where last_at < ${new Date(now.getTime() - 90 * 86_400_000)}`;
}
