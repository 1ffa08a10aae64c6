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
  memberOf,
  mergeGroups,
  type GroupChains,
  type Member,
  type RankedChains,
} from './group.js';
import { lateralPathsMax } from './kinds/lateral.js';
import { chainId } from './present.js';

export interface ChainScope {
  /** Only chains that start at this application; what it can reach is loaded all the same. */
  readonly applicationId?: string;
  /** Only internet-facing applications, also as what a chain ends at. */
  readonly internetOnly?: boolean;
  /** Applications that the caller may see; chains are those of an organisation that has no others. */
  readonly isVisible?: (applicationId: string) => boolean;
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

interface Group {
  readonly ids: Set<string>;
  all: GroupChains | null;
  internetOnly: GroupChains | null;
}

const groupKeyOf = ({ id, projectId }: ChainApplication): string =>
  projectId === null ? `application:${id}` : `project:${projectId}`;

export class ChainEngine {
  readonly #withPack: boolean;
  readonly #kept = new Map<string, Kept>();
  readonly #groups = new Map<string, Group>();
  #merged: { all: RankedChains | null; internetOnly: RankedChains | null } = { all: null, internetOnly: null };

  /** `withPack`: also the toxic combinations that are off by default. */
  constructor({ withPack = false }: { readonly withPack?: boolean } = {}) {
    this.#withPack = withPack;
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
    this.#forget(application.id);
    const member = memberOf(viewOf(application, findings), this.#withPack);
    this.#kept.set(application.id, { application, findings, member });
    const key = groupKeyOf(application);
    const group = this.#groups.get(key) ?? { ids: new Set(), all: null, internetOnly: null };
    group.ids.add(application.id);
    this.#groups.set(key, group);
    this.#touch(group);
  }

  remove(applicationId: string): void {
    this.#forget(applicationId);
  }

  /** The best chains and the counts of all within a scope; empty where the application is unknown or out of scope. */
  read(scope: ChainScope = {}): RankedChains {
    if (scope.applicationId !== undefined) return this.#readOne(scope.applicationId, scope);
    if (scope.isVisible !== undefined) return mergeGroups(this.#seen(scope), lateralPathsMax);
    const which = scope.internetOnly === true ? 'internetOnly' : 'all';
    return (this.#merged[which] ??= mergeGroups(
      [...this.#groups.values()].map((group) => this.#chainsOf(group, which)),
      lateralPathsMax,
    ));
  }

  /** What a scope would have without some findings: everything about their projects is made anew. */
  without(gone: readonly FindingAddress[], scope: ChainScope = {}): RankedChains {
    return this.#less(gone).read(scope);
  }

  /** Every chain with a hop in an application, as if some findings were not there. */
  through(applicationId: string, gone: readonly FindingAddress[] = []): Chain[] {
    const engine = gone.length === 0 ? this : this.#less(gone);
    const application = engine.application(applicationId);
    const group = application === null ? undefined : engine.#groups.get(groupKeyOf(application));
    const members = group === undefined ? [] : engine.#members(group, {});
    const member = members.find(({ view }) => view.application.id === applicationId);
    return member === undefined ? [] : chainsThrough(member, members);
  }

  #less(gone: readonly FindingAddress[]): ChainEngine {
    const other = new ChainEngine({ withPack: this.#withPack });
    for (const [id, kept] of this.#kept) other.#kept.set(id, kept);
    for (const [key, group] of this.#groups) other.#groups.set(key, { ...group, ids: new Set(group.ids) });
    for (const applicationId of new Set(gone.map((one) => one.applicationId))) {
      const kept = this.#kept.get(applicationId);
      if (kept === undefined) continue;
      const left = kept.findings.filter(({ id }) => !gone.some((one) => one.id === id));
      other.set(kept.application, left);
    }
    return other;
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

  #forget(applicationId: string): void {
    const kept = this.#kept.get(applicationId);
    if (kept === undefined) return;
    this.#kept.delete(applicationId);
    const key = groupKeyOf(kept.application);
    const group = this.#groups.get(key) as Group;
    group.ids.delete(applicationId);
    if (group.ids.size === 0) this.#groups.delete(key);
    this.#touch(group);
  }

  #touch(group: Group): void {
    group.all = null;
    group.internetOnly = null;
    this.#merged = { all: null, internetOnly: null };
  }

  #members(group: Group, { internetOnly = false, isVisible }: ChainScope): Member[] {
    return [...group.ids]
      .filter((id) => isVisible === undefined || isVisible(id))
      .map((id) => (this.#kept.get(id) as Kept).member)
      .filter(({ view }) => !internetOnly || view.isInternetFacing);
  }

  #chainsOf(group: Group, which: 'all' | 'internetOnly'): GroupChains {
    return (group[which] ??= chainsOfGroup(this.#members(group, { internetOnly: which === 'internetOnly' })));
  }

  /** The groups of whom the caller sees some: those that are seen whole are not made again. */
  *#seen(scope: ChainScope): Generator<GroupChains> {
    const isVisible = scope.isVisible as (id: string) => boolean;
    for (const group of this.#groups.values()) {
      const seen = [...group.ids].filter(isVisible).length;
      if (seen === group.ids.size) yield this.#chainsOf(group, scope.internetOnly === true ? 'internetOnly' : 'all');
      else if (seen > 0) yield chainsOfGroup(this.#members(group, scope));
    }
  }

  #memberOf(applicationId: string, scope: ChainScope): { member: Member; members: Member[] } | null {
    const application = this.application(applicationId);
    const group = application === null ? undefined : this.#groups.get(groupKeyOf(application));
    const members = group === undefined ? [] : this.#members(group, scope);
    const member = members.find(({ view }) => view.application.id === applicationId);
    return member === undefined ? null : { member, members };
  }

  #readOne(applicationId: string, scope: ChainScope): RankedChains {
    const found = this.#memberOf(applicationId, scope);
    return mergeGroups(found === null ? [] : [chainsOfMember(found.member, found.members)], lateralPathsMax);
  }
}
