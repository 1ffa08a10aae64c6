// Reports about dependencies: npm audit, Trivy, Grype.
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
import type { FixState } from '../../findings/words.js';
import {
  at,
  cleanPath,
  cwesOf,
  list,
  masked,
  num,
  obj,
  pos,
  reportPath,
  secretHash,
  str,
  texts,
  vulnIdsOf,
  type Json,
} from '../normalize.js';
import { fault, noFinding, record, unread, type Dropped, type Item, type ReportFacts } from '../record.js';
import { readJson } from '../reading/report-file.js';
import type { Looked } from '../run/looked-at.js';
import { factsOfDirectory, imageOf, repositoryOf } from '../run/subject.js';
import { readSeverity } from '../severity/read.js';
import type { Format } from './format.js';

const word = (beginning: string, name: string): boolean => beginning.includes(`"${name}"`);

export const npmAudit: Format = {
  name: 'npm-audit',
  label: 'npm audit --json (versions 1 and 2)',
  detection: '"auditReportVersion", or "advisories" with "actions"',
  detect: (beginning) =>
    word(beginning, 'auditReportVersion') || (word(beginning, 'advisories') && word(beginning, 'actions')),
  async *read(file, facts) {
    const given = obj(await readJson(file));
    const report =
      given['auditReportVersion'] === undefined && given['audit'] !== undefined ? obj(given['audit']) : given;
    facts.tool = 'npm audit';
    yield npmFaults(report);
    if (report['advisories'] !== undefined) return yield* readVersion1(obj(report['advisories']));
    if (report['vulnerabilities'] === undefined) throw unfit('file', 'is no report of npm audit');
    for (const [name, value] of Object.entries(obj(report['vulnerabilities']))) yield* readPackage(name, obj(value));
  },
};

/** What its summary says and its list does not. */
function npmFaults(report: Json): readonly Dropped[] {
  const metadata = obj(report['metadata']);
  const total = num(at(metadata, 'dependencies', 'total')) ?? num(metadata['totalDependencies']);
  const counts = obj(metadata['vulnerabilities']);
  const sum = Object.values(counts).reduce<number>((all, count) => all + (num(count) ?? 0), 0);
  const listed = Object.keys(obj(report['vulnerabilities'] ?? report['advisories'])).length;
  // version 1 counts each way to a package
  const counted = num(counts['total']) ?? (listed === 0 ? sum : 0);
  const [error, isTold] = [obj(report['error']), report['metadata'] !== undefined || listed > 0];
  return [
    ...(Object.keys(error).length > 0 ? [fault(`${str(error['code'])}: ${str(error['summary'])}`)] : []),
    ...(isTold ? [] : [fault('nothing shows that a dependency was looked at (metadata is missing)')]),
    ...(total === 0 ? [fault('no dependency was looked at (metadata counts 0): is there a lock file?')] : []),
    ...(counted > listed ? [fault(`metadata.vulnerabilities counts ${counted}, and ${listed} are listed`)] : []),
  ];
}

/** An older npm says nothing of it. */
const fixStateOf = (available: unknown): FixState =>
  available === undefined || available === null ? 'unknown' : available === false ? 'no_fix' : 'fixed_available';

/** Only advisories themselves; texts in `via` point at packages that are listed on their own. */
function* readPackage(name: string, entry: Json): Generator<Item> {
  const available = entry['fixAvailable'];
  for (const via of list(entry['via']).map(obj)) {
    if (via['source'] === undefined) continue;
    const fixed = at(available, 'name') === name ? str(at(available, 'version')) : '';
    const cvss = obj(via['cvss']);
    yield record({
      title: str(via['title']) || `${name} is vulnerable`,
      description: `${name} ${str(via['range'])}`,
      ...readSeverity(via['severity'], { score: num(cvss['score']) || null }),
      cwes: cwesOf(texts(via['cwe'])),
      vulnIds: [...vulnIdsOf([via['url'], via['title']])],
      cvss: readCvss(str(cvss['vectorString']) || null, num(cvss['score']) || null),
      source: 'sca',
      ruleId: str(via['source']),
      location: {
        kind: 'package',
        name: str(via['dependency']) || name,
        purl: `pkg:npm/${name.replace('@', '%40')}`,
        path: 'package-lock.json',
      },
      fix: { state: fixStateOf(available), ...(fixed === '' ? {} : { version: fixed }) },
      references: texts(via['url']),
      quality: 0.8,
      evidence: texts(entry['nodes']).slice(0, 20),
      extra: {
        direct: entry['isDirect'] === true,
        range: str(via['range']),
        effects: texts(entry['effects']).slice(0, 50),
      },
    });
  }
}

