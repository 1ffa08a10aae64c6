// Paths from subjects to what nobody but administrators should reach, shortest first. The graph is searched backwards,
// once for each goal, so that its cost is that of its edges however many subjects there are.
import type { ClusterObject } from '../scanners/contract.js';
import { textOf } from '../kit/values/text.js';
import { each } from './turns.js';
import { accessOf, keyOf, type Access, type Held, type Subject } from './access.js';
import { escalations, goalNames, type Escalation, type Goal, type Scope, type Target } from './rights.js';

export const hopsMax = 6;
/** Rights of a cluster that is made to be slow end here; the answer says so. */
const edgesMax = 1_000_000;

export interface Hop {
  readonly from: string;
  readonly to: string;
  readonly rule: Escalation | null;
  /** null: the whole cluster. */
  readonly namespace: string | null;
}

export interface RbacPath {
  readonly subject: Subject;
  readonly goal: Goal;
  readonly hops: readonly (Hop & { readonly bindings: readonly string[] })[];
}

export interface Paths {
  readonly paths: readonly RbacPath[];
  readonly subjects: number;
  readonly unknownRoles: readonly string[];
  readonly assumed: readonly string[];
  /** Roles and bindings that are larger than what is kept of one. */
  readonly cut: number;
  /** There are more connections than are looked at. */
  readonly isPartial: boolean;
}

/** Nodes that stand for many accounts: `any:shop`, `running:*`. */
const hubOf = (which: string, namespace: string | null): string => `${which}:${namespace ?? '*'}`;
const isHub = (node: string): boolean => /^(?:any|running|with-token|users):/.test(node);

/** Reverse edges: what leads to a node. `rule` null: it is a member, which is no hop. */
class Graph {
  readonly #into = new Map<string, Hop[]>();
  edges = 0;
  add(hop: Hop): void {
    if (++this.edges > edgesMax) return;
    const all = this.#into.get(hop.to);
    if (all === undefined) this.#into.set(hop.to, [hop]);
    else all.push(hop);
  }
  into(node: string): readonly Hop[] {
    return this.#into.get(node) ?? [];
  }
}

const account = (namespace: string, name: string): Subject => ({ kind: 'account', namespace, name });

/** All accounts that are named anywhere: by themselves, by a binding, by what runs, by a token. */
async function accountsOf(objects: readonly ClusterObject[], { held }: Access) {
  const all = new Map<string, Subject>();
  const running = new Set<string>();
  const withToken = new Set<string>();
  const note = (subject: Subject): string => {
    const key = keyOf(subject);
    all.set(key, subject);
    return key;
  };
  for (const { subject } of held.values()) if (subject.kind === 'account') note(subject);
  await each(objects, ({ kind, namespace, name, detail }) => {
    if (kind === 'account') note(account(namespace, name));
    if (kind === 'workload') {
      const key = note(account(namespace, textOf(detail['account']) || 'default'));
      if (detail['has_token'] !== false) running.add(key);
    }
    if (kind === 'token') withToken.add(note(account(namespace, textOf(detail['account']))));
  });
  return { all, running, withToken };
}

