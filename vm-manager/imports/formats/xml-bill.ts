// The XML form of CycloneDX, in the members of its JSON form: the same names, lists within an element of their own
// (https://cyclonedx.org/docs/1.6/xml/). One reader of vulnerabilities serves both.
import type { Json } from '../normalize.js';
import type { ReportFile } from '../reading/report-file.js';
import { readXml, type Element } from '../reading/xml.js';

/** What an element is called without the prefix of its namespace. */
const local = (name: string): string => name.slice(name.indexOf(':') + 1);

const child = (element: Element | undefined, ...path: readonly string[]): Element | undefined =>
  path.reduce<Element | undefined>((at, name) => at?.children.find((one) => local(one.name) === name), element);
const children = (element: Element | undefined, name: string): readonly Element[] =>
  element?.children.filter((one) => local(one.name) === name) ?? [];
const text = (element: Element | undefined, ...path: readonly string[]): string =>
  child(element, ...path)?.text.trim() ?? '';
const number = (word: string): number | undefined => (/^\d+(\.\d+)?$/.test(word) ? Number(word) : undefined);

const toComponent = (element: Element): Json => ({
  'bom-ref': element.attributes['bom-ref'] ?? '',
  group: text(element, 'group'),
  name: text(element, 'name'),
  version: text(element, 'version'),
  purl: text(element, 'purl'),
  licenses: children(child(element, 'licenses'), 'license')
    .map((one): Json => ({ license: { id: text(one, 'id'), name: text(one, 'name') } }))
    .concat(children(child(element, 'licenses'), 'expression').map((one) => ({ expression: one.text.trim() }))),
  components: children(child(element, 'components'), 'component').map(toComponent),
});

const toService = (element: Element): Json => ({
  'bom-ref': element.attributes['bom-ref'] ?? '',
  group: text(element, 'group'),
  name: text(element, 'name'),
  version: text(element, 'version'),
  services: children(child(element, 'services'), 'service').map(toService),
});

const toVulnerability = (element: Element): Json => ({
  id: text(element, 'id'),
  source: { name: text(element, 'source', 'name'), url: text(element, 'source', 'url') },
  references: children(child(element, 'references'), 'reference').map((one) => ({ id: text(one, 'id') })),
  ratings: children(child(element, 'ratings'), 'rating').map((one) => ({
    score: number(text(one, 'score')),
    severity: text(one, 'severity'),
    method: text(one, 'method'),
    vector: text(one, 'vector'),
  })),
  cwes: children(child(element, 'cwes'), 'cwe').flatMap((one) => number(one.text.trim()) ?? []),
  description: text(element, 'description'),
  detail: text(element, 'detail'),
  recommendation: text(element, 'recommendation'),
  workaround: text(element, 'workaround'),
  advisories: children(child(element, 'advisories'), 'advisory').map((one) => ({ url: text(one, 'url') })),
  analysis: child(element, 'analysis') === undefined ? undefined : { state: text(element, 'analysis', 'state') },
  affects: children(child(element, 'affects'), 'target').map((one) => ({ ref: text(one, 'ref') })),
});

function toReport(element: Element): Json {
  const metadata = child(element, 'metadata');
  const tools = child(metadata, 'tools');
  const own = child(metadata, 'component');
  const namespaces = Object.entries(element.attributes).filter(([name]) => /^xmlns(?::|$)/.test(name));
  const spec = namespaces.map(([, uri]) => /\/schema\/bom\/(\d+\.\d+)$/.exec(uri)?.[1]).find(Boolean);
  return {
    ...(spec === undefined ? {} : { specVersion: spec }),
    serialNumber: element.attributes['serialNumber'] ?? '',
    version: element.attributes['version'] ?? '',
    metadata: {
      tools: [...children(tools, 'tool'), ...children(child(tools, 'components'), 'component')].map((tool) => ({
        name: text(tool, 'name'),
      })),
      ...(own === undefined ? {} : { component: toComponent(own) }),
    },
    components: children(child(element, 'components'), 'component').map(toComponent),
    services: children(child(element, 'services'), 'service').map(toService),
    dependencies: children(child(element, 'dependencies'), 'dependency').map((one) => ({
      ref: one.attributes['ref'] ?? '',
      dependsOn: children(one, 'dependency').map((other) => other.attributes['ref'] ?? ''),
    })),
    ...(child(element, 'vulnerabilities') === undefined
      ? {}
      : { vulnerabilities: children(child(element, 'vulnerabilities'), 'vulnerability').map(toVulnerability) }),
  };
}

/** Null for XML of another root. Throws ApiError 400 for what is no XML, or has a document type. */
export async function readXmlBill(file: ReportFile): Promise<Json | null> {
  let report: Json | null = null;
  // read to its end: what is broken there is refused, too
  for await (const [element, ancestors] of readXml(file, (name) => local(name) === 'bom'))
    if (ancestors.length === 0) report = toReport(element);
  return report;
}
