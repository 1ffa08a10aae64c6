// Packages beside advisories without a database: OSV sets from a folder, matched as the hub matches them. A set that
// has nothing of an ecosystem says nothing of its packages: they are reported as not compared.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ecosystemOf, advisoryNameOf, parsePurl } from '../../components/purl.js';
import type { Advisory } from '../../osv/advisory.js';
import { judge, type ComponentRow, type Hit, type Pair, type Unknown } from '../../osv/match.js';
import { readAdvisories } from '../../osv/read-osv.js';
import type { Finding, FoundPackage, NotScanned, Rule } from '../contract.js';
import type { MatchedAdvisory, ScannerResult } from '../run/result.js';

export interface AdvisorySets {
  readonly byId: ReadonlyMap<string, Advisory>;
  readonly byPackage: ReadonlyMap<string, readonly Pair[]>;
  readonly ecosystems: ReadonlySet<string>;
  readonly dropped: number;
}

const isSet = (name: string): boolean => /\.(?:json|jsonl|ndjson|zip)$/i.test(name);

/** Throws the system's error for a folder that is not there; a file that is no set is counted. */
export async function readSets(directory: string): Promise<AdvisorySets> {
  const byId = new Map<string, Advisory>();
  let dropped = 0;
  for (const name of (await readdir(directory)).filter(isSet).sort()) {
    const path = join(directory, name);
    for await (const item of readAdvisories({ path, bytes: (await stat(path)).size })) {
      if ('dropped' in item) dropped++;
      else if (item.withdrawn === null) byId.set(item.id, item);
    }
  }
  const byPackage = new Map<string, Pair[]>();
  const ecosystems = new Set<string>();
  for (const { id, affected } of byId.values())
    for (const entry of affected) {
      ecosystems.add(ecosystemOf(entry.ecosystem));
      const pair = { osv_id: id, ...entry };
      const known = byPackage.get(entry.package);
      if (known === undefined) byPackage.set(entry.package, [pair]);
      else known.push(pair);
    }
  return { byId, byPackage, ecosystems, dropped };
}

interface Compared {
  readonly hits: readonly Hit[];
  readonly unknown: readonly Unknown[];
  readonly notCompared: readonly NotScanned[];
}

function compare(packages: readonly FoundPackage[], sets: AdvisorySets): Compared {
  const [hits, unknown]: [Hit[], Unknown[]] = [[], []];
  const notCompared: NotScanned[] = [];
  packages.forEach(({ purl, name, version }, id) => {
    const parsed = parsePurl(purl);
    const named = parsed === null ? null : advisoryNameOf(parsed);
    const [ecosystem = ''] = named?.package.split('|') ?? [];
    if (named === null || !sets.ecosystems.has(ecosystem)) {
      const which = named === null ? (parsed?.type ?? 'packages without a purl') : ecosystem;
      const reason = `packages without advisories: none is here for ${which}`;
      notCompared.push({ path: purl || name, reason, isFault: true });
      return;
    }
    const component: ComponentRow = { id, name, version, purl, package: named.package };
    judge(component, sets.byPackage.get(named.package) ?? [], hits, unknown);
  });
  return { hits, unknown, notCompared };
}

function toRule({ id, facts }: Advisory): Rule {
  return {
    id,
    version: 1,
    title: facts.summary || id,
    severity: facts.severity,
    cwes: facts.cwes,
    description: facts.details.slice(0, 4000) || facts.summary || id,
    remediation:
      'Move to a version that is not affected; where there is none, see whether the part that is affected is used.',
  };
}

/** The result of the scanner with what the sets say of its packages. */
export function withAdvisories(result: ScannerResult, sets: AdvisorySets): ScannerResult {
  const distinct = [...new Map(result.packages.map((one) => [one.purl, one])).values()];
  const { hits, unknown, notCompared } = compare(distinct, sets);
  const found = new Map<string, Hit[]>();
  for (const hit of hits) found.set(hit.osvId, [...(found.get(hit.osvId) ?? []), hit]);
  const known = [...found].flatMap(([id, own]) => {
    const advisory = sets.byId.get(id);
    return advisory === undefined ? [] : [{ advisory, own }];
  });
  const faults: readonly NotScanned[] = [
    ...notCompared,
    ...unknown.map(({ component, osvId, reason }) => ({
      path: `${component.purl}: ${osvId}`,
      reason: `pairs that cannot be compared: ${reason}`,
      isFault: true,
    })),
  ];
  const byReason = { ...result.notScannedByReason };
  for (const { reason } of faults) byReason[reason] = (byReason[reason] ?? 0) + 1;
  return {
    ...result,
    scanner: { ...result.scanner, rules: [...result.scanner.rules, ...known.map(({ advisory }) => toRule(advisory))] },
    findings: [
      ...result.findings,
      ...known.flatMap(({ advisory, own }) => own.flatMap((hit) => findingsOf(advisory, hit, result.packages))),
    ],
    advisories: known.map(
      ({ advisory, own }): MatchedAdvisory => ({
        id: advisory.id,
        aliases: advisory.aliases,
        severity: advisory.facts.severity,
        summary: advisory.facts.summary,
        cwes: advisory.facts.cwes,
        purls: own.map(({ component }) => component.purl),
        fixed: [...new Set(own.flatMap(({ fixed }) => fixed ?? []))],
      }),
    ),
    notScanned: [...result.notScanned, ...faults.slice(0, 2000)],
    notScannedByReason: byReason,
    faultReasons: [...new Set([...result.faultReasons, ...faults.map(({ reason }) => reason)])],
    complete: result.complete && faults.length === 0,
  };
}

function findingsOf({ id, facts }: Advisory, hit: Hit, packages: readonly FoundPackage[]): Finding[] {
  const { component, fixed } = hit;
  return packages
    .filter(({ purl }) => purl === component.purl)
    .map(({ path, line, name, version }) => ({
      rule: id,
      path,
      line: line ?? 1,
      message:
        `Package: ${name}\nInstalled Version: ${version}\n` +
        `${fixed === null ? '' : `Fixed Version: ${fixed}\n`}${facts.summary}`,
      fingerprint: `${id} ${name}`,
    }));
}
