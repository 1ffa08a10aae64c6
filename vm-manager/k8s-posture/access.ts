// Objects of a cluster → who has which rules where. Roles that are summed up of others get the rules of those.
import type { ClusterObject } from '../scanners/contract.js';
import { textOf } from '../kit/values/text.js';
import { each } from './turns.js';
import { rolesOfEveryCluster, type RoleRule } from './rights.js';

export type SubjectKind = 'user' | 'group' | 'account';

export interface Subject {
  readonly kind: SubjectKind;
  /** Of a service account. */
  readonly namespace: string;
  readonly name: string;
}

export const keyOf = ({ kind, namespace, name }: Subject): string => `${kind}:${namespace}/${name}`;

export interface Held {
  readonly subject: Subject;
  /** By namespace; null: in the whole cluster. */
  readonly rules: Map<string | null, RoleRule[]>;
  /** `ClusterRoleBinding/ops → ClusterRole/admin`. */
  readonly bindings: Map<string | null, string[]>;
}

export interface Access {
  readonly held: ReadonlyMap<string, Held>;
  /** Bindings whose role was not scanned. */
  readonly unknownRoles: readonly string[];
  /** Roles of every cluster that were taken as they usually are. */
  readonly assumed: readonly string[];
}

type Detail = Readonly<Record<string, unknown>>;
const listIn = <T>(detail: Detail, name: string): readonly T[] =>
  Array.isArray(detail[name]) ? (detail[name] as T[]) : [];

interface RoleDetail {
  readonly rules: readonly RoleRule[];
  readonly labels: Readonly<Record<string, string>>;
  readonly sums: readonly Readonly<Record<string, string>>[];
}
interface GivenSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

const roleDetail = ({ detail }: ClusterObject): RoleDetail => ({
  rules: listIn<RoleRule>(detail, 'rules'),
  labels: (detail['labels'] ?? {}) as RoleDetail['labels'],
  sums: listIn(detail, 'sums'),
});

async function rolesOf(objects: readonly ClusterObject[]): Promise<Map<string, readonly RoleRule[]>> {
  const byLabel = new Map<string, RoleDetail[]>();
  const keyOfLabel = (name: string, value: string): string => JSON.stringify([name, value]);
  const roles: ClusterObject[] = [];
  await each(objects, (one) => {
    if (one.kind !== 'role') return;
    roles.push(one);
    if (one.type !== 'ClusterRole') return;
    const detail = roleDetail(one);
    for (const [name, value] of Object.entries(detail.labels)) {
      const key = keyOfLabel(name, value);
      const of = byLabel.get(key);
      if (of === undefined) byLabel.set(key, [detail]);
      else of.push(detail);
    }
  });
  const found = new Map<string, readonly RoleRule[]>();
  await each(roles, (role) => {
    const { rules, sums } = roleDetail(role);
    const added = new Set<RoleDetail>();
    for (const wanted of rules.length > 0 ? [] : sums) {
      const [first, ...rest] = Object.entries(wanted);
      if (first === undefined) continue;
      for (const one of byLabel.get(keyOfLabel(...first)) ?? [])
        if (rest.every(([name, value]) => one.labels[name] === value)) added.add(one);
    }
    const all = rules.length > 0 ? rules : [...added].flatMap((one) => one.rules);
    found.set(`${role.type}:${role.namespace}/${role.name}`, all);
  });
  return found;
}

function toSubject({ kind, name, namespace }: GivenSubject): Subject | null {
  if (kind === 'ServiceAccount') return { kind: 'account', namespace, name };
  if (kind === 'Group') return { kind: 'group', namespace: '', name };
  if (kind !== 'User') return null;
  const [, ofNamespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  if (ofNamespace !== undefined && account !== undefined)
    return { kind: 'account', namespace: ofNamespace, name: account };
  return { kind: 'user', namespace: '', name };
}

type Gathered = { readonly [Name in keyof Access]: Name extends 'held' ? Map<string, Held> : Set<string> };

/** What one binding gives to whom. */
function addBinding(
  { type, namespace, name, detail }: ClusterObject,
  roles: Awaited<ReturnType<typeof rolesOf>>,
  all: Gathered,
) {
  const isCluster = type === 'ClusterRoleBinding';
  const [roleKind, role] = [textOf(detail['role_kind']), textOf(detail['role'])];
  const isClusterRole = roleKind === 'ClusterRole';
  const scanned = roles.get(`${roleKind}:${isClusterRole ? '' : namespace}/${role}`);
  const usual = isClusterRole && Object.hasOwn(rolesOfEveryCluster, role) ? rolesOfEveryCluster[role] : undefined;
  const rules = scanned ?? usual;
  if (rules === undefined) return void all.unknownRoles.add(`${type}/${name} → ${roleKind}/${role}`);
  if (scanned === undefined) all.assumed.add(role);
  const where = isCluster ? null : namespace;
  const told = `${type}/${isCluster ? '' : `${namespace}/`}${name} → ${roleKind}/${role}`;
  for (const given of listIn<GivenSubject>(detail, 'subjects')) {
    const subject = toSubject(given);
    if (subject === null) continue;
    const key = keyOf(subject);
    const one = all.held.get(key) ?? { subject, rules: new Map(), bindings: new Map() };
    all.held.set(key, one);
    // in place: one subject may be in each of tens of thousands of bindings
    const own = one.rules.get(where) ?? [];
    for (const rule of rules) own.push(rule);
    one.rules.set(where, own);
    const by = one.bindings.get(where) ?? [];
    by.push(told);
    one.bindings.set(where, by);
  }
}

/** Who holds what. A RoleBinding gives its role in its own namespace alone, also where it is a ClusterRole. */
export async function accessOf(objects: readonly ClusterObject[]): Promise<Access> {
  const roles = await rolesOf(objects);
  const all: Gathered = { held: new Map(), unknownRoles: new Set(), assumed: new Set() };
  await each(objects, (one) => {
    if (one.kind === 'binding') addBinding(one, roles, all);
  });
  return { held: all.held, unknownRoles: [...all.unknownRoles], assumed: [...all.assumed].sort() };
}