function* readVersion1(advisories: Json): Generator<Item> {
  for (const [id, value] of Object.entries(advisories)) {
    const advisory = obj(value);
    const name = str(advisory['module_name']);
    yield record({
      title: str(advisory['title']) || `${name} is vulnerable`,
      description: [str(advisory['overview']), str(advisory['recommendation'])].filter(Boolean).join('\n\n'),
      ...readSeverity(advisory['severity'], { score: num(at(advisory, 'cvss', 'score')) || null }),
      cwes: cwesOf(texts(advisory['cwe'])),
      vulnIds: vulnIdsOf([...texts(advisory['cves']), advisory['url'], advisory['github_advisory_id']]),
      cvss: readCvss(str(at(advisory, 'cvss', 'vectorString')) || null, num(at(advisory, 'cvss', 'score')) || null),
      source: 'sca',
      ruleId: id,
      location: { kind: 'package', name, purl: `pkg:npm/${name.replace('@', '%40')}`, path: 'package-lock.json' },
      fix: {
        state: str(advisory['patched_versions']) === '<0.0.0' ? 'no_fix' : 'fixed_available',
        text: str(advisory['patched_versions']),
      },
      references: texts(advisory['url']),
      quality: 0.8,
      evidence: list(advisory['findings'])
        .flatMap((one) => texts(obj(one)['paths']))
        .slice(0, 20),
    });
  }
}

const trivyFix: Readonly<Record<string, FixState>> = {
  fixed: 'fixed_available',
  affected: 'no_fix',
  will_not_fix: 'wont_fix',
  fix_deferred: 'wont_fix',
  end_of_life: 'wont_fix',
};

