// Scanners of images: Clair (version 4, and what clair-scanner writes) and Anchore.
import { readCvss } from '../../../findings/cvss.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, num, obj, str, texts, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, record, unread, type Item, type ReportFacts } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { imageOf } from '../../run/subject.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

interface Vulnerable {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly severity: unknown;
  readonly description: string;
  readonly fixed: string;
  readonly links: readonly string[];
  readonly path: string;
  readonly score?: number | null;
  readonly vector?: string;
  readonly aliases?: readonly string[];
  readonly hasNoFix?: boolean;
}

/** Clair's words; `Defcon1` is what it calls the gravest ones. */
const clairScale = { defcon1: 'critical', negligible: 'info' } as const;

function vulnerable(one: Vulnerable, place: string): Item {
  const { id, name, version, fixed } = one;
  if (id === '' || name === '') return unread('has no id or no package', place);
  const cvss = readCvss(one.vector === undefined || one.vector === '' ? null : one.vector, one.score ?? null);
  const ids = vulnIdsOf([id, ...(one.aliases ?? [])]);
  return record({
    title: `${id} in ${name}`,
    description: one.description,
    ...readSeverity(one.severity, { scale: clairScale, score: cvss?.score ?? null }),
    cwes: cwesOf([one.description.slice(0, 2000)]),
    vulnIds: ids.length === 0 ? [id] : ids,
    cvss,
    source: 'container',
    ruleId: id,
    location: { kind: 'package', name, version, ...(one.path === '' ? {} : { path: one.path }) },
    fix:
      fixed === ''
        ? { state: one.hasNoFix === true ? 'no_fix' : 'unknown' }
        : { state: 'fixed_available', version: fixed },
    references: one.links,
    quality: 0.8,
  });
}

/** Vulnerabilities, packages, and which of them belong together are three maps. */
function* clairManifest(report: Json, facts: ReportFacts): Generator<Item> {
  const [packages, told] = [obj(report['packages']), obj(report['vulnerabilities'])];
  facts.subject = imageOf(str(report['image']) || str(report['name']));
  if (Object.keys(packages).length === 0) yield fault('the report names no package: nothing was looked at');
  for (const [id, ids] of Object.entries(obj(report['package_vulnerabilities'])))
    for (const each of texts(ids)) {
      const [package_, one] = [obj(at(packages, id)), obj(at(told, each))];
      const normal = str(one['normalized_severity']);
      yield vulnerable(
        {
          // `CVE-2026-1 on Ubuntu 22.04`
          id: vulnIdsOf([one['name']])[0] ?? str(one['name']).split(' ')[0] ?? '',
          ...{ name: str(package_['name']), version: str(package_['version']) },
          severity: normal === '' || /^unknown$/i.test(normal) ? one['severity'] : normal,
          description: str(one['description']),
          fixed: str(one['fixed_in_version']).replace(/^0$/, ''),
          links: str(one['links']).split(/\s+/),
          aliases: [str(one['links']).slice(0, 2000)].filter((text) => !/CVE/.test(str(one['name'])) && text !== ''),
          path: '',
        },
        `/package_vulnerabilities/${id}`,
      );
    }
}

function* clairScanner(report: Json, facts: ReportFacts): Generator<Item> {
  const image = str(report['image']);
  facts.subject = imageOf(image);
  if (image === '') yield fault('the report names no image: nothing shows what was looked at');
  for (const [index, one] of list(report['vulnerabilities']).map(obj).entries())
    yield vulnerable(
      {
        ...{ id: str(one['vulnerability']), name: str(one['featurename']), version: str(one['featureversion']) },
        ...{ severity: one['severity'], description: str(one['description']), fixed: str(one['fixedby']) },
        ...{ links: texts(one['link']), path: '' },
      },
      `/vulnerabilities/${index}`,
    );
}

export const clair: Format = {
  name: 'clair',
  label: 'Clair JSON (version 4, clair-scanner)',
  detection: '"manifest_hash" with "packages", or "image", "unapproved" and "vulnerabilities"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    (/"manifest_hash"/.test(beginning) || /"unapproved"[\s\S]*"vulnerabilities"/.test(beginning)),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    facts.tool = 'Clair';
    if (report['manifest_hash'] !== undefined && report['vulnerabilities'] !== undefined)
      yield* clairManifest(report, facts);
    else if (report['unapproved'] !== undefined && Array.isArray(report['vulnerabilities']))
      yield* clairScanner(report, facts);
    else throw unfit('file', 'is no report of Clair');
  },
};

function anchoreItem(one: Json, place: string): Item {
  const fixed = str(one['fix']).replace(/^none$/i, '');
  const [told] = list(one['nvd_data'])
    .concat(list(one['vendor_data']))
    .map((each) => obj(at(each, 'cvss_v3')));
  const score = num(told?.['base_score']);
  const path = str(one['package_path']);
  return vulnerable(
    {
      ...{ id: str(one['vuln']), name: str(one['package_name']), version: str(one['package_version']) },
      ...{ severity: one['severity'], description: str(one['description']), fixed },
      links: texts(one['url']),
      // packages of the system have none of their own
      path: /^(?:|none|pkgdb|N\/A)$/i.test(path) ? '' : path,
      score: score !== null && score > 0 ? score : null,
      vector: str(told?.['vector_string']),
      aliases: list(one['nvd_data']).map((each) => str(obj(each)['id'])),
      hasNoFix: one['will_not_fix'] === true,
    },
    place,
  );
}

export const anchore: Format = {
  name: 'anchore',
  label: 'Anchore Engine and Enterprise JSON (vulnerabilities of an image)',
  detection: '"imageDigest" with "vulnerability_type" and "vulnerabilities"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    (/"(?:imageDigest|image_digest)"/.test(beginning) || /"vulnerability_type"/.test(beginning)) &&
    /"vulnerabilities"/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    const digest = str(report['imageDigest']) || str(report['image_digest']);
    if (!Array.isArray(report['vulnerabilities'])) throw unfit('file', 'is no list of vulnerabilities of Anchore');
    facts.tool = 'Anchore';
    const type = str(report['vulnerability_type']);
    // lists of one kind close nothing of the other
    facts.subject = type === 'all' ? '' : type;
    if (digest === '') yield fault('the report names no image (imageDigest): nothing shows what was looked at');
    for (const [index, one] of list(report['vulnerabilities']).entries())
      yield anchoreItem(obj(one), `/vulnerabilities/${index}`);
  },
};
