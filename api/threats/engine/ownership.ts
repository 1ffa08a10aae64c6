// BOLA by ownership: somebody got an object that answers tie to somebody else, and to nobody who could have handed it
// on. Exempt, each by evidence: who was shown it, what many strangers read, operations that strangers commonly read,
// colleagues (who were shown the same objects), those who look after the objects of many, what an answer of the same
// name may have shown that nobody has read, a client that comes from its owner's address with a session of its own, and
// what its owner shared. Ids that cannot be guessed are sent as links: others who follow them are waited for.
import {
  addName,
  holdersOfShared,
  objectKey,
  type KnownObject,
  type Memory,
  type ObjectKey,
  type PrincipalUse,
  type Tie,
} from './memory.js';
import { timeOf, type Evidence, type JudgeOptions } from './finding.js';
import type { Seen } from './seen.js';

/** Strangers of one object, each from an address of its own, that make it a shared one. */
const strangersOfShared = 3;
/** Of an operation: strangers, and their share among all who read there. */
const strangersOfOperation = 3;
const strangerShare = 0.25;
/** Objects of one noun that two were shown both. */
const commonOfColleagues = 2;
/** So long others who follow a link are waited for: where links of this kind were seen, and where none was. */
const linkMs = 30 * 60_000;
const firstLinkMs = 2 * 60_000;
/** Things with ids that cannot be guessed, after which a client follows no links any more. */
const followedMax = 4;
/** So long a client may turn out to be one of several who hold a thing. */
const jointMs = 30 * 60_000;
/** Names of what is made to be handed on. */
const linkLabels: ReadonlySet<string> = new Set(
  's share shared link public invite invitation embed preview unsubscribe join shortlink'.split(' '),
);

export interface Candidate {
  readonly seen: Seen;
  /** The outermost first. */
  readonly objects: readonly ObjectKey[];
  readonly requestId: string;
  readonly atMs: number;
}

export type Outcome =
  | { readonly kind: 'theft'; readonly evidence: Evidence; readonly object: ObjectKey }
  | { readonly kind: 'fine' }
  /** Nobody's so far: somebody may turn out to own it. */
  | { readonly kind: 'ownerless' }
  /** Somebody's, and the client may turn out to be one of several who hold it. */
  | { readonly kind: 'open' };

const isLasting = ({ credential }: Pick<Tie, 'credential'>): boolean =>
  credential === 'jwt' || credential === 'api_key' || credential === 'basic' || credential === 'mtls';

export class Ownership {
  constructor(private readonly memory: Memory) {}

  judge({ seen, objects, requestId, atMs }: Candidate, { nowMs }: JudgeOptions): Outcome {
    const { memory } = this;
    const { site, principal } = seen;
    const use = memory.principals.get(`${site}\0${principal}`);
    const telling = objects.indexOf(memory.tellingOf(objects));
    for (const key of objects.slice(0, telling + 1).toReversed()) {
      if (memory.knows(key, principal)) return { kind: 'fine' };
      const known = memory.objects.get(objectKey(key));
      const owner = known === undefined ? null : this.ownerOf(site, known);
      if (known === undefined || owner === null) continue;
      if (known.grantedMs > 0 || linkLabels.has(key.label)) return { kind: 'fine' };
      const [name, tie] = owner;
      if (memory.isPublicLabel(key) || this.isShared(known, seen)) return { kind: 'fine' };
      if (this.isFamiliar(key, known, seen, name, use)) return { kind: 'fine' };
      if (this.hasCommonParent(objects, key, name, principal)) return { kind: 'fine' };
      if (use !== undefined && memory.isExcused(use, key, atMs)) return { kind: 'fine' };
      if (this.mayFollowLink(key, seen, use, nowMs - atMs)) return { kind: 'open' };
      // who has seen no list of what several hold may turn out to be one of them
      const mayBeOne = memory.isJointLabel(key) && use?.holds.has(key.label) !== true;
      if (mayBeOne && nowMs - atMs < jointMs) return { kind: 'open' };
      const evidence: Evidence = {
        ...{ request_id: requestId, at: timeOf(atMs), because: tie.how, noun: key.label },
        ...{ other_request_id: tie.requestId, other_principal: name },
      };
      return { kind: 'theft', evidence, object: key };
    }
    return { kind: 'ownerless' };
  }

