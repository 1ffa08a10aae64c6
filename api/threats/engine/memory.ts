// What the evaluation remembers: who may know which object, who asked for it, how operations are used and by whom.
// Everything has a bound; what was touched longest ago goes first.
import { anyNoun, type CredentialKind } from '#proxy/contract';

export interface Tie {
  readonly how: 'created' | 'shown';
  readonly requestId: string;
  readonly atMs: number;
  readonly credential: CredentialKind;
  readonly clientIp: string;
}

/** An object of a site; `noun` and hash as in Relation (proxy/observation/observation.ts). */
export interface KnownObject {
  readonly ties: Map<string, Tie>;
  /** Principals that got it without a tie, each with the address that it came from. */
  readonly strangers: Map<string, string>;
  readonly readers: Set<string>;
}

export interface ObjectKey {
  readonly site: string;
  readonly noun: string;
  /** The noun, also where the id is unique by itself and `noun` is ''. */
  readonly label: string;
  readonly object: string;
}

export interface OperationUse {
  readonly readers: Set<string>;
  /** Those of them who got something that is theirs, or that they were shown. */
  readonly own: Set<string>;
  /** Those who got objects here to which nothing ties them, by their addresses where these are known. */
  readonly strangers: Set<string>;
  readonly admitted: Set<string>;
  readonly denied: Set<string>;
  /** Anonymous clients that were let in. */
  readonly anonymous: Set<string>;
  readonly polluted: Map<string, Set<string>>;
}

export interface PrincipalUse {
  credential: CredentialKind;
  readonly addresses: Map<string, number>;
  /** When it got an answer whose objects are not known. */
  unreadMs: number;
  /** By noun: whose objects lists showed it. */
  readonly overseen: Map<string, Set<string>>;
  /** Labels of what was shown to it. */
  readonly holds: Set<string>;
  ordinary: number;
  privileged: number;
  /** Ordinary requests before the first that reached a privileged function; -1: none has. */
  ordinaryBefore: number;
  firstPrivilegedMs: number;
}

export const objectsMax = 300_000;
const operationsMax = 5000;
const principalsMax = 100_000;
/** Of principals in one set. */
const namesMax = 2000;
const overseenMax = 64;
const tiesPerObjectMax = 32;
/** Holders by which an object is everybody's. */
export const holdersOfShared = 8;
const publicShare = 0.2;
const overseenMin = 8;

/** A map that forgets what was touched longest ago. */
export class Bounded<V> {
  readonly map = new Map<string, V>();

  constructor(
    private readonly most: number,
    private readonly make: () => V,
  ) {}

  get(key: string): V | undefined {
    return this.map.get(key);
  }

  touch(key: string): V {
    const known = this.map.get(key);
    const value = known ?? this.make();
    if (known !== undefined) this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size > this.most) for (const first of this.map.keys()) return this.forget(first, value);
    return value;
  }

  private forget(key: string, value: V): V {
    this.map.delete(key);
    return value;
  }
}

export function addName(names: Set<string>, name: string, most = namesMax): void {
  if (names.size < most) names.add(name);
}

export class Memory {
  readonly objects = new Bounded<KnownObject>(objectsMax, () => ({
    ties: new Map(),
    strangers: new Map(),
    readers: new Set(),
  }));
  readonly operations = new Bounded<OperationUse>(operationsMax, () => ({
    readers: new Set(),
    own: new Set(),
    strangers: new Set(),
    admitted: new Set(),
    denied: new Set(),
    anonymous: new Set(),
    polluted: new Map(),
  }));
  readonly principals = new Bounded<PrincipalUse>(principalsMax, () => ({
    credential: 'none',
    addresses: new Map(),
    unreadMs: 0,
    overseen: new Map(),
    holds: new Set(),
    ordinary: 0,
    privileged: 0,
    ordinaryBefore: -1,
    firstPrivilegedMs: 0,
  }));
  /** Nouns of paths, by site: what else a message calls a thing may be any of them. */
  readonly nouns = new Map<string, Set<string>>();
  /** Principals that were seen from an address. */
  readonly addresses = new Bounded<Set<string>>(principalsMax, () => new Set());

  see(site: string, principal: string, credential: CredentialKind, clientIp: string, atMs: number): PrincipalUse {
    const use = this.principals.touch(`${site}\0${principal}`);
    use.credential = credential;
    if (clientIp === '') return use;
    use.addresses.delete(clientIp);
    use.addresses.set(clientIp, atMs);
    if (use.addresses.size > 8) for (const oldest of use.addresses.keys()) if (use.addresses.delete(oldest)) break;
    addName(this.addresses.touch(clientIp), `${credential === 'none' ? 'none' : principal}`, 1000);
    return use;
  }

