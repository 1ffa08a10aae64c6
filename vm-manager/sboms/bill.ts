// A bill of materials as a graph: its components, each once, and which need which. Of CycloneDX 1.2 to 1.6 (JSON, XML)
// and SPDX 2.2 and 2.3 (JSON, tag-value).
import { unfit } from '../kit/endpoint.js';
import { componentsMax, SpdxTags, type SpdxPackage, type SpdxRelationship } from '../components/bills.js';
import { textOf } from '../kit/values/text.js';
import { readXmlBill } from '../imports/formats/xml-bill.js';
import { at, list, obj, str, texts, type Json } from '../imports/normalize.js';
import { readJson, readLines, type ReportFile } from '../imports/reading/report-file.js';

export const billFormats = ['cyclonedx', 'cyclonedx-xml', 'spdx', 'spdx-tag-value'] as const;
export type BillFormat = (typeof billFormats)[number];

export interface Node {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licences: readonly string[];
  /** Numbers of the components that it needs. */
  readonly needs: readonly number[];
}

export interface Bill {
  readonly specVersion: string;
  readonly serial: string;
  readonly version: string;
  readonly name: string;
  /** Number of what the bill is of; null: it does not say. */
  readonly root: number | null;
  readonly nodes: readonly Node[];
}

const edgesMax = 2_000_000;

interface Draft {
  readonly ref: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licences: readonly string[];
}

/** Edges to what is not listed are left out; an edge is there once. */
function graphOf(drafts: readonly Draft[], edges: Iterable<readonly [from: string, to: string]>): Node[] {
  const places = new Map<string, number>();
  drafts.forEach(({ ref }, n) => {
    if (ref !== '' && !places.has(ref)) places.set(ref, n);
  });
  const needs = drafts.map(() => new Set<number>());
  let count = 0;
  for (const [from, to] of edges) {
    if (++count > edgesMax) throw unfit('file', `has more than ${edgesMax} dependencies`);
    const [source, target] = [places.get(from), places.get(to)];
    if (source !== undefined && target !== undefined && source !== target) needs[source]?.add(target);
  }
  return drafts.map(({ name, version, purl, licences }, n) => ({
    ...{ name, version, purl, licences },
    needs: [...(needs[n] ?? [])].sort((left, right) => left - right),
  }));
}

function requireComponents(count: number, pointer: string): void {
  if (count > componentsMax) throw unfit(pointer, `has more than ${componentsMax} components`);
}

const licencesOf = (value: unknown): string[] =>
  list(value).flatMap((one) => {
    const { expression, license } = obj(one);
    return [str(expression) || str(at(license, 'id')) || str(at(license, 'name'))].filter(Boolean);
  });

function toDraft(value: unknown, pointer: string): Draft {
  const one = obj(value);
  const [group, name] = [str(one['group']), str(one['name'])];
  if (name === '') throw unfit(pointer, 'has no name', 'each component of CycloneDX has one');
  return {
    ref: str(one['bom-ref']) || str(one['purl']),
    name: group === '' ? name : `${group}/${name}`,
    version: str(one['version']),
    purl: str(one['purl']),
    licences: licencesOf(one['licenses']),
  };
}

/** Throws 422 with a JSON pointer to what does not fit. */
export function readCyclonedx(report: Json): Bill {
  const spec = str(report['specVersion']);
  if (!/^1\.[2-6]$/.test(spec))
    throw unfit('/specVersion', 'is none of 1.2 to 1.6', 'convert the bill to one of these');
  for (const name of ['components', 'dependencies'])
    if (report[name] !== undefined && !Array.isArray(report[name])) throw unfit(`/${name}`, 'is no list');
  const own = at(report, 'metadata', 'component');
  const drafts: Draft[] = own === undefined ? [] : [toDraft(own, '/metadata/component')];
  const waiting: (readonly [one: unknown, pointer: string])[] = list(report['components']).map((one, n) => [
    one,
    `/components/${n}`,
  ]);
  waiting.push(...list(at(own, 'components')).map((one, n) => [one, `/metadata/component/components/${n}`] as const));
  for (let place = 0; place < waiting.length; place++) {
    const [one, pointer = ''] = waiting[place] ?? [];
    drafts.push(toDraft(one, pointer));
    requireComponents(drafts.length, '/components');
    waiting.push(...list(obj(one)['components']).map((part, n) => [part, `${pointer}/components/${n}`] as const));
  }
  const edges = list(report['dependencies']).flatMap((value, n) => {
    const one = obj(value);
    if (str(one['ref']) === '') throw unfit(`/dependencies/${n}/ref`, 'is missing');
    return texts(one['dependsOn']).map((to) => [str(one['ref']), to] as const);
  });
  return {
    ...{ specVersion: spec, serial: str(report['serialNumber']), version: textOf(report['version']) },
    name: drafts[0] !== undefined && own !== undefined ? drafts[0].name : '',
    root: own === undefined ? null : 0,
    nodes: graphOf(drafts, edges),
  };
}