  /** Others may turn out to follow the same link. */
  private mayFollowLink(key: ObjectKey, { method }: Seen, use: PrincipalUse | undefined, ageMs: number): boolean {
    if (key.isSecret !== true || (method !== 'GET' && method !== 'HEAD')) return false;
    if (this.memory.hasLinks(key)) return ageMs < linkMs;
    if (use !== undefined) addName(use.followed, objectKey(key), followedMax);
    return ageMs < firstLinkMs && (use?.followed.size ?? 0) < followedMax;
  }

  /** Who made it, else who was shown it first; staff that makes things for others, or looks after them, owns none. */
  private ownerOf(site: string, { ties }: KnownObject): [string, Tie] | null {
    let best: [string, Tie] | null = null;
    for (const [name, tie] of ties) {
      if (this.memory.isMaker(site, name)) continue;
      if (best === null || (tie.how === best[1].how ? tie.atMs < best[1].atMs : tie.how === 'created'))
        best = [name, tie];
    }
    return best;
  }

  isShared(known: KnownObject, { operation, principal, clientIp }: Seen): boolean {
    const others = [...known.strangers].filter(([name, place]) => name !== principal && place !== clientIp);
    if (new Set(others.map(([, place]) => place)).size >= strangersOfShared - 1) return true;
    if (known.rank === 3 || !this.memory.isPersonal(operation)) return true;
    const use = this.memory.operations.get(operation);
    if (use === undefined) return false;
    const { size } = use.strangers;
    return size >= strangersOfOperation && size >= strangerShare * use.readers.size;
  }

  /** The client has to do with the owner. */
  private isFamiliar(
    key: ObjectKey,
    known: KnownObject,
    seen: Seen,
    owner: string,
    use: PrincipalUse | undefined,
  ): boolean {
    if (this.memory.overseesMany(use, key.label) || this.areColleagues(key, owner, seen.principal)) return true;
    for (const tie of known.ties.values()) {
      const isOne = tie.clientIp !== '' && tie.clientIp === seen.clientIp;
      if (isOne && !(isLasting(tie) && isLasting(seen))) return true;
    }
    return false;
  }

  private areColleagues({ site, label }: ObjectKey, one: string, other: string): boolean {
    return (this.common.get(pairKey(site, label, one, other)) ?? 0) >= commonOfColleagues;
  }

  /** How many objects of a noun two were shown or made both; of objects that few hold. */
  private readonly common = new Map<string, number>();

  /** `principal` was just tied to the object. */
  tied({ site, label }: ObjectKey, { ties }: KnownObject, principal: string): void {
    if (ties.size < 2 || ties.size > holdersOfShared) return;
    for (const name of ties.keys()) {
      if (name === principal) continue;
      const key = pairKey(site, label, name, principal);
      const count = (this.common.get(key) ?? 0) + 1;
      this.common.delete(key);
      this.common.set(key, count);
    }
    while (this.common.size > pairsMax) for (const first of this.common.keys()) if (this.common.delete(first)) break;
  }

  /** Both were shown what it stands in: a team, a project, a folder. */
  private hasCommonParent(objects: readonly ObjectKey[], key: ObjectKey, owner: string, principal: string): boolean {
    for (const parent of objects) {
      if (parent === key) return false;
      if ((this.memory.objects.get(objectKey(parent))?.ties.size ?? 0) >= holdersOfShared) continue;
      if (!this.memory.knows(parent, principal)) continue;
      if (this.memory.knows(parent, owner)) return true;
    }
    return false;
  }
}

const pairsMax = 200_000;
const pairKey = (site: string, noun: string, one: string, other: string): string =>
  `${site}\0${noun}\0${one < other ? `${one}\0${other}` : `${other}\0${one}`}`;