/** Returns the accounts by name. */
async function addMembers(
  graph: Graph,
  objects: readonly ClusterObject[],
  access: Access,
): Promise<Map<string, string[]>> {
  const { all, running, withToken } = await accountsOf(objects, access);
  const member = (from: string, to: string): void => graph.add({ from, to, rule: null, namespace: null });
  const namespaces = new Set<string>();
  await each(all, ([key, { namespace }]) => {
    namespaces.add(namespace);
    member(hubOf('any', namespace), key);
    if (running.has(key)) member(hubOf('running', namespace), key);
    if (withToken.has(key)) member(hubOf('with-token', namespace), key);
    for (const name of ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'])
      member(key, `group:/${name}`);
  });
  await each(namespaces, (namespace) => {
    for (const which of ['any', 'running', 'with-token']) member(hubOf(which, null), hubOf(which, namespace));
  });
  for (const { subject } of access.held.values())
    if (subject.kind === 'user') {
      member(keyOf(subject), 'group:/system:authenticated');
      member(hubOf('users', null), keyOf(subject));
    }
  member('group:/system:masters', 'goal:cluster-admin');
  const byName = new Map<string, string[]>();
  await each(all, ([key, { name }]) => {
    const of = byName.get(name);
    if (of === undefined) byName.set(name, [key]);
    else of.push(key);
  });
  return byName;
}

function nodesOf(target: Target, { namespace }: Scope, accounts: ReadonlyMap<string, readonly string[]>): string[] {
  if ('goal' in target) return [`goal:${target.goal}`];
  if ('accounts' in target) return [hubOf(target.accounts, namespace)];
  if (target.kind === 'user' && target.name === '*') return [hubOf('users', null)];
  if (target.kind !== 'account') return [`${target.kind}:/${target.name}`];
  return namespace === null ? [...(accounts.get(target.name) ?? [])] : [keyOf(account(namespace, target.name))];
}

function scopesOf(objects: readonly ClusterObject[]): (namespace: string | null) => Scope {
  const guarded = new Set<string>();
  for (const { kind, name, detail } of objects) {
    const labels = (detail['labels'] ?? {}) as Readonly<Record<string, string>>;
    if (kind === 'namespace' && /^(?:baseline|restricted)$/.test(labels['pod-security.kubernetes.io/enforce'] ?? ''))
      guarded.add(name);
  }
  return (namespace) => ({ namespace, keepsPodsOff: namespace !== null && guarded.has(namespace) });
}

/** What one holder's rules lead to; rights in the whole cluster hold in each namespace, too. */
function addRights(
  graph: Graph,
  { subject, rules }: Held,
  scopeOf: (name: string | null) => Scope,
  accounts: ReadonlyMap<string, readonly string[]>,
): void {
  const everywhere = rules.get(null) ?? [];
  const from = keyOf(subject);
  for (const [namespace, own] of rules) {
    const scope = scopeOf(namespace);
    const all = namespace === null ? own : [...own, ...everywhere];
    for (const rule of escalations)
      for (const target of rule.targets(all, scope))
        for (const to of nodesOf(target, scope, accounts)) if (to !== from) graph.add({ from, to, rule, namespace });
  }
}

/** The next hop towards the goal, of each node that reaches it within `hopsMax`. */
async function towards(graph: Graph, goal: Goal): Promise<Map<string, Hop>> {
  const next = new Map<string, Hop>();
  const done = new Set([`goal:${goal}`]);
  let level = [`goal:${goal}`];
  for (let hops = 0; level.length > 0 && hops <= hopsMax; hops++) {
    const further = new Set<string>();
    // members are on the same level as what they are members of: the list grows while it is read
    await each(level, (node) => {
      for (const hop of graph.into(node)) {
        if (done.has(hop.from) || (hop.rule !== null && hops === hopsMax)) continue;
        if (hop.rule !== null) {
          further.add(hop.from);
          if (!next.has(hop.from)) next.set(hop.from, hop);
          continue;
        }
        done.add(hop.from);
        next.set(hop.from, hop);
        level.push(hop.from);
      }
    });
    level = [...further].filter((node) => !done.has(node));
    for (const node of level) done.add(node);
  }
  return next;
}

function pathOf(start: Held, goal: Goal, next: ReadonlyMap<string, Hop>, access: Access): RbacPath | null {
  const hops: (Hop & { bindings: readonly string[] })[] = [];
  let at = keyOf(start.subject);
  for (let steps = 0; steps < hopsMax * 4; steps++) {
    const hop = next.get(at);
    if (hop === undefined) return null;
    const bindings = access.held.get(hop.from)?.bindings;
    // a hub is no subject: the hop before leads to the account behind it
    if (isHub(hop.from)) hops[hops.length - 1] = { ...(hops.at(-1) as RbacPath['hops'][number]), to: hop.to };
    else {
      const told = [
        ...(bindings?.get(hop.namespace) ?? []),
        ...(hop.namespace === null ? [] : (bindings?.get(null) ?? [])),
      ];
      hops.push({ ...hop, bindings: hop.rule === null ? [] : told.slice(0, 20) });
    }
    if (hop.to === `goal:${goal}`) return { subject: start.subject, goal, hops };
    at = hop.to;
  }
  return null;
}

/** The shortest path of each subject that holds rights to each goal. Objects as they were scanned, in any order. */
export async function pathsOf(objects: readonly ClusterObject[]): Promise<Paths> {
  const access = await accessOf(objects);
  const graph = new Graph();
  const accounts = await addMembers(graph, objects, access);
  const scopeOf = scopesOf(objects);
  const holders = [...access.held.values()];
  await each(holders, (one) => addRights(graph, one, scopeOf, accounts));
  const paths: RbacPath[] = [];
  const masters = new Set<string>();
  for (const goal of goalNames) {
    const next = await towards(graph, goal);
    await each(holders, (one) => {
      // every other goal follows from every right
      const path = masters.has(keyOf(one.subject)) ? null : pathOf(one, goal, next, access);
      if (path === null) return;
      paths.push(path);
      if (goal === 'cluster-admin') masters.add(keyOf(one.subject));
    });
  }
  return {
    paths,
    subjects: holders.length,
    ...{ unknownRoles: access.unknownRoles, assumed: access.assumed },
    cut: objects.filter(({ detail }) => detail['is_cut'] === true).length,
    isPartial: graph.edges > edgesMax,
  };
}
