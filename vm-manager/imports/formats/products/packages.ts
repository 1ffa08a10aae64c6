// Reports about dependencies of OSV-Scanner, OWASP Dependency-Check and Snyk, in their own JSON.
import { readCvss } from '../../../findings/cvss.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, moment, num, obj, plainText, reportPath, str, texts, vulnIdsOf } from '../../normalize.js';
import type { Json } from '../../normalize.js';
import { fault, record, unread, type Item, type ReportFacts } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { factsOfDirectory, imageOf } from '../../run/subject.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

const has = (beginning: string, ...names: readonly string[]): boolean =>
  names.every((name) => beginning.includes(`"${name}"`));

/** Ecosystems as OSV and Snyk call them → types of package URLs. */
const purlTypes: Readonly<Record<string, string>> = {
  ...{ npm: 'npm', yarn: 'npm', pnpm: 'npm', pypi: 'pypi', pip: 'pypi', poetry: 'pypi', pipenv: 'pypi' },
  ...{ go: 'golang', gomodules: 'golang', golangdep: 'golang', govendor: 'golang', maven: 'maven', gradle: 'maven' },
  ...{ sbt: 'maven', cargo: 'cargo', nuget: 'nuget', paket: 'nuget', rubygems: 'gem' },
  ...{ packagist: 'composer', composer: 'composer', hex: 'hex', pub: 'pub', cocoapods: 'cocoapods', swifturl: 'swift' },
};

function purlOf(ecosystem: string, name: string, version: string): { purl?: string } {
  // Rust's name has the address of its registry behind it
  const type = purlTypes[ecosystem.toLowerCase().replace(/^crates\..*$/, 'cargo')];
  if (type === undefined || name === '') return {};
  const path = (type === 'maven' ? name.replace(':', '/') : name).replace('@', '%40');
  return { purl: `pkg:${type}/${path}${version === '' ? '' : `@${version}`}` };
}

/** Numbers of a version in their order; what stands between them (`v`, `.`, `-rc`) separates. */
const numbersOf = (version: string): number[] => (version.slice(0, 200).match(/\d+/g) ?? []).map(Number);

function isBehind(version: string, other: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(other)];
  for (let at = 0; at < Math.max(left.length, right.length); at++)
    if ((left[at] ?? 0) !== (right[at] ?? 0)) return (left[at] ?? 0) > (right[at] ?? 0);
  return false;
}

/** Of the versions that fix it, one for each line of releases, the nearest behind the one that is there. */
const nearestFix = (fixed: readonly string[], version: string): string | undefined =>
  numbersOf(version).length === 0
    ? fixed[0]
    : fixed.filter((one) => isBehind(one, version)).sort((left, right) => (isBehind(left, right) ? 1 : -1))[0];

function fixOf(
  advisory: Json,
  name: string,
  there: string,
): { state: 'fixed_available' | 'unknown'; version?: string } {
  const fixed = list(advisory['affected'])
    .map(obj)
    .filter((one) => str(at(one, 'package', 'name')) === name)
    .flatMap((one) => list(one['ranges']).flatMap((range) => list(obj(range)['events'])))
    .map((event) => str(obj(event)['fixed']))
    .filter((text) => text !== '');
  const version = nearestFix(fixed, there);
  return version === undefined ? { state: 'unknown' } : { state: 'fixed_available', version };
}

/** Advisories of one package that are aliases of each other are one group, and one finding. */
function* osvPackage(entry: Json, path: string, place: string): Generator<Item> {
  const package_ = obj(entry['package']);
  const [name, version, ecosystem] = [package_['name'], package_['version'], package_['ecosystem']].map(str);
  const advisories = new Map<string, Json>(
    list(entry['vulnerabilities']).map((one) => [str(obj(one)['id']), obj(one)]),
  );
  const told = list(entry['groups']).map(obj);
  const groups: readonly Json[] = told.length > 0 ? told : [...advisories.keys()].map((id) => ({ ids: [id] }));
  for (const group of groups) {
    const ids = texts(group['ids']);
    const known = ids.map((id) => advisories.get(id)).filter((one) => one !== undefined);
    const first: Json = known[0] ?? {};
    if (name === undefined || name === '' || ids[0] === undefined) {
      yield unread('has no package or no id', place);
      continue;
    }
    const names = vulnIdsOf([...ids, ...texts(group['aliases']), ...known.flatMap((one) => texts(one['aliases']))]);
    const vectors = known.flatMap((one) => list(one['severity']).map((rated) => str(obj(rated)['score'])));
    const cvss = vectors.map((vector) => readCvss(vector, null)).find((found) => found !== null) ?? null;
    const word = known.map((one) => str(at(one, 'database_specific', 'severity'))).find((text) => text !== '');
    const score = num(group['max_severity']) ?? cvss?.score ?? null;
    yield record({
      title: str(first['summary']) || `${ids[0]} in ${name}`,
      description: str(first['details']),
      ...readSeverity(word ?? '', { score }),
      cwes: cwesOf(known.flatMap((one) => texts(at(one, 'database_specific', 'cwe_ids')))),
      vulnIds: names.length === 0 ? ids : names,
      cvss,
      source: 'sca',
      ruleId: ids[0],
      location: {
        kind: 'package',
        name,
        version: version ?? '',
        path,
        ...purlOf(ecosystem ?? '', name, version ?? ''),
      },
      fix: fixOf(first, name, version ?? ''),
      references: known.flatMap((one) => list(one['references']).map((link) => str(obj(link)['url']))),
      quality: 0.8,
    });
  }
}

