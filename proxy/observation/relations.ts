// Who may know of which object, learned from answers: one that created it shows it to its owner, a list shows it to
// whoever may see it. What a request named itself (in path, query or body) is no news to whoever asked, and teaches
// nothing. Ids leave a worker as keyed hashes. An answer that could have shown objects and was not read is told, too:
// from then on it is not known what that principal was shown.
import { findField } from '../http/header-fields.js';
import { keyedHash, type Principal } from './credential.js';
import { isJsonType, mediaTypeOf } from './look-into.js';
import { objectsOfHtml, objectsOfJson, objectsOfPath, objectsOfQuery, type ObjectId, type Shown } from './objects.js';
import type { ObservedRequest } from './observer.js';
import type { Relation } from './observation.js';
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
  status >= 200 && status < 300 && method !== 'HEAD' && (isJsonType(type) || type === 'text/html');

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
      if (made !== undefined && !named(request).has(keyOf(made))) this.tell(request, principal, made, 'created');
    }
    const type = mediaTypeOf(findField(responseHeaders, 'content-type'));
    if (!showsObjects(method, status, type)) return;
    if (responseBody === null) this.tellUnread(request, principal);
    else if (!this.read(request, principal, responseBody, isJsonType(type), makes)) this.tellUnread(request, principal);
  }

  private read(request: ObservedRequest, principal: Principal, body: Buffer, isJson: boolean, makes: boolean): boolean {
    const known = named(request);
    const text = body.toString('utf8');
    const take = (object: Shown): void => {
      if (known.has(keyOf(object))) return;
      this.tell(request, principal, object, makes && object.isSubject ? 'created' : 'shown');
    };
    const isWhole = isJson ? objectsOfJson(text, pathOf(request.uri), take) : objectsOfHtml(text, take);
    return isWhole && this.relations.length < relationsMax;
  }

  private tell(request: ObservedRequest, principal: Principal, object: ObjectId, how: Relation['how']): void {
    const { site } = request;
    const told = `${site}\0${principal.id}\0${keyOf(object)}\0${how}`;
    if (this.told.get(told) !== undefined || this.relations.length >= relationsMax) return;
    this.told.set(told, true);
    this.relations.push({ ...relationOf(request, principal), how, ...namesOf(object), object: this.hashOf(object) });
  }

  private tellUnread(request: ObservedRequest, principal: Principal): void {
    const told = `${request.site}\0${principal.id}`;
    if (this.told.get(told) !== undefined || this.relations.length >= 2 * relationsMax) return;
    this.told.set(told, true);
    this.relations.push({ ...relationOf(request, principal), how: 'unread', noun: '', label: '', object: '' });
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

/** The objects that a request names. */
function named({ uri, method, body, headers }: ObservedRequest): ReadonlySet<string> {
  const path = pathOf(uri);
  const known = new Set([...objectsOfPath(path), ...objectsOfQuery(uri)].map(keyOf));
  if (body === null || method === 'GET' || body.length > bodyBytesMax) return known;
  if (isJsonType(mediaTypeOf(findField(headers, 'content-type'))))
    objectsOfJson(body.toString('utf8'), path, (object) => known.add(keyOf(object)));
  return known;
}
