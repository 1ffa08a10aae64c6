// What the advisories say of the packages of an image, by the layer that brought them: what a newer base brings along,
// and what its own layers have to change.
import type { Sql } from '../database.js';
import { severityNames, severityNumbers, type Severity } from '../findings/words.js';
import { clusterOf } from '../imports/fingerprint.js';
import { adviseOn, advisoriesOf, findingsOf, type KnownFinding } from '../osv/compare.js';
import { groupAliases, type ComponentRow, type Hit, type KnownAdvisory } from '../osv/match.js';
import { besideOf, layerOwner, type Image } from './store.js';

const rowsMax = 5000;

interface Packed extends ComponentRow {
  readonly layer: number;
  readonly path: string;
}

async function packagesOf(
  sql: Sql,
  image: number,
): Promise<readonly (Omit<Packed, 'package'> & { package: string | null })[]> {
  return sql`
    select n as id, name, version, purl, package, layer, path from vm_image_packages
    where image_id = ${image} order by n`;
}

export const keysOf = ({ component }: Hit, advisory: KnownAdvisory): string[] => {
  const { name, version, purl } = component;
  const location = { kind: 'package', name, version, ...(purl === '' ? {} : { purl }) } as const;
  // findings have their ids in capitals
  const ids = [advisory.id, ...advisory.aliases].flatMap((id) => [id, id.toUpperCase()]);
  return [...new Set(ids)].flatMap((id) => clusterOf(id, location) ?? []);
};

/** Ecosystems of packages that were compared with nothing. */
async function withoutAdvisories(
  sql: Sql,
  packages: readonly { readonly package: string | null; readonly purl: string }[],
) {
  const names = packages.map(({ package: name, purl }) => name?.split('|')[0] ?? /^pkg:([^/]+)/.exec(purl)?.[1] ?? '');
  const missing: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    const [row] = await sql`
      select 1 from vm_osv_affected where package >= ${`${name}|`} and package < ${`${name}}`} limit 1`;
    if (row === undefined) missing.push(name);
  }
  return missing;
}

export async function vulnerabilitiesOf(sql: Sql, image: Image) {
  const all = await packagesOf(sql, image.id);
  const { run } = (await besideOf(sql, [image]))(image);
  const known = all.filter((one): one is Packed => one.package !== null);
  const places = new Map(known.map((one) => [one.id, one]));
  const { hits, unknown } = await adviseOn(sql, known);
  const advisories = await advisoriesOf(sql, [...new Set(hits.map(({ osvId }) => osvId))]);
  const roots = new Map(
    [...groupAliases([...advisories.values()])].flatMap(([root, own]) => own.map(({ id }) => [id, root] as const)),
  );
  // advisories that are one weakness are one row of each package
  const once = new Map(hits.map((hit) => [`${hit.component.id} ${roots.get(hit.osvId) ?? hit.osvId}`, hit]));
  const rows = [...once.values()].flatMap((hit) => {
    const advisory = advisories.get(hit.osvId);
    return advisory === undefined ? [] : [{ hit, advisory, keys: keysOf(hit, advisory) }];
  });
  const findings = await findingsOf(sql, image.application_id, [...new Set(rows.flatMap(({ keys }) => keys))]);
  const items = rows
    .map(({ hit, advisory, keys }) =>
      viewOf(
        image,
        hit,
        advisory,
        places,
        keys.map((key) => findings.get(key)),
      ),
    )
    .sort(
      (left, right) => rank(right.severity) - rank(left.severity) || left.layer - right.layer || order(left, right),
    );
  const by = (of: string) => countsOf(items.filter((one) => one.of === of));
  return {
    image_id: String(image.id),
    ...{ packages: all.length, run_status: run?.status ?? null, complete: run?.complete ?? null },
    items: items.slice(0, rowsMax),
    total: items.length,
    by_owner: { base: by('base'), own: by('own'), unknown: by('unknown') },
    not_comparable: unknown.length,
    without_advisories: await withoutAdvisories(sql, all),
  };
}

const rank = (severity: Severity): number => severityNumbers[severity] ?? 0;
const order = (left: { readonly id: string; readonly purl: string }, right: typeof left): number =>
  `${left.id} ${left.purl}` < `${right.id} ${right.purl}` ? -1 : 1;

const countsOf = (items: readonly { readonly severity: Severity }[]): Record<Severity, number> =>
  Object.fromEntries(
    severityNames.map((name) => [name, items.filter(({ severity }) => severity === name).length]),
  ) as Record<Severity, number>;

function viewOf(
  image: Image,
  { component, fixed, canBeFixed, osvId }: Hit,
  { aliases, facts }: KnownAdvisory,
  places: ReadonlyMap<number, Packed>,
  findings: readonly (KnownFinding | undefined)[],
) {
  const { layer = 0, path = '' } = places.get(component.id) ?? {};
  const finding = findings.find((one) => one !== undefined);
  return {
    ...{ id: osvId, aliases: [...aliases].slice(0, 20), severity: facts.severity, summary: facts.summary },
    ...{ name: component.name, version: component.version, purl: component.purl, path },
    ...{ fixed, can_be_fixed: canBeFixed, layer, of: layerOwner(image, layer) },
    vuln_id: finding === undefined ? null : String(finding.id),
    status: finding?.status ?? null,
  };
}
