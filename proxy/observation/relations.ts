// Who may know of which object, learned from answers: one that created it shows it to its owner, a list shows it to
// whoever may see it. What a request named itself (in path, query or body) is no news to whoever asked, and teaches
// nothing. Ids leave a worker as keyed hashes. An answer that could have shown objects and was not read is told, too:
// from then on it is not known what that principal was shown.
import { findField } from '../http/header-fields.js';
import { keyedHash, type Principal } from './credential.js';
import { isJsonType, mediaTypeOf } from './look-into.js';
import {
  nounOfPath,
  objectsOfHtml,
  objectsOfJson,
  objectsOfPath,
  objectsOfQuery,
  type ObjectId,
  type Shown,
} from './objects.js';
import type { ObservedRequest } from './observer.js';
import { viaMax, type Relation, type ViaObject } from './observation.js';
import { pathOf } from './path.js';

/** In a window; beyond that an answer counts as one that was not read. */
const relationsMax = 4096;
/** Of each kind of memory, in each of two generations. */
const remembered = 16_384;
/** After that long everything is told again, so that a control plane that forgot it learns it anew. */
const toldMs = 10 * 60_000;
const bodyBytesMax = 64 * 1024;

/** What was there lately, in two generations. */
class Recent<T> {
  private young = new Map<string, T>();
  private old = new Map<string, T>();

  get(key: string): T | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  set(key: string, value: T): void {
    if (this.young.size >= remembered) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
  }
}

const keyOf = ({ noun, value }: ObjectId): string => `${noun}\0${value}`;

/** The keyed hash under which an object of a site is known. */
export const objectHash = (key: Uint8Array, { value }: ObjectId): string => keyedHash(key, 'object', value);

/** Whether an answer of this status and type can show objects. */
export const showsObjects = (method: string, status: number, type: string | null): boolean =>
  status >= 200 && status < 300 && status !== 204 && status !== 205 && method !== 'HEAD' && canHold(type);

const canHold = (type: string | null): boolean => isJsonType(type) || type === 'text/html';

export class RelationLearner {
  private relations: Relation[] = [];
  private readonly told = new Recent<true>();
  private readonly hashes = new Recent<string>();
  private toldSince = 0;

  constructor(private readonly key: Uint8Array) {}

  /** `request` is through; `principal` asked. */
  learn(request: ObservedRequest, principal: Principal): void {
    const { method, status, responseHeaders, responseBody, atMs } = request;
    if (atMs - this.toldSince > toldMs) {
      this.toldSince = atMs;
      this.told.clear();
    }
    const makes = method === 'POST' || (method === 'PUT' && status === 201);
    if (makes && status >= 200 && status < 400) {
      const location = findField(responseHeaders, 'location');
      const made = location === null ? undefined : objectsOfPath(pathOf(location)).at(-1);
      const asked = askedFor(request);
      if (made !== undefined && !asked.names(made)) this.tell(request, principal, made, 'created', asked.via);
    }
    const type = mediaTypeOf(findField(responseHeaders, 'content-type'));
    if (!showsObjects(method, status, type)) return;
    // of an answer without a body everything was read
    if (responseBody === null && request.responseBytes === 0) return;
    if (responseBody === null) this.tellUnread(request, principal);
    else if (!this.read(request, principal, responseBody, isJsonType(type), makes)) this.tellUnread(request, principal);
  }

  private read(request: ObservedRequest, principal: Principal, body: Buffer, isJson: boolean, makes: boolean): boolean {
    const asked = askedFor(request);
    const text = body.toString('utf8');
    const take = (object: Shown): void => {
      if (asked.names(object)) return;
      this.tell(request, principal, object, makes && object.isSubject ? 'created' : 'shown', asked.via);
    };
    const isWhole = isJson ? objectsOfJson(text, pathOf(request.uri), take) : objectsOfHtml(text, take);
    return isWhole && this.relations.length < relationsMax;
  }

  private tell(
    request: ObservedRequest,
    principal: Principal,
    object: ObjectId,
    how: Relation['how'],
    named: readonly ObjectId[],
  ): void {
    const { site } = request;
    // what was reported by way of an object is reported again when a list shows it by itself
    const way = named.length === 0 ? '' : named.map(keyOf).join('\0');
    const told = `${site}\0${principal.id}\0${keyOf(object)}\0${how}\0${way}`;
    if (this.told.get(told) !== undefined || this.relations.length >= relationsMax) return;
    this.told.set(told, true);
    const via = this.viaOf(named);
    this.relations.push({
      ...relationOf(request, principal),
      how,
      ...namesOf(object),
      object: this.hashOf(object),
      via,
    });
  }

  private tellUnread(request: ObservedRequest, principal: Principal): void {
    const path = pathOf(request.uri);
    const label = nounOfPath(path);
    const { via: named } = askedFor(request);
    const told = `${request.site}\0${principal.id}\0${label}\0${named.map(keyOf).join('\0')}`;
    if (this.told.get(told) !== undefined || this.relations.length >= 2 * relationsMax) return;
    this.told.set(told, true);
    const via = this.viaOf(named);
    this.relations.push({ ...relationOf(request, principal), how: 'unread', noun: '', label, object: '', via });
  }

  private viaOf(named: readonly ObjectId[]): ViaObject[] | undefined {
    if (named.length === 0) return undefined;
    return named.slice(-viaMax).map((object) => ({ ...namesOf(object), object: this.hashOf(object) }));
  }

  private hashOf(object: ObjectId): string {
    const known = this.hashes.get(object.value);
    if (known !== undefined) return known;
    const made = objectHash(this.key, object);
    this.hashes.set(object.value, made);
    return made;
  }

  /** What was learned since the last call. */
  take(): Relation[] {
    const { relations } = this;
    this.relations = [];
    return relations;
  }
}

const namesOf = ({ noun, label }: ObjectId) => ({ noun: noun.slice(0, 60), label: label.slice(0, 60) });
const relationOf = ({ site, requestId, atMs, clientIp }: ObservedRequest, { id, kind }: Principal) => ({
  ...{ site, principal: id, credential: kind, client_ip: Buffer.from(clientIp, 'latin1').toString('latin1') },
  ...{ request_id: requestId, at_ms: atMs },
});

interface AskedFor {
  /** Of path and query: what the answer is about. */
  readonly via: readonly ObjectId[];
  /** Whether the request itself has the value, under whatever noun: `{"id": 7}` of `/orders/7/invoice` is order 7. */
  names(object: ObjectId): boolean;
}

/** The objects that a request names. */
function askedFor({ uri, method, body, headers }: ObservedRequest): AskedFor {
  const path = pathOf(uri);
  const via = [...objectsOfPath(path), ...objectsOfQuery(uri)];
  const values = new Set(via.map(({ value }) => value));
  const isRead = body !== null && method !== 'GET' && body.length <= bodyBytesMax;
  if (isRead && isJsonType(mediaTypeOf(findField(headers, 'content-type'))))
    objectsOfJson(body.toString('utf8'), path, ({ value }) => values.add(value));
  return { via, names: ({ value }) => values.has(value) };
}