export const trivy: Format = {
  name: 'trivy',
  label: 'Trivy JSON',
  detection: '"SchemaVersion" and "Results"',
  detect: (beginning) =>
    (word(beginning, 'SchemaVersion') && (word(beginning, 'Results') || word(beginning, 'ArtifactName'))) ||
    /^\s*\[\s*\{\s*"Target"\s*:/.test(beginning),
  async *read(file, facts) {
    const report = await readJson(file);
    const results = Array.isArray(report) ? (report as unknown[]) : (obj(report)['Results'] ?? []);
    if ((!Array.isArray(report) && obj(report)['SchemaVersion'] === undefined) || !Array.isArray(results))
      throw unfit('file', 'is no report of Trivy');
    const all = list(results);
    facts.tool = 'Trivy';
    Object.assign(facts, factsOfTrivy(report));
    facts.looked = lookedOfTrivy(all.map(obj), isUnknownSystem(report));
    yield* trivyFaults(report, all.map(obj));
    const image = str(at(report, 'ArtifactType')) === 'container_image';
    for (const [index, value] of all.entries()) {
      const result = obj(value);
      // of an image secrets stand below /, packages do not, and in SARIF neither does
      const path = reportPath(result['Target']);
      const target = image ? path.replace(/^\/+/, '') : path;
      for (const [at_, one] of list(result['Vulnerabilities']).map(obj).entries())
        yield str(one['VulnerabilityID']) === ''
          ? unread('has no VulnerabilityID', `/Results/${index}/Vulnerabilities/${at_}`)
          : trivyVulnerability(one, target, image && str(result['Class']) === 'os-pkgs');
      for (const one of list(result['Misconfigurations']))
        yield* trivyMisconfiguration(obj(one), target, `/Results/${index}`);
      for (const one of list(result['Secrets'])) yield trivySecret(obj(one), target);
    }
  },
};

/** What Trivy writes for an image whose system it does not know, also where there is none (a program alone). */
const isUnknownSystem = (report: unknown): boolean => str(at(report, 'Metadata', 'OS', 'Family')) === 'none';

/** It names each lock file, program and list of packages that it has read, whatever it has found in it. */
const nothingRead = (report: unknown): string =>
  isUnknownSystem(report)
    ? 'no package was looked at: Results is empty, and the system of the image is not known (OS.Family is none)'
    : 'no file was looked at (Results is empty or missing): is there a lock file?';

/** That it has read nothing, a release of a system beyond its end of life, counts larger than the list. */
function* trivyFaults(report: unknown, results: readonly Json[]): Generator<Dropped> {
  if (results.length === 0) yield fault(nothingRead(report));
  const system = obj(at(report, 'Metadata', 'OS'));
  if (system['EOSL'] === true)
    yield fault(
      `${str(system['Family'])} ${str(system['Name'])} is beyond its end of life: nothing is published for it`,
    );
  for (const result of results) {
    const counted = num(at(result, 'MisconfSummary', 'Failures')) ?? 0;
    const listed = list(result['Misconfigurations']).filter((one) => str(obj(one)['Status']) === 'FAIL').length;
    if (counted > listed)
      yield fault(`${str(result['Target'])}: MisconfSummary counts ${counted} failures, and ${listed} are listed`);
  }
}

function factsOfTrivy(report: unknown): Partial<ReportFacts> {
  const [type, name] = [str(at(report, 'ArtifactType')), str(at(report, 'ArtifactName'))];
  if (type === 'container_image') return { subject: imageOf(name) };
  return type === 'repository' ? { subject: repositoryOf(name) } : factsOfDirectory(name);
}

/**
 * The kinds that its results are of. It names each file that it has read, with or without a finding, but for secrets
 * and licences: who looks at packages looks for secrets, too, unless told otherwise. Of no result nothing is told.
 * Packages of a system that it does not know were not looked at.
 */
function lookedOfTrivy(results: readonly Json[], isUnknown: boolean): Looked | null {
  const names = new Set<string>();
  for (const result of results) {
    const kind = str(result['Class']);
    const has = (member: string): boolean => list(result[member]).length > 0;
    if (/pkgs$|^custom$/.test(kind) || has('Vulnerabilities')) for (const one of ofPackages) names.add(one);
    if (isUnknown) names.delete('container');
    if (kind === 'config' || has('Misconfigurations')) for (const one of ofSettings) names.add(one);
    if (kind === 'secret' || has('Secrets')) names.add('secret');
  }
  return names.size === 0 ? null : { by: 'source', names };
}
const ofPackages = ['sca', 'container', 'secret'];
const ofSettings = ['iac', 'k8s', 'container', 'cspm'];

function trivyVulnerability(one: Json, target: string, isImage: boolean): Item {
  const id = str(one['VulnerabilityID']);
  const name = str(one['PkgName']);
  const sources = obj(one['CVSS']);
  const scores = [obj(sources[str(one['SeveritySource'])]), obj(sources['nvd']), ...Object.values(sources).map(obj)];
  const cvss = scores
    .flatMap((score) => [
      readCvss(str(score['V40Vector']) || null, num(score['V40Score'])),
      readCvss(str(score['V3Vector']) || null, num(score['V3Score'])),
      readCvss(str(score['V2Vector']) || null, num(score['V2Score'])),
    ])
    .find((found) => found !== null);
  const fixed = str(one['FixedVersion']);
  const purl = str(at(one, 'PkgIdentifier', 'PURL'));
  return record({
    title: str(one['Title']) || `${id} in ${name}`,
    description: str(one['Description']),
    ...readSeverity(one['Severity'], { score: cvss?.score ?? null }),
    cwes: cwesOf(texts(one['CweIDs'])),
    vulnIds: [id, ...texts(one['VendorIDs'])],
    cvss: cvss ?? null,
    source: isImage ? 'container' : 'sca',
    ruleId: id,
    location: {
      kind: 'package',
      name,
      version: str(one['InstalledVersion']),
      path: reportPath(one['PkgPath']) || target,
      ...(purl === '' ? {} : { purl }),
    },
    fix: {
      state: trivyFix[str(one['Status'])] ?? (fixed === '' ? 'unknown' : 'fixed_available'),
      ...(fixed === '' ? {} : { version: fixed }),
    },
    references: [...texts(one['PrimaryURL']), ...texts(one['References'])],
    quality: 0.8,
    extra: { layer: str(at(one, 'Layer', 'DiffID')) },
  });
}

function* trivyMisconfiguration(one: Json, target: string, place: string): Generator<Item> {
  const status = str(one['Status']);
  if (status === '') return yield unread('has no Status', place);
  if (status !== 'FAIL') return yield noFinding('is no failure', place);
  const cause = obj(one['CauseMetadata']);
  yield record({
    title: str(one['Title']),
    description: [str(one['Description']), str(one['Message'])].filter(Boolean).join('\n\n'),
    ...readSeverity(one['Severity']),
    source: 'iac',
    ruleId: str(one['AVDID']) || str(one['ID']),
    location: {
      kind: 'resource',
      address: str(cause['Resource']) || target,
      path: target,
      ...(pos(cause['StartLine']) === undefined ? {} : { line: pos(cause['StartLine']) as number }),
    },
    fix: { state: 'fixed_available', text: str(one['Resolution']) },
    references: [...texts(one['PrimaryURL']), ...texts(one['References'])],
  });
}

function trivySecret(one: Json, target: string): Item {
  const match = str(one['Match']);
  return record({
    title: str(one['Title']) || str(one['RuleID']),
    description: `${str(one['Category'])}: ${masked(match, match)}`,
    ...readSeverity(one['Severity'], { ifAbsent: 'high' }),
    cwes: [798],
    source: 'secret',
    ruleId: str(one['RuleID']),
    placed: match,
    // Trivy masks what it found; the place has to tell two of them apart
    location: {
      kind: 'secret',
      path: target,
      hash: secretHash(`${str(one['RuleID'])}|${target}|${match}`),
      ...(pos(one['StartLine']) === undefined ? {} : { line: pos(one['StartLine']) as number }),
    },
  });
}

const grypeFix: Readonly<Record<string, FixState>> = {
  fixed: 'fixed_available',
  'not-fixed': 'no_fix',
  'wont-fix': 'wont_fix',
};

/** `target` is a text for directories, and an object for images. */
function factsOfGrype(source: Json): Partial<ReportFacts> {
  const name = str(at(source, 'target', 'userInput')) || str(source['target']);
  return str(source['type']) === 'image' ? { subject: imageOf(name) } : factsOfDirectory(name);
}

/** Of a release that its data do not know, or no longer, and of data that it could not use. */
function* grypeFaults(report: Json): Generator<Dropped> {
  const alerts = list(report['alertsByPackage']).flatMap((one) => list(obj(one)['alerts']).map(obj));
  const told = new Set(alerts.map((one) => str(one['type'])).filter((type) => type.startsWith('distro-')));
  const distro = obj(report['distro']);
  for (const type of told) yield fault(`${type}: no data for ${str(distro['name'])} ${str(distro['version'])}`.trim());
  const database = obj(at(report, 'descriptor', 'db'));
  const status = Object.keys(obj(database['status'])).length > 0 ? obj(database['status']) : database;
  if (status['valid'] === false || str(status['error']) !== '')
    yield fault(`the database of vulnerabilities cannot be used: ${str(status['error']) || 'it is not valid'}`);
}

export const grype: Format = {
  name: 'grype',
  label: 'Grype JSON',
  detection: '"matches" and a descriptor called grype',
  detect: (beginning) =>
    word(beginning, 'matches') && (word(beginning, 'matchDetails') || /"name"\s*:\s*"grype"/.test(beginning)),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['matches'])) throw unfit('file', 'is no report of Grype');
    facts.tool = 'Grype';
    facts.version = str(at(report, 'descriptor', 'version'));
    Object.assign(facts, factsOfGrype(obj(report['source'])));
    yield* grypeFaults(report);
    for (const [index, value] of list(report['matches']).entries()) {
      const match = obj(value);
      const vulnerability = obj(match['vulnerability']);
      const artifact = obj(match['artifact']);
      const id = str(vulnerability['id']);
      if (id === '') {
        yield unread('has no id of a vulnerability', `/matches/${index}`);
        continue;
      }
      const related = list(match['relatedVulnerabilities']).map((one) => str(obj(one)['id']));
      const scores = [
        ...list(vulnerability['cvss']),
        ...list(match['relatedVulnerabilities']).flatMap((one) => list(obj(one)['cvss'])),
      ].map(obj);
      const cvss = scores
        .map((one) => readCvss(str(one['vector']) || null, num(at(one, 'metrics', 'baseScore'))))
        .find((one) => one !== null);
      const versions = texts(at(vulnerability, 'fix', 'versions'));
      const exact = list(match['matchDetails']).some((one) => str(obj(one)['type']).startsWith('exact'));
      yield record({
        title: `${id} in ${str(artifact['name'])}`,
        description: str(vulnerability['description']) || str(at(match, 'relatedVulnerabilities', 0, 'description')),
        ...readSeverity(vulnerability['severity'], { score: cvss?.score ?? null }),
        cwes: cwesOf(list(vulnerability['cwes']).map((one) => str(obj(one)['cwe']) || str(one))),
        vulnIds: [id, ...related],
        cvss: cvss ?? null,
        source: ['deb', 'rpm', 'apk'].includes(str(artifact['type'])) ? 'container' : 'sca',
        ruleId: id,
        location: {
          kind: 'package',
          name: str(artifact['name']),
          version: str(artifact['version']),
          path: cleanPath(at(artifact, 'locations', 0, 'path')),
          ...(str(artifact['purl']) === '' ? {} : { purl: str(artifact['purl']) }),
        },
        fix: {
          state: grypeFix[str(at(vulnerability, 'fix', 'state'))] ?? 'unknown',
          ...(versions[0] === undefined ? {} : { version: versions[0] }),
        },
        references: texts(vulnerability['dataSource']),
        quality: exact ? 0.8 : 0.6,
      });
    }
  },
};