const says = (licence: string): boolean => licence !== '' && licence !== 'NOASSERTION' && licence !== 'NONE';

function ofSpdx(
  packages: readonly SpdxPackage[],
  relationships: readonly SpdxRelationship[],
  described: readonly string[],
  head: Pick<Bill, 'specVersion' | 'serial' | 'name'>,
): Bill {
  requireComponents(packages.length, '/packages');
  const drafts = packages.map(
    ({ id, name, version, purl, concluded, declared }): Draft => ({
      ...{ ref: id, name, version, purl },
      licences: says(concluded) ? [concluded] : says(declared) ? [declared] : [],
    }),
  );
  const roots = [...described, ...relationships.flatMap(([, type, to]) => (type === 'DESCRIBES' ? [to] : []))];
  const edges = relationships.flatMap(([from, type, to]) =>
    /^(?:DEPENDS_ON|DYNAMIC_LINK|STATIC_LINK|CONTAINS)$/.test(type)
      ? [[from, to] as const]
      : /DEPENDENCY_OF$|^CONTAINED_BY$/.test(type)
        ? [[to, from] as const]
        : [],
  );
  const root = drafts.findIndex(({ ref }) => ref !== '' && ref === roots[0]);
  // a document that describes all of its packages is of none of them
  const isOne = new Set(roots).size === 1 && root !== -1 && packages.length > 1;
  return { ...head, version: '', root: isOne ? root : null, nodes: graphOf(drafts, edges) };
}

export function readSpdx(report: Json): Bill {
  const spec = str(report['spdxVersion']);
  if (!/^SPDX-2\.[23]$/.test(spec)) throw unfit('/spdxVersion', 'is none of SPDX-2.2 and SPDX-2.3');
  if (!Array.isArray(report['packages'])) throw unfit('/packages', 'is no list');
  const packages = report['packages'].map((value: unknown, n: number): SpdxPackage => {
    const one = obj(value);
    if (str(one['name']) === '') throw unfit(`/packages/${n}/name`, 'is missing');
    const purl = list(one['externalRefs'])
      .map(obj)
      .find((ref) => str(ref['referenceType']) === 'purl');
    return {
      ...{ id: str(one['SPDXID']), name: str(one['name']), version: str(one['versionInfo']) },
      purl: str(purl?.['referenceLocator']),
      ...{ concluded: str(one['licenseConcluded']), declared: str(one['licenseDeclared']) },
    };
  });
  const relationships = list(report['relationships']).map((value): SpdxRelationship => {
    const one = obj(value);
    return [str(one['spdxElementId']), str(one['relationshipType']), str(one['relatedSpdxElement'])];
  });
  const head = { specVersion: spec, serial: str(report['documentNamespace']), name: str(report['name']) };
  return ofSpdx(packages, relationships, texts(report['documentDescribes']), head);
}

async function readTagValue(file: ReportFile): Promise<Bill> {
  const tags = new SpdxTags();
  const head = new Map<string, string>();
  for await (const [, line] of readLines(file)) {
    const [, tag = '', value = ''] = /^(SPDXVersion|DocumentName|DocumentNamespace):\s*(.*)$/.exec(line) ?? [];
    if (tag !== '' && !head.has(tag)) head.set(tag, value.trim());
    tags.take(line);
  }
  const specVersion = head.get('SPDXVersion') ?? '';
  if (!/^SPDX-2\.[23]$/.test(specVersion)) throw unfit('SPDXVersion', 'is none of SPDX-2.2 and SPDX-2.3');
  const { packages, relationships } = tags.listed();
  const [serial = '', name = ''] = [head.get('DocumentNamespace'), head.get('DocumentName')];
  return ofSpdx(packages, relationships, [], { specVersion, serial, name });
}

/** Throws 422 with a pointer to what does not fit. */
export async function readBill(format: BillFormat, file: ReportFile): Promise<Bill> {
  if (format === 'spdx-tag-value') return readTagValue(file);
  if (format === 'spdx') return readSpdx(obj(await readJson(file)));
  const report = format === 'cyclonedx' ? obj(await readJson(file)) : await readXmlBill(file);
  if (report === null) throw unfit('file', 'is no CycloneDX document');
  return readCyclonedx(report);
}
