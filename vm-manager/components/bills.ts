// What bills of material list: components of CycloneDX (those within others too) and packages of SPDX, with their
// licences and with what the graph of dependencies says: direct is what the root itself needs.
import { at, list, obj, str, texts, type Json } from '../imports/normalize.js';
import type { ListedComponent, Relation } from './listed.js';

export const componentsMax = 200_000;

type Graph = ReadonlyMap<string, readonly string[]>;

/** For each reference; unknown where nothing is said of the root, or of who needs it. */
function relationsOf(graph: Graph, roots: readonly string[]): (ref: string) => Relation {
  const direct = new Set(roots.flatMap((root) => graph.get(root) ?? []));
  const needed = new Set(direct);
  const waiting = [...direct];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const ref of graph.get(next) ?? [])
      if (!needed.has(ref)) {
        needed.add(ref);
        waiting.push(ref);
      }
  return (ref) => (direct.has(ref) ? 'direct' : needed.has(ref) ? 'transitive' : 'unknown');
}

function licencesOfCyclonedx(value: unknown): string[] {
  return list(value).flatMap((one) => {
    const { expression, license } = obj(one);
    return [str(expression) || str(at(license, 'id')) || str(at(license, 'name'))].filter(Boolean);
  });
}

/** Of a CycloneDX document in the members of its JSON form. */
export function listCyclonedx(report: Json): ListedComponent[] {
  const own = obj(at(report, 'metadata', 'component'));
  const root = str(own['bom-ref']);
  const graph = new Map(
    list(report['dependencies']).map((one) => [str(obj(one)['ref']), texts(obj(one)['dependsOn'])]),
  );
  const relationOf = relationsOf(graph, root === '' ? [] : [root]);
  const found: ListedComponent[] = [];
  // in the order of the document, whatever lies in what
  const waiting: unknown[] = [...list(report['components']), ...list(own['components'])].reverse();
  for (let next = waiting.pop(); next !== undefined && found.length < componentsMax; next = waiting.pop()) {
    const one = obj(next);
    const group = str(one['group']);
    found.push({
      name: group === '' ? str(one['name']) : `${group}/${str(one['name'])}`,
      version: str(one['version']),
      purl: str(one['purl']),
      licences: licencesOfCyclonedx(one['licenses']),
      relation: relationOf(str(one['bom-ref'])),
    });
    waiting.push(...[...list(one['components'])].reverse());
  }
  return found;
}

const says = (licence: string): boolean => licence !== '' && licence !== 'NOASSERTION' && licence !== 'NONE';
const needs = new Set(['DEPENDS_ON', 'DYNAMIC_LINK', 'STATIC_LINK']);
const neededBy = new Set([
  'DEPENDENCY_OF',
  'BUILD_DEPENDENCY_OF',
  'DEV_DEPENDENCY_OF',
  'OPTIONAL_DEPENDENCY_OF',
  'PROVIDED_DEPENDENCY_OF',
  'RUNTIME_DEPENDENCY_OF',
  'TEST_DEPENDENCY_OF',
]);

/** A package of SPDX, whichever way it is written. */
export interface SpdxPackage {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly concluded: string;
  readonly declared: string;
}
export type SpdxRelationship = readonly [from: string, type: string, to: string];

/** Of what an SPDX document says; what it describes is no component of itself, unless there is nothing else. */
export function listSpdx(
  packages: readonly SpdxPackage[],
  relationships: readonly SpdxRelationship[],
  described: readonly string[],
): ListedComponent[] {
  const roots = new Set(described);
  const graph = new Map<string, string[]>();
  const add = (from: string, to: string): void => void (graph.get(from)?.push(to) ?? graph.set(from, [to]));
  for (const [from, type, to] of relationships) {
    if (type === 'DESCRIBES') roots.add(to);
    if (type === 'DESCRIBED_BY') roots.add(from);
    if (needs.has(type)) add(from, to);
    if (neededBy.has(type)) add(to, from);
  }
  const relationOf = relationsOf(graph, [...roots]);
  const isWhole = packages.every(({ id }) => roots.has(id));
  return packages
    .filter(({ id }) => isWhole || !roots.has(id))
    .slice(0, componentsMax)
    .map(({ id, name, version, purl, concluded, declared }) => ({
      name,
      version,
      purl,
      licences: says(concluded) ? [concluded] : says(declared) ? [declared] : [],
      relation: relationOf(id),
    }));
}

/** Of the JSON form of SPDX 2. */
export function listSpdxJson(report: Json): ListedComponent[] {
  const packages = list(report['packages']).map((value) => {
    const one = obj(value);
    const purl = list(one['externalRefs'])
      .map(obj)
      .find((ref) => str(ref['referenceType']) === 'purl');
    return {
      id: str(one['SPDXID']),
      name: str(one['name']),
      version: str(one['versionInfo']),
      purl: str(purl?.['referenceLocator']),
      concluded: str(one['licenseConcluded']),
      declared: str(one['licenseDeclared']),
    };
  });
  const relationships = list(report['relationships']).map((value): SpdxRelationship => {
    const one = obj(value);
    return [str(one['spdxElementId']), str(one['relationshipType']), str(one['relatedSpdxElement'])];
  });
  return listSpdx(packages, relationships, texts(report['documentDescribes']));
}

/** Of the tag-value form of SPDX 2: takes lines, one after the other. */
export class SpdxTags {
  readonly #packages: { -readonly [Name in keyof SpdxPackage]: string }[] = [];
  readonly #relationships: SpdxRelationship[] = [];
  #inPackage = false;

  take(line: string): void {
    const [, tag = '', rest = ''] = /^([A-Za-z]+):\s*(.*)$/.exec(line) ?? [];
    const value = rest.trim();
    if (tag === 'PackageName' && this.#packages.length < componentsMax) {
      this.#inPackage = true;
      this.#packages.push({ id: '', name: value, version: '', purl: '', concluded: '', declared: '' });
    }
    if (tag === 'FileName' || tag === 'SnippetSPDXID') this.#inPackage = false;
    const [from = '', type = '', to = ''] = value.split(/\s+/);
    if (tag === 'Relationship' && this.#relationships.length < componentsMax * 5)
      this.#relationships.push([from, type, to]);
    const own = this.#packages.at(-1);
    if (!this.#inPackage || own === undefined) return;
    if (tag === 'SPDXID') own.id = value;
    if (tag === 'PackageVersion') own.version = value;
    if (tag === 'PackageLicenseConcluded') own.concluded = value;
    if (tag === 'PackageLicenseDeclared') own.declared = value;
    if (tag === 'ExternalRef' && type === 'purl') own.purl = to;
  }

  listed(): { readonly packages: readonly SpdxPackage[]; readonly relationships: readonly SpdxRelationship[] } {
    return { packages: this.#packages, relationships: this.#relationships };
  }

  end(): ListedComponent[] {
    return listSpdx(this.#packages, this.#relationships, []);
  }
}
