// One sighting as the evaluation uses it: the operation instead of the path, and the objects that were asked for.
import {
  anyNoun,
  isLoginPath,
  isPrivilegedPath,
  objectHash,
  objectsOfPath,
  segmentKind,
  segmentsOf,
  shapeOf,
  type CredentialKind,
} from '#proxy/contract';
import type { KeptSighting } from '../../inventory/index.js';
import type { ObjectKey } from './memory.js';

export interface Seen {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  /** Site, method and template. */
  readonly operation: string;
  readonly principal: string;
  readonly credential: CredentialKind;
  readonly clientIp: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly ok: number;
  readonly denied: number;
  readonly failed: number;
  readonly requestId: string;
  readonly isLogin: boolean;
  readonly isPrivileged: boolean;
  /** Those of the path, the outermost first; none where only its shape is known. */
  readonly objects: readonly ObjectKey[];
  /** Those of queries, each with its request. */
  readonly queried: readonly { readonly key: ObjectKey; readonly requestId: string }[];
  readonly distinct: number;
  readonly accounts: readonly string[];
  readonly admitted: readonly string[];
  readonly passwords: number;
  readonly polluted: string | null;
  /** Keyed hash; '': its token claims none. */
  readonly role: string;
}

/** Of a site's path: its template as the inventory has learned it; null: not learned yet. */
export type TemplateOf = (site: string, path: string) => string | null;

/** Ids that cannot be guessed. */
const secretKinds: ReadonlySet<string> = new Set(['uuid', 'ulid', 'objectid', 'hex', 'token']);

/** What a path says by itself. */
export interface Place {
  readonly template: string;
  readonly isShape: boolean;
  readonly objects: readonly ObjectKey[];
}

export function toPlace(site: string, path: string, key: Uint8Array, templateOf: TemplateOf): Place {
  const isShape = segmentsOf(path).some((segment) => segment.startsWith('{'));
  return {
    template: templateOf(site, path) ?? shapeOf(path).replace(/\{[a-z]+\}/g, '{id}'),
    isShape,
    objects: isShape
      ? []
      : objectsOfPath(path).map((id) => ({
          ...toKey(site, id.noun, id.label, objectHash(key, id)),
          isSecret: secretKinds.has(segmentKind(id.value)),
        })),
  };
}

export function toSeen(sighting: KeptSighting, { template, isShape, objects }: Place): Seen {
  const { site, method, path, accounts, objects: hashed } = sighting;
  // One literal, as this is made once a request of everybody: one of parts takes ten times as long.
  return {
    site,
    method,
    template,
    operation: `${site}\0${method}\0${template}`,
    principal: sighting.principal,
    credential: sighting.credential,
    clientIp: sighting.client_ip,
    firstMs: sighting.first_ms,
    lastMs: sighting.last_ms,
    ok: sighting.ok,
    denied: sighting.denied,
    failed: sighting.failed,
    requestId: sighting.request_id,
    isLogin: isLoginPath(method, path) || accounts.length > 0,
    isPrivileged: isPrivilegedPath(template),
    objects: hashed?.map(({ noun, label, object }) => toKey(site, noun, label, object)) ?? objects,
    queried: (sighting.queried ?? []).map(({ noun, object, request_id: requestId }) => ({
      key: toKey(site, noun, noun, object),
      requestId,
    })),
    distinct: isShape && hashed === undefined ? (sighting.distinct ?? 0) : 0,
    accounts,
    admitted: sighting.admitted ?? [],
    passwords: sighting.passwords ?? 0,
    polluted: sighting.polluted,
    role: sighting.role ?? '',
  };
}

const toKey = (site: string, noun: string, label: string, object: string): ObjectKey => ({
  site,
  noun,
  object,
  label: label === '' ? anyNoun : label,
});
