// A stored bill as CycloneDX 1.6 or SPDX 2.3, in JSON. The same bill gives the same bytes.
import { createHash } from 'node:crypto';
import type { Node } from './bill.js';

export interface Written {
  readonly name: string;
  readonly root: number | null;
  readonly nodes: readonly Node[];
  readonly at: Date;
}

const refOf = (n: number): string => `c${n}`;
const digestOf = ({ name, root, nodes }: Written): string =>
  createHash('sha256')
    .update(JSON.stringify([name, root, nodes]))
    .digest('hex');

/** An identifier of SPDX, or an expression of such. */
const isExpression = (text: string): boolean => /^[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+-]+)*$/.test(text);

export function toCyclonedx(bill: Written): object {
  const serial = digestOf(bill).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  const component = ({ name, version, purl, licences }: Node, n: number) => ({
    ...{ type: n === bill.root ? 'application' : 'library', 'bom-ref': refOf(n), name },
    ...(version === '' ? {} : { version }),
    ...(purl === '' ? {} : { purl }),
    ...(licences.length === 0 ? {} : { licenses: licencesOf(licences) }),
  });
  const root = bill.root === null ? undefined : bill.nodes[bill.root];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: {
      timestamp: bill.at.toISOString(),
      tools: { components: [{ type: 'application', name: 'gatehouse' }] },
      ...(root === undefined ? {} : { component: component(root, bill.root ?? 0) }),
    },
    components: bill.nodes.flatMap((one, n) => (n === bill.root ? [] : [component(one, n)])),
    dependencies: bill.nodes.flatMap(({ needs }, n) =>
      needs.length === 0 ? [] : [{ ref: refOf(n), dependsOn: needs.map(refOf) }],
    ),
  };
}

/** The format takes several licences, or one expression. */
function licencesOf(licences: readonly string[]): object[] {
  const [first = ''] = licences;
  if (licences.length === 1 && isExpression(first) && first.includes(' ')) return [{ expression: first }];
  return licences.map((name) => ({ license: { name } }));
}

export function toSpdx(bill: Written): object {
  const digest = digestOf(bill);
  const id = (n: number): string => `SPDXRef-${refOf(n)}`;
  const relation = (from: string, relationshipType: string, to: string) => ({
    ...{ spdxElementId: from, relationshipType, relatedSpdxElement: to },
  });
  const roots = bill.root === null ? bill.nodes.map((_, n) => n) : [bill.root];
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: bill.name || 'bill of materials',
    documentNamespace: `urn:gatehouse:sbom:${digest}`,
    creationInfo: { created: bill.at.toISOString().replace(/\.\d+Z$/, 'Z'), creators: ['Tool: gatehouse'] },
    packages: bill.nodes.map(({ name, version, purl, licences }, n) => ({
      ...{ SPDXID: id(n), name },
      ...(version === '' ? {} : { versionInfo: version }),
      downloadLocation: 'NOASSERTION',
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: licences.length > 0 && licences.every(isExpression) ? licences.join(' AND ') : 'NOASSERTION',
      copyrightText: 'NOASSERTION',
      filesAnalyzed: false,
      ...(purl === ''
        ? {}
        : {
            externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
          }),
    })),
    relationships: [
      ...roots.map((n) => relation('SPDXRef-DOCUMENT', 'DESCRIBES', id(n))),
      ...bill.nodes.flatMap(({ needs }, n) => needs.map((to) => relation(id(n), 'DEPENDS_ON', id(to)))),
    ],
  };
}
