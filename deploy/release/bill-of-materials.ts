// What a release is made of, for scanners: CycloneDX 1.6, reproducible (its serial number follows from its content).
import { createHash } from 'node:crypto';
import type { LockedPackage } from './npm-packages.js';
import type { SystemPackage } from './system-packages.js';

interface Component {
  readonly type: 'application' | 'library' | 'data';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

export interface BillInput {
  readonly version: string;
  readonly epoch: number;
  readonly packages: readonly LockedPackage[];
  readonly system: readonly SystemPackage[];
  readonly node: { readonly version: string; readonly sha256: string };
  readonly ruleSet: { readonly version: string; readonly sha256: string };
}

function fromNpm({ path, name, version, licence, integrity }: LockedPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [kind, digest = ''] = (integrity ?? '').split('-');
  const content = Buffer.from(digest, 'base64').toString('hex');
  return {
    type: 'library',
    'bom-ref': `${purl}#${path}`,
    name,
    version,
    purl,
    ...(licence === null ? {} : { licenses: [{ expression: licence }] }),
    ...(kind === 'sha512' ? { hashes: [{ alg: 'SHA-512', content }] } : {}),
  };
}

function fromSystem({ name, version, architecture }: SystemPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

/** UUID whose bits are a digest (RFC 9562, version 8: own construction). */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A CycloneDX 1.6 document as JSON. */
export function billOfMaterials(input: BillInput): string {
  const { version, epoch, packages, system, node, ruleSet } = input;
  const root = `pkg:generic/gatehouse@${version}`;
  const nodePurl = `pkg:generic/node@${node.version}`;
  const components: Component[] = [
    {
      type: 'application',
      'bom-ref': nodePurl,
      name: 'node',
      version: node.version,
      purl: nodePurl,
      hashes: [{ alg: 'SHA-256', content: node.sha256 }],
    },
    {
      type: 'data',
      'bom-ref': `pkg:github/coreruleset/coreruleset@v${ruleSet.version}`,
      name: 'coreruleset',
      version: ruleSet.version,
      purl: `pkg:github/coreruleset/coreruleset@v${ruleSet.version}`,
      licenses: [{ expression: 'Apache-2.0' }],
      hashes: [{ alg: 'SHA-256', content: ruleSet.sha256 }],
    },
    ...packages.map(fromNpm),
    ...system.map(fromSystem),
  ];
  const body = {
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: 'application', 'bom-ref': root, name: 'gatehouse', version, purl: root },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((one) => one['bom-ref']) }],
  };
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: '', version: 1 };
  return `${JSON.stringify({ ...head, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`, ...body }, null, 1)}\n`;
}
