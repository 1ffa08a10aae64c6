// CycloneDX 1.5 of a scan: what the lock files list, each package once with the files that list it, and the advisories
// where it was compared with any.
import { createHash } from 'node:crypto';
import type { FoundPackage } from '../contract.js';
import { packVersion } from '../contract.js';
import type { ScanResult } from '../run/result.js';

interface Listed {
  readonly one: FoundPackage;
  readonly places: { readonly location: string; readonly line?: number }[];
}

function byPurl(packages: readonly FoundPackage[]): Map<string, Listed> {
  const found = new Map<string, Listed>();
  for (const one of packages) {
    const known = found.get(one.purl);
    const place = { location: one.path, ...(one.line === null ? {} : { line: one.line }) };
    if (known === undefined) found.set(one.purl, { one, places: [place] });
    else known.places.push(place);
  }
  return found;
}

/** Group and name as their ecosystem has them. */
function nameOf({ purl, name }: FoundPackage): { readonly group?: string; readonly name: string } {
  const at = name.lastIndexOf(purl.startsWith('pkg:maven/') ? ':' : '/');
  return at <= 0 || purl.startsWith('pkg:cocoapods/')
    ? { name }
    : { group: name.slice(0, at), name: name.slice(at + 1) };
}

export function toCyclonedx({ results }: ScanResult): object {
  const packages = results.flatMap((one) => one.packages);
  const listed = byPurl(packages);
  const digest = createHash('sha256')
    .update([...listed.keys()].sort().join('\n'))
    .digest('hex');
  const serial = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  const advisories = results.flatMap((one) => one.advisories ?? []);
  const tool = results.find((one) => one.packages.length > 0)?.scanner.tool ?? 'gatehouse-sca';
  const wasCompared = results.some((one) => one.advisories !== undefined);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: { tools: { components: [{ type: 'application', name: tool, version: packVersion }] } },
    components: [...listed.values()].map(({ one, places }) => ({
      type: 'library',
      'bom-ref': one.purl,
      ...nameOf(one),
      version: one.version,
      purl: one.purl,
      evidence: { occurrences: places },
      properties: [{ name: 'gatehouse:relation', value: one.relation }],
    })),
    ...(wasCompared
      ? {
          vulnerabilities: advisories.map(({ id, aliases, severity, summary, cwes, purls, fixed }) => ({
            id,
            references: aliases.map((alias) => ({ id: alias, source: { name: 'OSV' } })),
            ratings: [{ severity }],
            cwes,
            description: summary,
            ...(fixed.length === 0 ? {} : { recommendation: `Fixed in ${fixed.join(', ')}` }),
            affects: purls.map((ref) => ({ ref })),
          })),
        }
      : {}),
  };
}
