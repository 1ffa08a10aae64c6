// Components of an application beside the advisories: which are affected, and which cannot be told. Advisories that are
// aliases of each other are one weakness, whatever way the alias is written.
import type { Queryable } from '../database.js';
import { Breath } from '../kit/values/breath.js';
import { groupBy } from '../kit/values/group-by.js';
import { parsePurl, advisoryNameOf, type Purl } from '../components/purl.js';
import type { AdvisoryFacts, Affected } from './advisory.js';
import { isAffected } from './affects.js';

export interface MatchedComponent {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

export interface Hit {
  readonly component: MatchedComponent;
  readonly osvId: string;
  readonly package: string;
  readonly fixed: string | null;
  readonly canBeFixed: boolean | null;
}
/** A pair of which nobody can say whether it is a hit. */
export interface Unknown {
  readonly component: MatchedComponent;
  readonly osvId: string;
  readonly package: string;
  readonly reason: string;
}

export interface Pair extends Affected {
  readonly osv_id: string;
}
export interface ComponentRow extends MatchedComponent {
  readonly package: string;
}

/** Components that are read at once, with the advisories of their packages. */
const batch = 200;

/** Debian:12 and a component of Debian 11 are no pair; one that does not say its release is. */
function fitsRelease(release: string, component: string): boolean {
  // `Linux Enterprise Server 15 SP5` is what a package calls 15.5
  const words = release.replace(/(\d) SP(\d)/g, '$1.$2').split(/[: ]/);
  return release === '' || component === '' || words.includes(component);
}

/** With the epoch that a purl of an RPM package has beside its version. */
function versionOf({ version }: ComponentRow, parsed: Purl | null): string {
  const plain = version || (parsed?.version ?? '');
  const epoch = parsed?.type === 'rpm' ? (parsed.qualifiers.get('epoch') ?? '') : '';
  return epoch === '' || plain === '' || plain.includes(':') ? plain : `${epoch}:${plain}`;
}

/** Adds what the pairs, which are of its package, say of one component. Pure. */
export function judge(component: ComponentRow, pairs: readonly Pair[], hits: Hit[], unknown: Unknown[]): void {
  const purl = parsePurl(component.purl);
  const release = purl === null ? '' : (advisoryNameOf(purl)?.release ?? '');
  const version = versionOf(component, purl);
  const byAdvisory = groupBy(pairs, ({ osv_id: id }) => id);
  for (const [osvId, entries] of byAdvisory) {
    const fitting = entries.filter((entry) => fitsRelease(entry.release, release));
    const base = { component, osvId, package: component.package };
    const answers = fitting.map((entry) => isAffected(entry, version));
    const found = answers.find((answer) => answer.kind === 'affected');
    const open = answers.find((answer) => answer.kind === 'not comparable');
    // releases differ in their fixed versions: which one counts is not known
    const isVague = release === '' && new Set(fitting.map((entry) => entry.release)).size > 1;
    if (found !== undefined && isVague && answers.some(({ kind }) => kind !== 'affected'))
      unknown.push({ ...base, reason: 'the component does not say of which release it is' });
    else if (found !== undefined) hits.push({ ...base, fixed: found.fixed, canBeFixed: found.canBeFixed });
    else if (open !== undefined) unknown.push({ ...base, reason: open.reason });
  }
}

export interface Matches {
  readonly components: number;
  readonly hits: readonly Hit[];
  readonly unknown: readonly Unknown[];
}

/** Every live component of the application with an ecosystem, and every advisory of its package that holds. */
export async function matchComponents(sql: Queryable, applicationId: number): Promise<Matches> {
  const [hits, unknown]: [Hit[], Unknown[]] = [[], []];
  let components = 0;
  const breath = new Breath();
  for (let after = 0; ; ) {
    const rows = await sql<ComponentRow[]>`
      select id, name, version, coalesce(purl, '') as purl, package from vm_components
      where application_id = ${applicationId} and gone_at is null and package is not null and id > ${after}
      order by id limit ${batch}`;
    components += rows.length;
    const packages = [...new Set(rows.map((row) => row.package))];
    const pairs =
      packages.length === 0
        ? []
        : await sql<Pair[]>`
            select a.osv_id, a.ecosystem, a.release, a.package, a.ranges, a.versions
            from vm_osv_affected a join vm_osv o on o.id = a.osv_id
            where a.package in ${sql(packages)} and o.withdrawn_at is null order by a.osv_id, a.id`;
    const byPackage = groupBy(pairs, (pair) => pair.package);
    for (const row of rows) {
      await breath.take();
      judge(row, byPackage.get(row.package) ?? [], hits, unknown);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) return { components, hits, unknown };
    after = last.id;
  }
}

export interface KnownAdvisory {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly facts: AdvisoryFacts;
}

/** Advisories that say they are the same, each set under the smallest of its ids. */
export function groupAliases(all: readonly KnownAdvisory[]): ReadonlyMap<string, readonly KnownAdvisory[]> {
  const parent = new Map<string, string>();
  const rootOf = (id: string): string => {
    let at = id;
    for (let next = parent.get(at); next !== undefined && next !== at; next = parent.get(at)) at = next;
    return at;
  };
  for (const { id, aliases } of all)
    for (const alias of [id, ...aliases]) {
      const [one, other] = [rootOf(id.toUpperCase()), rootOf(alias.toUpperCase())];
      if (one !== other) parent.set(one > other ? one : other, one > other ? other : one);
    }
  return groupBy(all, ({ id }) => rootOf(id.toUpperCase()));
}
