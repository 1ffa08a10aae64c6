// Where an event belongs: the application whose workload or image it names.
import type { Tx } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { mappedTo, type MapRule } from '../k8s-posture/store.js';
import type { ClusterEvent } from './read.js';

export interface Place {
  readonly applicationId: number;
  readonly projectId: number | null;
}

/** The repository of an image, without registry host and tag. */
export const imageName = (image: string): string =>
  (image.split('@')[0] ?? '')
    .replace(/:[^/:]*$/, '')
    .split('/')
    .slice(-2)
    .join('/');

/** By the rules of the cluster that the event names, so far as somebody wrote any. */
async function mappedPlace(
  tx: Tx,
  reach: Reach,
  { cluster, namespace, workload }: ClusterEvent,
): Promise<Place | null> {
  if (cluster === '') return null;
  const [row] = await tx<{ application_map: MapRule[] }[]>`
    select application_map from vm_clusters where name = ${cluster}`;
  const id = row === undefined ? null : mappedTo(row.application_map, namespace, workload);
  if (id === null) return null;
  const [found] = await tx<{ id: number; project_id: number | null }[]>`
    select a.id, a.project_id from vm_applications a
    where a.id = ${id} and a.status = 'active' and ${reachable(tx, reach, tx`a.id`, tx`a.project_id`)}`;
  return found === undefined ? null : { applicationId: found.id, projectId: found.project_id };
}

/**
 * By the rules of its cluster, else by the external id of an application (`cluster/namespace/workload`,
 * `namespace/workload`, or the image), else by its name, which is that of the
 * workload or the last part of the image. null: none, or several that are alike. A name that somebody of the whole
 * organisation has given comes before one that was chosen by somebody of a part, who would get the events of others.
 */
export async function placeOf(tx: Tx, reach: Reach, event: ClusterEvent): Promise<Place | null> {
  const mapped = await mappedPlace(tx, reach, event);
  if (mapped !== null) return mapped;
  const { cluster, namespace, workload, image } = event;
  const repository = imageName(image);
  const ids = [
    ...(workload === '' ? [] : [`${cluster}/${namespace}/${workload}`, `${namespace}/${workload}`]),
    ...(repository === '' ? [] : [repository, image, (image.split('@')[0] ?? '').replace(/:[^/:]*$/, '')]),
  ];
  const names = [workload, repository.split('/').at(-1) ?? '']
    .filter((name) => name !== '')
    .map((name) => name.toLowerCase());
  if (ids.length + names.length === 0) return null;
  // lists of a statement are never empty; no application has an empty name or id
  const [idList, nameList]: readonly [string[], string[]] = [
    [...ids, ''],
    [...names, ''],
  ];
  const rows = await tx<{ id: number; project_id: number | null; rank: number }[]>`
    select a.id, a.project_id,
      case when a.external_id in ${tx(idList)} then 1 else 2 end + case when a.names_confirmed then 0 else 2 end as rank
    from vm_applications a
    where (a.external_id in ${tx(idList)} or lower(a.name) in ${tx(nameList)}) and a.status = 'active'
      and ${reachable(tx, reach, tx`a.id`, tx`a.project_id`)}
    order by rank, a.id limit 3`;
  const [first, second] = rows;
  if (first === undefined || second?.rank === first.rank) return null;
  return { applicationId: first.id, projectId: first.project_id };
}