export const osvScanner: Format = {
  name: 'osv-scanner',
  label: 'OSV-Scanner JSON',
  detection: '"results" with "source" and "packages"',
  detect: (beginning) =>
    /^\s*\{\s*"results"\s*:\s*\[/.test(beginning) &&
    (has(beginning, 'packages', 'source') || has(beginning, 'experimental_config')),
  async *read(file, facts) {
    const results = at(await readJson(file), 'results');
    if (!Array.isArray(results)) throw unfit('file', 'is no report of OSV-Scanner');
    facts.tool = 'OSV-Scanner';
    for (const [index, result] of (results as unknown[]).entries()) {
      const path = reportPath(at(result, 'source', 'path'));
      for (const [number, entry] of list(at(result, 'packages')).entries())
        yield* osvPackage(obj(entry), path, `/results/${index}/packages/${number}`);
    }
  },
};

function* checkedFile(dependency: Json, place: string): Generator<Item> {
  const [identifier] = list(dependency['packages']).map(obj);
  const purl = str(identifier?.['id']);
  const [, name = '', version = ''] = /^pkg:[^/]+\/([^@?#]+)(?:@([^?#]+))?/.exec(purl) ?? [];
  const file = str(dependency['fileName']);
  const isKnown = name !== '' || file !== '';
  for (const suppressed of [false, true])
    for (const one of list(dependency[suppressed ? 'suppressedVulnerabilities' : 'vulnerabilities']).map(obj)) {
      const id = str(one['name']);
      if (id === '' || !isKnown) {
        yield unread('has no name, or its file has none', place);
        continue;
      }
      const [v3, v2] = [obj(one['cvssv3']), obj(one['cvssv2'])];
      const cvss =
        readCvss(str(v3['vectorString']) || null, num(v3['baseScore'])) ??
        readCvss(str(v2['vectorString']) || null, num(v2['score']));
      yield record({
        title: `${id} in ${decodeURIComponentSafely(name) || file}`,
        description: plainText(one['description']),
        ...readSeverity(one['severity'], { score: cvss?.score ?? null }),
        cwes: cwesOf(texts(one['cwes'])),
        vulnIds: vulnIdsOf([id, ...list(one['references']).map((link) => obj(link)['name'])]).filter(
          (found) => found === id.toUpperCase() || found.startsWith('GHSA-'),
        ),
        cvss,
        source: 'sca',
        ruleId: id,
        location: {
          kind: 'package',
          name: decodeURIComponentSafely(name) || file,
          version,
          path: reportPath(dependency['filePath']) || file,
          ...(purl.startsWith('pkg:') ? { purl } : {}),
        },
        references: list(one['references']).map((link) => str(obj(link)['url'])),
        // by names that look alike (CPE) where no package manager says what it is
        quality: str(identifier?.['confidence']) === 'HIGHEST' ? 0.8 : 0.65,
        suppressed,
      });
    }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

export const dependencyCheck: Format = {
  name: 'dependency-check',
  label: 'OWASP Dependency-Check JSON',
  detection: '"reportSchema" with "scanInfo"',
  detect: (beginning) => /^\s*\{/.test(beginning) && has(beginning, 'reportSchema', 'scanInfo'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['dependencies'])) throw unfit('file', 'is no report of Dependency-Check');
    facts.tool = 'OWASP Dependency-Check';
    facts.version = str(at(report, 'scanInfo', 'engineVersion'));
    facts.scannedAt = moment(at(report, 'projectInfo', 'reportDate'));
    facts.subject = str(at(report, 'projectInfo', 'name'))
      .toLowerCase()
      .slice(0, 200);
    for (const one of list(at(report, 'scanInfo', 'analysisExceptions')))
      yield fault(str(at(one, 'exception', 'message')) || 'an analyzer failed (analysisExceptions)');
    const all = list(report['dependencies']);
    if (all.length === 0) yield fault('no file was looked at (dependencies is empty)');
    for (const [index, one] of all.entries()) yield* checkedFile(obj(one), `/dependencies/${index}`);
  },
};

function snykItem(one: Json, project: Json, place: string): Item {
  const id = str(one['id']);
  const name = str(one['packageName']) || str(one['name']) || str(one['moduleName']);
  if (id === '' || name === '') return unread('has no id or no package', place);
  const version = str(one['version']);
  const fixed = nearestFix(texts(one['fixedIn']), version) ?? texts(one['nearestFixedInVersion'])[0];
  const manager = str(one['packageManager']) || str(project['packageManager']);
  const isImage = project['docker'] !== undefined;
  const identifiers = obj(one['identifiers']);
  return record({
    title: `${str(one['title']) || id} in ${name}`,
    description: str(one['description']),
    ...readSeverity(one['severity'], { score: num(one['cvssScore']) }),
    cwes: cwesOf(texts(identifiers['CWE'])),
    vulnIds: [...texts(identifiers['CVE']), ...texts(identifiers['GHSA']), id],
    cvss: readCvss(str(one['CVSSv3']) || null, num(one['cvssScore'])),
    source: isImage ? 'container' : 'sca',
    ruleId: id,
    location: {
      kind: 'package',
      name,
      version,
      path: isImage ? str(project['path']) : reportPath(project['displayTargetFile'] ?? project['targetFile']),
      ...purlOf(manager, name, version),
    },
    fix:
      fixed === undefined
        ? { state: one['isUpgradable'] === true ? 'fixed_available' : 'no_fix' }
        : { state: 'fixed_available', version: fixed },
    references: list(one['references']).map((link) => str(obj(link)['url'])),
    evidence: texts(one['from']).length === 0 ? [] : [{ from: texts(one['from']).slice(0, 20) }],
    quality: 0.8,
  });
}

function* snykProject(project: Json, place: string, facts: ReportFacts): Generator<Item> {
  if (str(project['error']) !== '') return yield fault(str(project['error']));
  const path = str(project['path']);
  if (project['docker'] !== undefined) facts.subject = imageOf(path);
  else Object.assign(facts, factsOfDirectory(path));
  if (num(project['dependencyCount']) === 0) yield fault('no dependency was looked at (dependencyCount is 0)');
  yield* snykItems(project, place);
}

function* snykItems(project: Json, place: string): Generator<Item> {
  const all = list(project['vulnerabilities']).map(obj);
  // licences are another question
  for (const [index, one] of all.entries())
    if (str(one['type']) !== 'license') yield snykItem(one, project, `${place}/vulnerabilities/${index}`);
}

export const snyk: Format = {
  name: 'snyk',
  label: 'Snyk Open Source and Container JSON',
  detection: '"vulnerabilities" with "dependencyCount" and "packageManager"',
  detect: (beginning) =>
    /^\s*[[{]/.test(beginning) &&
    ((has(beginning, 'vulnerabilities') && /"(?:SNYK-|npm:)/.test(beginning)) ||
      (has(beginning, 'vulnerabilities', 'ok') && has(beginning, 'dependencyCount'))),
  async *read(file, facts) {
    const report = await readJson(file);
    const projects = (Array.isArray(report) ? (report as unknown[]) : [report]).map(obj);
    facts.tool = 'Snyk';
    if (projects.length === 0) yield fault('the report names no project: nothing was looked at');
    for (const [index, project] of projects.entries()) {
      if (!Array.isArray(project['vulnerabilities']) && str(project['error']) === '')
        throw unfit('file', 'is no JSON of snyk test', 'send results of Snyk Code and IaC as SARIF');
      const place = Array.isArray(report) ? `/${index}` : '';
      yield* snykProject(project, place, facts);
      // of an image: what its applications bring along stands beside what its system has
      for (const [number, own] of list(project['applications']).map(obj).entries())
        yield* snykItems(
          { ...own, docker: project['docker'], path: own['displayTargetFile'] ?? own['targetFile'] ?? project['path'] },
          `${place}/applications/${number}`,
        );
    }
    // several projects lie in one report: each has a file of its own
    if (projects.length > 1) facts.subject = '';
  },
};
