// The chains of an organisation, kept while its findings change. Applications come with their findings; a change makes
// the views of that application and the chains of its project anew, and nothing else. What is asked for is built on
// the first read, so that a thousand changes between two reads cost each project once.
import { viewOf } from './candidate.js';
import type { Chain } from './chain.js';
import type { ChainApplication, ChainFinding } from './finding.js';
import {
  allFrom,
  chainsOfGroup,
  chainsOfMember,
  chainsThrough,
  joinGroups,
  memberOf,
  mergeGroups,
  type GroupChains,
  type Member,
  type RankedChains,
} from './group.js';
import { furtherRules, type ToxicRule } from './kinds/toxic-rules.js';
import { chainId } from './present.js';

export interface ChainScope {
  /** Only chains that start at this application; what it can reach is loaded all the same. */
  readonly applicationId?: string;
  /** Only internet-facing applications, also as what a chain ends at. */
  readonly internetOnly?: boolean;
  /** Applications that the caller may see; chains are those of an organisation that has no others. */
  readonly isVisible?: (applicationId: string) => boolean;
}

export interface ChainRules {
  readonly withPack?: boolean;
  readonly ownRules?: readonly ToxicRule[];
}

/** A finding, and where it is. */
export interface FindingAddress {
  readonly id: string;
  readonly applicationId: string;
}

/** A trust group with its chains. */
export interface GroupMembers {
  readonly chains: GroupChains;
  readonly members: readonly Member[];
}

interface Kept {
  readonly application: ChainApplication;
  readonly findings: readonly ChainFinding[];
  readonly member: Member;
}

type Which = 'all' | 'internetOnly';
type Cached<What> = { [Name in Which]: What | null };

/** Groups that are joined together, so that a change joins these and not all again. */
interface Bundle extends Cached<GroupChains> {
  readonly groups: Set<Group>;
}

const emptyBundle = (): Bundle => ({ groups: new Set(), all: null, internetOnly: null });

interface Group extends Cached<GroupChains> {
  readonly ids: Set<string>;
  readonly bundle: Bundle;
}

/** About the root of how many groups large organisations have. */
const groupsPerBundle = 100;

/** Members in the place of those that are kept, by application. */
type Instead = ReadonlyMap<string, Member>;
const nothingInstead: Instead = new Map();

const groupKeyOf = ({ id, projectId }: ChainApplication): string =>
  projectId === null ? `application:${id}` : `project:${projectId}`;
const whichOf = ({ internetOnly }: ChainScope): Which => (internetOnly === true ? 'internetOnly' : 'all');

export class ChainEngine {
  readonly #rules: readonly ToxicRule[];
  readonly #kept = new Map<string, Kept>();
  readonly #groups = new Map<string, Group>();
  readonly #bundles = new Set<Bundle>();
  /** What new groups are put into. */
  #filling = emptyBundle();
  #merged: Cached<RankedChains> = { all: null, internetOnly: null };

  /** `withPack`: also the toxic combinations that are off by default; `ownRules`: also those of the organisation. */
  constructor({ withPack = false, ownRules = [] }: ChainRules = {}) {
    this.#rules = [...(withPack ? furtherRules : []), ...ownRules];
  }

  get applications(): number {
    return this.#kept.size;
  }

  application(id: string): ChainApplication | null {
    return this.#kept.get(id)?.application ?? null;
  }

  /**
   * Takes an application with its findings, in place of what was known of it. More than the forty that count may be
   * given; they take the place of those that `without` leaves out.
   */
  set(application: ChainApplication, findings: readonly ChainFinding[]): void {
    const key = groupKeyOf(application);
    const known = this.#kept.get(application.id);
    // within its group an application keeps its place: an order that is nearly right is put right in no time
    if (known !== undefined && groupKeyOf(known.application) !== key) this.#forget(application.id);
    const member = this.#memberFrom(application, findings);
    this.#kept.set(application.id, { application, findings, member });
    const group = this.#groups.get(key) ?? this.#addGroup(key);
    group.ids.add(application.id);
    this.#touch(group);
  }

  remove(applicationId: string): void {
    this.#forget(applicationId);
  }

  /** The best chains and the counts of all within a scope; empty where the application is unknown or out of scope. */
  read(scope: ChainScope = {}): RankedChains {
    return this.#read(scope, nothingInstead);
  }

  /** What a scope would have without some findings: everything about their projects is made anew. */
  without(gone: readonly FindingAddress[], scope: ChainScope = {}): RankedChains {
    return this.#read(scope, this.#less(gone));
  }

