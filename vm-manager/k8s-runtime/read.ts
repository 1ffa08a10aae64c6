// What Falco and the audit log of Kubernetes write, as one kind of record. Texts are masked here; nothing else of an
// event is kept.
import { createHash } from 'node:crypto';
import { listOf, objectOf, textOf, type Json } from '../scanners/sca/listing.js';
import { maskSecrets } from '../secrets/mask.js';

export const sources = ['falco', 'audit'] as const;
export const priorities = [
  'debug',
  'informational',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

export interface ClusterEvent {
  readonly source: (typeof sources)[number];
  readonly cluster: string;
  readonly rule: string;
  /** 0 debug to 7 emergency. */
  readonly priority: number;
  readonly namespace: string;
  readonly workload: string;
  readonly pod: string;
  readonly container: string;
  readonly image: string;
  readonly verb: string;
  readonly resource: string;
  readonly username: string;
  readonly outcome: 'allowed' | 'forbidden' | 'failed' | '';
  readonly output: string;
  readonly at: Date;
  /** Of the event itself: sent twice it is the same. */
  readonly hash: string;
}

const cut = (value: unknown, max = 300): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no text of the database has NUL
  maskSecrets(
    textOf(value)
      .replace(/\u0000/g, '')
      .slice(0, max),
  );
const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** Of a pod that a controller made: without the random ends of its name. */
export const workloadOf = (pod: string): string =>
  pod
    .replace(/-[bcdf-hj-np-tv-z2-9]{8,10}-[bcdf-hj-np-tv-z2-9]{5}$/, '')
    .replace(/-(?:\d{1,4}|[bcdf-hj-np-tv-z2-9]{5})$/, '');

/** Not later than now, where the clock of a node is ahead; null: no moment. */
function momentOf(value: unknown, now: Date): Date | null {
  const at = new Date(textOf(value));
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() < 2000) return null;
  return at > now ? now : at;
}

function readFalco(event: Json, cluster: string, now: Date): ClusterEvent | string {
  const fields = objectOf(event['output_fields']);
  const at = momentOf(event['time'], now);
  if (at === null) return '/time is no moment';
  if (textOf(event['rule']) === '') return '/rule is missing';
  const named = textOf(event['priority']).toLowerCase();
  const priority = priorities.findIndex((one) => one === named || (one === 'informational' && named === 'info'));
  const pod = cut(fields['k8s.pod.name']);
  const tag = textOf(fields['container.image.tag']);
  const image = cut(fields['container.image.repository']);
  return {
    ...{ source: 'falco', cluster, rule: cut(event['rule']), priority: Math.max(0, priority), at },
    ...{ namespace: cut(fields['k8s.ns.name']), pod, workload: cut(fields['k8s.deployment.name']) || workloadOf(pod) },
    container: cut(fields['container.name']) || cut(fields['container.id']),
    image: image === '' || tag === '' ? image : `${image}:${cut(tag, 100)}`,
    ...{ verb: '', resource: cut(fields['fd.name']), username: cut(fields['user.name']), outcome: '' },
    output: cut(event['output'], 2000),
    hash: hashOf([event['uuid'] ?? null, event['time'], event['rule'], event['output']]),
  };
}

function outcomeOf(event: Json): ClusterEvent['outcome'] {
  const code = objectOf(event['responseStatus'])['code'];
  const decision = textOf(objectOf(event['annotations'])['authorization.k8s.io/decision']);
  if (decision === 'forbid' || code === 401 || code === 403) return 'forbidden';
  if (typeof code === 'number' && code >= 400) return 'failed';
  return 'allowed';
}

/** null: a stage that another event of the same request completes. */
function readAudit(event: Json, cluster: string, now: Date): ClusterEvent | string | null {
  const stage = textOf(event['stage']);
  if (stage === 'RequestReceived' || stage === 'ResponseStarted') return null;
  const at = momentOf(event['stageTimestamp'] ?? event['requestReceivedTimestamp'], now);
  if (at === null) return '/stageTimestamp is no moment';
  if (textOf(event['auditID']) === '') return '/auditID is missing';
  const [of, user] = [objectOf(event['objectRef']), objectOf(event['user'])];
  const [resource, sub] = [textOf(of['resource']), textOf(of['subresource'])];
  const path = textOf(event['requestURI']).split('?')[0] ?? '';
  const what = resource === '' ? path : sub === '' ? resource : `${resource}/${sub}`;
  const [verb, outcome, name] = [cut(event['verb'], 40), outcomeOf(event), cut(of['name'])];
  const pod = resource === 'pods' ? name : '';
  return {
    ...{ source: 'audit', cluster, rule: `${verb} ${cut(what)}`, at, outcome, verb, resource: cut(what) },
    priority: outcome === 'forbidden' ? 3 : ['get', 'list', 'watch'].includes(verb) ? 1 : 2,
    ...{ namespace: cut(of['namespace']), pod, container: '', image: '', username: cut(user['username']) },
    workload: /^(deployments|statefulsets|daemonsets|jobs|cronjobs)$/.test(resource) ? name : workloadOf(pod),
    output: cut(
      `${textOf(user['username'])} ${verb} ${what} ${name} from ${listOf(event['sourceIPs']).map(textOf).join(' ')}`,
      2000,
    ),
    hash: hashOf([event['auditID'], stage]),
  };
}

export interface Taken {
  readonly events: readonly ClusterEvent[];
  /** Stages of requests that a later event completes. */
  readonly skipped: number;
  readonly refused: readonly { readonly index: number; readonly reason: string }[];
}

/** Each by its own shape: an audit event has an auditID, one of Falco a rule. */
export function readEvents(given: readonly unknown[], cluster: string, now: Date): Taken {
  const events: ClusterEvent[] = [];
  const refused: { index: number; reason: string }[] = [];
  let skipped = 0;
  for (const [index, one] of given.entries()) {
    const event = objectOf(one);
    const isAudit = event['auditID'] !== undefined || textOf(event['apiVersion']).startsWith('audit.k8s.io/');
    const read = isAudit ? readAudit(event, cluster, now) : readFalco(event, cluster, now);
    if (read === null) skipped++;
    else if (typeof read === 'string') refused.push({ index, reason: read });
    else events.push(read);
  }
  return { events, skipped, refused };
}
