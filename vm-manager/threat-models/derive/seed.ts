// A model of what is known of an application already: its row, its targets, the inventory and specifications of its
// site, its bill of materials, and what scanners found. What people wrote stays; what is derived has ids with auto:.
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';
import type { LiveOperation } from '../../apis/port.js';
import type { DataAsset, Dfd, Element, Flow, Trait } from '../model.js';
import { toKey } from '../formats/reading.js';
import { habitOfWeakness, habits, partners } from './known.js';

const operationsMax = 500;

export interface ApplicationFacts {
  readonly id: number;
  readonly name: string;
  readonly environment: string;
  readonly exposure: 'internet' | 'internal' | 'unknown';
  readonly dataClasses: readonly string[];
  readonly hasTls: boolean;
  readonly isBehindFirewall: boolean;
  readonly packages: readonly string[];
  readonly weaknesses: readonly number[];
  readonly operations: readonly LiveOperation[];
}

interface ApplicationRow {
  readonly id: number;
  readonly name: string;
  readonly environment: string;
  readonly exposure: ApplicationFacts['exposure'];
  readonly data_classes: readonly string[];
  readonly site: string | null;
}

/** The inventory is asked for those only who reach the whole organisation: it is of the firewall. */
export async function factsOf(sql: Sql, host: Host, application: number, withInventory: boolean) {
  const [row] = await sql<ApplicationRow[]>`
    select id, name, environment, exposure, data_classes, site from vm_applications where id = ${application}`;
  if (row === undefined) throw new Error(`application ${application} went meanwhile`);
  const targets = await sql<
    { url: string }[]
  >`select url from vm_targets where application_id = ${application} limit 500`;
  const packages = await sql<{ name: string }[]>`
    select distinct lower(name) as name from vm_components
    where application_id = ${application} and gone_at is null limit 20000`;
  const weaknesses = await sql<{ cwe: number }[]>`
    select distinct cwe::int as cwe from vm_findings, jsonb_array_elements_text(cwes) cwe
    where application_id = ${application} and is_open limit 500`;
  const { site } = row;
  return {
    ...{ id: row.id, name: row.name, environment: row.environment, exposure: row.exposure },
    dataClasses: row.data_classes,
    hasTls: targets.length > 0 && targets.every(({ url }) => url.startsWith('https:')),
    isBehindFirewall: site !== null,
    packages: packages.map(({ name }) => name),
    weaknesses: weaknesses.map(({ cwe }) => cwe),
    operations: site === null || !withInventory ? [] : ((await host.apis?.operations(site, operationsMax)) ?? []),
  } satisfies ApplicationFacts;
}

const levels = {
  Restricted: 'restricted',
  Confidential: 'confidential',
  Internal: 'internal',
  Public: 'public',
} as const;

function dataOf(facts: ApplicationFacts): DataAsset[] {
  const named = facts.dataClasses.map((name) => ({
    id: toKey(`auto:data:${name.toLowerCase()}`),
    name,
    classification: /restrict|secret|card|pci|health|phi/i.test(name)
      ? ('restricted' as const)
      : /public/i.test(name)
        ? ('public' as const)
        : ('confidential' as const),
    personal: /pii|person|customer|health|phi|gdpr|card/i.test(name),
  }));
  const seen = new Map<string, DataAsset>();
  for (const { categories, classification, regulations } of facts.operations)
    for (const name of categories) {
      const id = toKey(`auto:data:${name.toLowerCase()}`);
      const personal = regulations.length > 0 || /mail|name|phone|birth|address|card|iban|person/i.test(name);
      if (seen.get(id)?.classification !== 'restricted')
        seen.set(id, { id, name, classification: levels[classification], personal });
    }
  const own = new Set(named.map(({ id }) => id));
  return [...named, ...[...seen.values()].filter(({ id }) => !own.has(id))].slice(0, 60);
}

const isOutside = ({ exposure, environment }: ApplicationFacts): boolean =>
  exposure === 'internet' || (exposure === 'unknown' && /^prod/i.test(environment));

/** How callers say who they are: what most of the operations that ask for credentials have seen. */
function authenticationOf(operations: readonly LiveOperation[]): NonNullable<Flow['authentication']> {
  if (operations.length === 0) return 'unknown';
  const types = operations
    .flatMap(({ authTypes }) => authTypes)
    .join(' ')
    .toLowerCase();
  if (/mtls|certificate/.test(types)) return 'certificate';
  if (/bearer|jwt|token|api.?key|oauth/.test(types)) return 'token';
  if (/cookie|session/.test(types)) return 'session';
  if (/basic|digest/.test(types)) return 'credentials';
  return operations.some(({ auth }) => auth === 'enforced') ? 'unknown' : 'none';
}

const isOpen = ({ auth, classification }: LiveOperation): boolean =>
  (auth === 'accepted-without' || auth === 'mixed') && classification !== 'Public';