  addNoun(site: string, noun: string): void {
    let nouns = this.nouns.get(site);
    if (nouns === undefined) this.nouns.set(site, (nouns = new Set()));
    addName(nouns, noun, 500);
  }

  tie(key: ObjectKey, principal: string, tie: Tie): boolean {
    const known = this.objects.touch(objectKey(key));
    const before = known.ties.get(principal);
    if (before !== undefined && (before.how === 'created' || tie.how === 'shown')) return false;
    if (before === undefined && known.ties.size >= tiesPerObjectMax) return false;
    known.ties.set(principal, tie);
    known.strangers.delete(principal);
    this.noteHolders(key, known.ties.size, principal);
    this.noteOverseers(key, known);
    if (key.noun !== '' && key.noun !== anyNoun) this.noteLoose(key, principal);
    return true;
  }

  /** By site and label: how many objects there are, and how many of them many hold. */
  private readonly labels = new Bounded<{ objects: number; joint: number; popular: number }>(5000, () => ({
    ...{ objects: 0, joint: 0, popular: 0 },
  }));

  private noteHolders({ site, label }: ObjectKey, holders: number, principal: string): void {
    const counts = this.labels.touch(`${site}\0${label}`);
    const use = this.principals.get(`${site}\0${principal}`);
    if (use !== undefined) addName(use.holds, label, 64);
    if (holders === 1) counts.objects += 1;
    else if (holders === 2 && !this.overseesMany(use, label)) counts.joint += 1;
    else if (holders === holdersOfShared) counts.popular += 1;
  }

  /** It looks after the things of many. */
  overseesMany(use: PrincipalUse | undefined, label: string): boolean {
    return (use?.overseen.get(label)?.size ?? 0) >= overseenMin;
  }

  /** Things of this name have several holders, as documents of teams have. */
  isJointLabel({ site, label }: ObjectKey): boolean {
    const counts = this.labels.get(`${site}\0${label}`);
    return counts !== undefined && counts.joint >= 3 && counts.joint >= publicShare * counts.objects;
  }

  /** Things of this name are shown to many, as products are. */
  isPublicLabel({ site, label }: ObjectKey): boolean {
    const counts = this.labels.get(`${site}\0${label}`);
    return counts !== undefined && counts.popular >= 5 && counts.popular >= publicShare * counts.objects;
  }

  /** Whether people get their own things at an operation; few readers do not tell otherwise. */
  isPersonal(operation: string): boolean {
    const use = this.operations.get(operation);
    return use === undefined || use.readers.size < 4 || use.own.size * 2 >= use.readers.size;
  }

  /** Whoever is shown what others made, and of many others, looks after it. */
  private noteOverseers({ site, label }: ObjectKey, { ties }: KnownObject): void {
    if (ties.size < 2) return;
    const makers = [...ties].filter(([, { how }]) => how === 'created').map(([name]) => name);
    for (const [name, { how }] of ties) {
      if (how === 'created') continue;
      const use = this.principals.get(`${site}\0${name}`);
      if (use === undefined) continue;
      let overseen = use.overseen.get(label);
      if (overseen === undefined) {
        if (use.overseen.size >= 32) continue;
        use.overseen.set(label, (overseen = new Set()));
      }
      for (const maker of makers) addName(overseen, maker, overseenMax);
    }
  }

  private noteLoose({ site, noun, object }: ObjectKey, principal: string): void {
    const loose = this.loose.touch(`${site}\0${object}`);
    const nouns = loose.get(principal) ?? new Set();
    addName(nouns, noun, 8);
    if (loose.size < tiesPerObjectMax) loose.set(principal, nouns);
  }

  /** By value: under which nouns it was shown to whom. */
  private readonly loose = new Bounded<Map<string, Set<string>>>(objectsMax, () => new Map());

  /** Whether an answer showed the object to the principal, under its own name or under one that may mean anything. */
  knows({ site, noun, object }: Omit<ObjectKey, 'label'>, principal: string): boolean {
    if (this.objects.get(objectKey({ site, noun, object }))?.ties.has(principal) === true) return true;
    if (noun === '') return false;
    if (this.objects.get(objectKey({ site, noun: anyNoun, object }))?.ties.has(principal) === true) return true;
    const nouns = this.loose.get(`${site}\0${object}`)?.get(principal);
    if (nouns === undefined) return false;
    const ofPaths = this.nouns.get(site);
    return noun === anyNoun || [...nouns].some((one) => ofPaths?.has(one) !== true);
  }
}

export const objectKey = ({ site, noun, object }: Omit<ObjectKey, 'label'>): string => `${site}\0${noun}\0${object}`;