  /** What a scope would have were the findings of these applications others; one that is not kept does not count. */
  readWith(
    changed: readonly { readonly applicationId: string; readonly findings: readonly ChainFinding[] }[],
    scope: ChainScope = {},
  ): RankedChains {
    const instead = new Map<string, Member>();
    for (const { applicationId, findings } of changed) {
      const kept = this.#kept.get(applicationId);
      if (kept !== undefined) instead.set(applicationId, this.#memberFrom(kept.application, findings));
    }
    return this.#read(scope, instead);
  }

  /** Every chain with a hop in an application, as if some findings were not there. */
  through(applicationId: string, gone: readonly FindingAddress[] = []): Chain[] {
    const found = this.#memberOf(applicationId, {}, this.#less(gone));
    return found === null ? [] : chainsThrough(found.member, found.members);
  }

  /** The trust groups, each with its chains; the object of a group is another one once anything in it has changed. */
  *groups(): Generator<GroupMembers> {
    for (const group of this.#groups.values())
      yield { chains: this.#chainsOf(group, 'all'), members: this.#members(group, {}) };
  }

  /**
   * The chain of an id that starts at `scope.applicationId`, also one that is not among those listed; null where there
   * is none within the scope.
   */
  find(id: string, scope: ChainScope & { readonly applicationId: string }): Chain | null {
    const found = this.#memberOf(scope.applicationId, scope);
    if (found === null) return null;
    return allFrom(found.member, found.members).find((chain) => chainId(chain) === id) ?? null;
  }

  #memberFrom(application: ChainApplication, findings: readonly ChainFinding[]): Member {
    return memberOf(viewOf(application, findings), this.#rules);
  }

  #less(gone: readonly FindingAddress[]): Instead {
    const instead = new Map<string, Member>();
    for (const applicationId of new Set(gone.map((one) => one.applicationId))) {
      const kept = this.#kept.get(applicationId);
      if (kept === undefined) continue;
      const left = kept.findings.filter(({ id }) => !gone.some((one) => one.id === id));
      instead.set(applicationId, this.#memberFrom(kept.application, left));
    }
    return instead;
  }

  #addGroup(key: string): Group {
    if (this.#filling.groups.size >= groupsPerBundle) this.#filling = emptyBundle();
    const bundle = this.#filling;
    this.#bundles.add(bundle);
    const group: Group = { ids: new Set(), bundle, all: null, internetOnly: null };
    bundle.groups.add(group);
    this.#groups.set(key, group);
    return group;
  }

  #forget(applicationId: string): void {
    const kept = this.#kept.get(applicationId);
    if (kept === undefined) return;
    this.#kept.delete(applicationId);
    const key = groupKeyOf(kept.application);
    const group = this.#groups.get(key) as Group;
    group.ids.delete(applicationId);
    this.#touch(group);
    if (group.ids.size > 0) return;
    this.#groups.delete(key);
    group.bundle.groups.delete(group);
    if (group.bundle.groups.size === 0) this.#bundles.delete(group.bundle);
  }

  #touch(group: Group): void {
    for (const cached of [group, group.bundle, this.#merged]) {
      cached.all = null;
      cached.internetOnly = null;
    }
  }

  #read(scope: ChainScope, instead: Instead): RankedChains {
    if (scope.applicationId !== undefined) return this.#readOne(scope.applicationId, scope, instead);
    if (scope.isVisible !== undefined) return mergeGroups(this.#seen(scope, instead));
    const which = whichOf(scope);
    if (instead.size > 0) return mergeGroups(this.#bundlesWith(which, instead));
    return (this.#merged[which] ??= mergeGroups([...this.#bundles].map((bundle) => this.#joined(bundle, which))));
  }

  #joined(bundle: Bundle, which: Which): GroupChains {
    return (bundle[which] ??= joinGroups([...bundle.groups].map((group) => this.#chainsOf(group, which))));
  }

  /** Every bundle; those of other members are joined without being kept. */
  *#bundlesWith(which: Which, instead: Instead): Generator<GroupChains> {
    const touched = this.#groupsOf(instead);
    const bundles = new Set([...touched].map(({ bundle }) => bundle));
    for (const bundle of this.#bundles) {
      if (!bundles.has(bundle)) yield this.#joined(bundle, which);
      else for (const group of bundle.groups) yield this.#chainsWith(group, which, touched, instead);
    }
  }

  #groupsOf(instead: Instead): Set<Group> {
    const kept = [...instead.values()].map(({ view }) => this.#groups.get(groupKeyOf(view.application)));
    return new Set(kept.filter((group) => group !== undefined));
  }

  #chainsWith(group: Group, which: Which, touched: ReadonlySet<Group>, instead: Instead): GroupChains {
    if (!touched.has(group)) return this.#chainsOf(group, which);
    return chainsOfGroup(this.#members(group, { internetOnly: which === 'internetOnly' }, instead));
  }

  #members(group: Group, { internetOnly = false, isVisible }: ChainScope, instead = nothingInstead): Member[] {
    const members: Member[] = [];
    for (const id of group.ids) {
      if (isVisible !== undefined && !isVisible(id)) continue;
      const member = instead.get(id) ?? (this.#kept.get(id) as Kept).member;
      if (!internetOnly || member.view.isInternetFacing) members.push(member);
    }
    return members;
  }

  #chainsOf(group: Group, which: Which): GroupChains {
    return (group[which] ??= chainsOfGroup(this.#members(group, { internetOnly: which === 'internetOnly' })));
  }

  /** The groups of whom the caller sees some: those that are seen whole are not made again. */
  *#seen(scope: ChainScope, instead: Instead): Generator<GroupChains> {
    const isVisible = scope.isVisible as (id: string) => boolean;
    const touched = this.#groupsOf(instead);
    for (const group of this.#groups.values()) {
      const seen = [...group.ids].filter(isVisible).length;
      if (seen === group.ids.size) yield this.#chainsWith(group, whichOf(scope), touched, instead);
      else if (seen > 0) yield chainsOfGroup(this.#members(group, scope, instead));
    }
  }

  #memberOf(id: string, scope: ChainScope, instead = nothingInstead): { member: Member; members: Member[] } | null {
    const application = this.application(id);
    const group = application === null ? undefined : this.#groups.get(groupKeyOf(application));
    const members = group === undefined ? [] : this.#members(group, scope, instead);
    const member = members.find(({ view }) => view.application.id === id);
    return member === undefined ? null : { member, members };
  }

  #readOne(applicationId: string, scope: ChainScope, instead: Instead): RankedChains {
    const found = this.#memberOf(applicationId, scope, instead);
    return mergeGroups(found === null ? [] : [chainsOfMember(found.member, found.members)]);
  }
}