function traitsOf(facts: ApplicationFacts): Trait[] {
  const found = [
    ...habits.filter(([packages]) => facts.packages.some((name) => packages.test(name))).map(([, trait]) => trait),
    ...facts.weaknesses.flatMap((cwe) => habitOfWeakness[cwe] ?? []),
    // the firewall keeps a record of each request
    ...(facts.isBehindFirewall ? (['logs'] as const) : []),
  ];
  return [...new Set(found)].sort();
}

/** What is known, as a model of its own. */
export function seedOf(facts: ApplicationFacts): Dfd {
  const data = dataOf(facts);
  const held = data.map(({ id }) => id);
  const outside = isOutside(facts);
  const clients: Element = {
    ...{ id: 'auto:clients', name: outside ? 'Clients on the internet' : 'Clients inside', kind: 'person' },
    boundary: outside ? 'auto:internet' : 'auto:inside',
    internet: outside,
  };
  const application: Element = {
    ...{ id: 'auto:application', name: facts.name, kind: 'process', boundary: 'auto:inside' },
    internet: outside,
    traits: traitsOf(facts),
    data: held,
  };
  const others = partners.filter(({ packages }) => facts.packages.some((name) => packages.test(name)));
  const requests: Flow = {
    ...{ id: 'auto:requests', name: 'Requests', from: clients.id, to: application.id, protocol: 'https' },
    authentication: authenticationOf(facts.operations),
    encrypted: facts.hasTls ? 'yes' : 'unknown',
    data: held,
    operations: facts.operations.map(({ method, template }) => `${method} ${template}`.slice(0, 300)),
    open_operations: facts.operations.filter(isOpen).length,
    shadow_operations: facts.operations.filter(({ shadow }) => shadow === true).length,
  };
  return {
    boundaries: [
      ...(outside ? [{ id: 'auto:internet', name: 'Internet', kind: 'internet' as const }] : []),
      {
        id: 'auto:inside',
        name: facts.environment === '' ? 'Inside' : `Inside (${facts.environment})`.slice(0, 200),
        kind: 'network',
      },
    ],
    elements: [
      clients,
      application,
      ...others.map(
        ({ element }): Element => ({
          ...element,
          boundary: element.kind === 'store' ? 'auto:inside' : outside ? 'auto:internet' : 'auto:inside',
          ...(element.kind === 'store' ? { data: held } : { internet: true }),
        }),
      ),
    ],
    flows: [
      requests,
      ...others.map(
        ({ element }): Flow => ({
          ...{ id: `auto:to-${element.id.slice(5)}`, name: 'Reads and writes', from: application.id, to: element.id },
          ...{ protocol: element.technology ?? '', authentication: 'unknown', encrypted: 'unknown', data: held },
        }),
      ),
    ],
    data,
  };
}

/** What is measured anew in each round of something that is in the model already. */
const refreshed = (before: Flow, now: Flow | undefined): Flow =>
  now?.operations === undefined
    ? before
    : {
        ...before,
        operations: now.operations,
        open_operations: now.open_operations ?? 0,
        shadow_operations: now.shadow_operations ?? 0,
      };

export interface Merged {
  readonly dfd: Dfd;
  readonly added: number;
}

/** The model with what is known and not in it yet. What `ignored` names stays away, with all that leads to it. */
export function merge(dfd: Dfd, seed: Dfd): Merged {
  const ignored = new Set(dfd.ignored ?? []);
  const missing = <T extends { readonly id: string }>(own: readonly T[] = [], known: readonly T[] = []): T[] => {
    const there = new Set(own.map(({ id }) => id));
    return known.filter(({ id }) => !there.has(id) && !ignored.has(id));
  };
  const flowsBefore = (dfd.flows ?? []).map((flow) =>
    refreshed(
      flow,
      seed.flows?.find(({ id }) => id === flow.id),
    ),
  );
  const data = [...(dfd.data ?? []), ...missing(dfd.data, seed.data)];
  const boundaries = [...(dfd.boundaries ?? []), ...missing(dfd.boundaries, seed.boundaries)];
  const assets = new Set(data.map(({ id }) => id));
  const zones = new Set(boundaries.map(({ id }) => id));
  const heldOf = (ids: readonly string[] | undefined) => ids?.filter((id) => assets.has(id));
  const newElements = missing(dfd.elements, seed.elements).map(
    ({ boundary, data: held, ...one }): Element => ({
      ...one,
      ...(boundary !== undefined && zones.has(boundary) ? { boundary } : {}),
      ...(held === undefined ? {} : { data: heldOf(held) ?? [] }),
    }),
  );
  const elements = [...dfd.elements, ...newElements];
  const ends = new Set(elements.map(({ id }) => id));
  const newFlows = missing(dfd.flows, seed.flows)
    .filter(({ from, to }) => ends.has(from) && ends.has(to))
    .map(({ data: held, ...one }): Flow => ({ ...one, ...(held === undefined ? {} : { data: heldOf(held) ?? [] }) }));
  return {
    dfd: { ...dfd, boundaries, elements, flows: [...flowsBefore, ...newFlows], data },
    added: newElements.length + newFlows.length,
  };
}
