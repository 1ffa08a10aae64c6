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
  /** When a client tied to it last shared it by a request of that name; 0: never. */
  grantedMs: number;
  /** 1: it has a holder; 2: two; 3: so many that it is everybody's; staff is not counted. */
  rank: number;
}

export interface ObjectKey {
  readonly site: string;
  readonly noun: string;
  /** The noun, also where the id is unique by itself and `noun` is ''. */
  readonly label: string;
  readonly object: string;
  /** An id that cannot be guessed; absent: not known to be one. */
  readonly isSecret?: boolean;
}

export interface OperationUse {
  readonly readers: Set<string>;
  /** Those of them who got something that is theirs, or that they were shown. */
  readonly own: Set<string>;
  /** Those who got objects here to which nothing ties them, by their addresses where known, each with the last one. */
  readonly strangers: Map<string, string>;
  readonly admitted: Set<string>;
  readonly denied: Set<string>;
  /** Anonymous clients that were let in. */
  readonly anonymous: Set<string>;
  readonly polluted: Map<string, Set<string>>;
}

export interface PrincipalUse {
  credential: CredentialKind;
  readonly addresses: Map<string, number>;
  /** By label: answers whose objects are not known, and what they may have shown. */
  readonly unread: Map<string, Unread>;
  /** Of a day: objects that unread answers excused. */
  excused: number;
  excusedSinceMs: number;
  /** Things that it made, and those to whom some of them were shown. */
  made: number;
  handed: number;
  readonly receivers: Set<string>;
  /** Things of others with ids that cannot be guessed. */
  readonly followed: Set<string>;
  /** Keyed hash of the roles that its token claims; '': none. */
  role: string;
  /** Operations of staff that let it in, each with when it did first. */
  readonly functions: Map<string, number>;
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

export interface Unread {
  untilMs: number;
  readonly objects: Set<string>;
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
/** After an answer that could not be read: so long, so many objects, and so many a day. */
const unreadMs = 15 * 60_000;
const excusedPerAnswer = 20;
const excusedPerDay = 60;
const dayMs = 24 * 3600_000;
const receiversOfMaker = 8;

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
    grantedMs: 0,
    rank: 0,
  }));
  readonly operations = new Bounded<OperationUse>(operationsMax, () => ({
    readers: new Set(),
    own: new Set(),
    strangers: new Map(),
    admitted: new Set(),
    denied: new Set(),
    anonymous: new Set(),
    polluted: new Map(),
  }));
  readonly principals = new Bounded<PrincipalUse>(principalsMax, () => ({
    credential: 'none',
    addresses: new Map(),
    unread: new Map(),
    excused: 0,
    excusedSinceMs: 0,
    made: 0,
    handed: 0,
    receivers: new Set(),
    followed: new Set(),
    role: '',
    functions: new Map(),
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
    this.noteMakers(key, known, principal, tie);
    this.noteHolders(key, known, principal);
    this.noteOverseers(key, known);
    if (key.noun !== '' && key.noun !== anyNoun) this.noteLoose(key, principal);
    return true;
  }

  /** By site and label: how many objects there are, and how many of them many hold. */
  private readonly labels = new Bounded<{ objects: number; joint: number; popular: number; linked: number }>(
    5000,
    () => ({
      ...{ objects: 0, joint: 0, popular: 0, linked: 0 },
    }),
  );

  /** Strangers of two places got the object: things of this name are sent to others as links. */
  noteLinked({ site, label }: ObjectKey): void {
    this.labels.touch(`${site}\0${label}`).linked += 1;
  }

  hasLinks({ site, label }: ObjectKey): boolean {
    return (this.labels.get(`${site}\0${label}`)?.linked ?? 0) > 0;
  }

  /** An answer about things of this label was not read. */
  noteUnread(use: PrincipalUse, label: string, atMs: number): void {
    const before = use.unread.get(label);
    if (before === undefined && use.unread.size >= 16) return;
    const isOver = before === undefined || before.untilMs < atMs;
    use.unread.set(label, { untilMs: atMs + unreadMs, objects: isOver ? new Set() : before.objects });
  }

  /** Whether an unread answer may have shown it: of that label, for minutes, and for a number of things. */
  isExcused(use: PrincipalUse, key: ObjectKey, atMs: number): boolean {
    const unread = use.unread.get(key.label);
    if (unread === undefined || atMs > unread.untilMs || atMs < unread.untilMs - 2 * unreadMs) return false;
    if (atMs - use.excusedSinceMs > dayMs) {
      use.excusedSinceMs = atMs;
      use.excused = 0;
    }
    const name = objectKey(key);
    if (unread.objects.has(name)) return true;
    if (unread.objects.size >= excusedPerAnswer || use.excused >= excusedPerDay) return false;
    unread.objects.add(name);
    use.excused += 1;
    return true;
  }

  private noteMakers({ site }: ObjectKey, { ties }: KnownObject, principal: string, { how }: Tie): void {
    if (how === 'created') {
      const use = this.principals.get(`${site}\0${principal}`);
      if (use !== undefined) use.made += 1;
    }
    if (ties.size !== 2) return;
    for (const [name, tie] of ties) {
      const other = [...ties.keys()].find((one) => one !== name);
      const use = tie.how === 'created' && other !== undefined ? this.principals.get(`${site}\0${name}`) : undefined;
      if (use === undefined || other === undefined) continue;
      use.handed += 1;
      addName(use.receivers, other, 64);
    }
  }

  /** By principal and label: things that nobody was shown and by way of which it asked, each with how often. */
  private readonly asked = new Bounded<Map<string, number>>(principalsMax, () => new Map());
  /** By such a thing: who asked by way of it, each with how often. */
  private readonly askers = new Bounded<Map<string, number>>(principalsMax, () => new Map());

  noteAsked(key: ObjectKey, principal: string): void {
    const name = objectKey(key);
    const own = this.asked.touch(`${principal}\0${key.site}\0${key.label}`);
    if (own.size < 32 || own.has(name)) own.set(name, (own.get(name) ?? 0) + 1);
    const all = this.askers.touch(name);
    if (all.size < 32 || all.has(principal)) all.set(principal, (all.get(principal) ?? 0) + 1);
  }

  /**
   * Whether a thing that no answer tied to anybody may be the client's own, as the number of a customer in its paths
   * is: nobody else asked by way of it more often, or it asked by way of no other one.
   */
  isLikelyOwn(key: ObjectKey, principal: string): boolean {
    const own = this.asked.get(`${principal}\0${key.site}\0${key.label}`);
    if (own === undefined || own.size <= 1) return true;
    const all = this.askers.get(objectKey(key));
    const mine = all?.get(principal) ?? 0;
    for (const [name, count] of all ?? []) if (name !== principal && count > mine) return false;
    return true;
  }

  /** It makes things for others, as staff does: they are not its own. */
  isMaker(site: string, principal: string): boolean {
    const use = this.principals.get(`${site}\0${principal}`);
    return use !== undefined && use.receivers.size >= receiversOfMaker && use.handed * 3 >= use.made;
  }

  /**
   * The object that a path is about: the innermost, unless that is a number within another one (line 1 of an order),
   * which says nothing of whose it is.
   */
  tellingOf(objects: readonly ObjectKey[]): ObjectKey {
    for (let at = objects.length - 1; at > 0; at -= 1) {
      const key = objects[at] as ObjectKey;
      if (key.noun === '') return key;
      const holders = this.objects.get(objectKey(key))?.ties.size ?? 0;
      if (key.noun !== anyNoun && holders < holdersOfShared) return key;
    }
    return objects[0] as ObjectKey;
  }

  private noteHolders({ site, label }: ObjectKey, known: KnownObject, principal: string): void {
    const counts = this.labels.touch(`${site}\0${label}`);
    const use = this.principals.get(`${site}\0${principal}`);
    if (use !== undefined) addName(use.holds, label, 64);
    if (known.rank === 3) return;
    const holders = this.holdersOf(site, label, known);
    const rank = holders >= holdersOfShared ? 3 : Math.min(holders, 2);
    if (rank > 0 && known.rank === 0) counts.objects += 1;
    if (rank > 1 && known.rank < 2) counts.joint += 1;
    if (rank === 3) counts.popular += 1;
    known.rank = Math.max(known.rank, rank);
  }

  /** Without staff: who makes things for others, and the few who look after those of many. */
  private holdersOf(site: string, label: string, { ties }: KnownObject): number {
    let others = 0;
    let overseers = 0;
    for (const name of ties.keys())
      if (!this.isMaker(site, name)) {
        if (this.overseesMany(this.principals.get(`${site}\0${name}`), label)) overseers += 1;
        else others += 1;
      }
    // where most are shown what is somebody else's it is nobody's: products
    return overseers > others ? others + overseers : others;
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
    const made = [...ties].filter(([, { how }]) => how === 'created').map(([name]) => name);
    // what staff makes belongs to whoever else it was shown to
    const isOfStaff = made.length > 0 && made.every((name) => this.isMaker(site, name));
    const makers = isOfStaff ? [...ties.keys()].filter((name) => !made.includes(name)) : made;
    for (const [name, { how }] of ties) {
      if (how === 'created') continue;
      const use = this.principals.get(`${site}\0${name}`);
      if (use === undefined) continue;
      let overseen = use.overseen.get(label);
      if (overseen === undefined) {
        if (use.overseen.size >= 32) continue;
        use.overseen.set(label, (overseen = new Set()));
      }
      for (const maker of makers) if (maker !== name) addName(overseen, maker, overseenMax);
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
