// Reports of platforms that have several scanners: GitLab (security reports of pipelines) and SonarQube (issues).
import type { Source } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import {
  at,
  cleanPath,
  cwesOf,
  list,
  moment,
  num,
  obj,
  pos,
  reportPath,
  secretHash,
  str,
  texts,
} from '../../normalize.js';
import { vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item, type Location } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { imageOf } from '../../run/subject.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

/** `scan.type` of GitLab's report schemas. */
const kinds = new Map<string, Source>(
  Object.entries({
    ...{ sast: 'sast', dependency_scanning: 'sca', container_scanning: 'container', secret_detection: 'secret' },
    ...{ dast: 'dast', api_fuzzing: 'dast', coverage_fuzzing: 'sast', cluster_image_scanning: 'container' },
  } as const),
);
const confidences = new Map([
  ['Confirmed', 0.95],
  ['High', 0.85],
  ['Low', 0.6],
]);

function gitlabLocation(one: Json, source: Source): Location | null {
  const place = obj(one['location']);
  const line = pos(place['start_line']);
  const name = str(at(place, 'dependency', 'package', 'name'));
  const version = str(at(place, 'dependency', 'version'));
  const path = reportPath(place['file']);
  if (name !== '') return { kind: 'package', name, version, path: path || str(place['image']) };
  if (source === 'dast') {
    const host = str(place['hostname']);
    const param = str(place['param']);
    const url = `${host}${str(place['path'])}`;
    return url === ''
      ? null
      : { kind: 'web', url, method: str(place['method']) || 'GET', ...(param === '' ? {} : { param }) };
  }
  if (path === '') return null;
  if (source === 'secret') {
    const shown = str(one['raw_source_code_extract']);
    // its id may be another one in each run; `cve` is what GitLab itself has compared by
    const hash = secretHash(shown || `${path}|${str(one['cve']) || str(one['name'])}`);
    return { kind: 'secret', path, ...(line === undefined ? {} : { line }), hash };
  }
  const end = pos(place['end_line']);
  const symbol = str(place['method']);
  return {
    ...{ kind: 'code', path },
    ...(line === undefined ? {} : { line }),
    ...(end === undefined ? {} : { end_line: end }),
    ...(symbol === '' ? {} : { symbol }),
  };
}

function gitlabItem(one: Json, kind: Source, place: string): Item {
  const identifiers = list(one['identifiers']).map(obj);
  const of = (type: RegExp): string[] =>
    identifiers.filter(({ type: given }) => type.test(str(given))).map(({ value, name }) => str(value) || str(name));
  const own = identifiers.find(({ type }) => !/^(?:cwe|cve|owasp|ghsa)$/i.test(str(type))) ?? identifiers[0];
  const rule = str(own?.['value']) || str(own?.['name']);
  // kubernetes and infrastructure come as sast
  const isIac = kind === 'sast' && /^(?:kics|kubesec)/i.test(str(at(one, 'scanner', 'id')));
  const source: Source = isIac ? 'iac' : kind;
  const location = gitlabLocation(one, source);
  const name = str(one['name']) || str(one['message']) || rule;
  if (location === null || name === '') return unread('has no name or no location', place);
  const shown = str(one['raw_source_code_extract']);
  const links = list(one['links']).map((link) => str(obj(link)['url']));
  return record({
    title: name,
    description: str(one['description']) || str(one['message']),
    ...readSeverity(one['severity']),
    cwes: cwesOf(of(/^cwe$/i), true),
    vulnIds: vulnIdsOf([...of(/^(?:cve|ghsa|osvdb|usn|rhsa|gemnasium)$/i), ...identifiers.map((id) => id['name'])]),
    source,
    ruleId: rule || name,
    location,
    fix: { state: 'unknown', text: str(one['solution']) },
    references: [...links, ...identifiers.map(({ url }) => str(url))],
    quality: confidences.get(str(one['confidence'])) ?? 0.8,
    suppressed: list(one['flags']).some((flag) => /false-positive/.test(str(obj(flag)['type']))),
    ...(source === 'secret' && shown.length >= 4 ? { secrets: [shown] } : {}),
    extra: { scanner: str(at(one, 'scanner', 'name')) },
  });
}

export const gitlab: Format = {
  name: 'gitlab',
  label: 'GitLab security report (SAST, dependencies, containers, secrets, DAST)',
  detection: '"vulnerabilities" with "scan" or "identifiers", and "version": "15.…"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    /"version"\s*:\s*"1[4-9]\.\d/.test(beginning) &&
    /"vulnerabilities"\s*:/.test(beginning) &&
    // of Snyk, whose packages may have such a version, identifiers are an object
    /"identifiers"\s*:\s*\[|"scan"\s*:\s*\{/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['vulnerabilities'])) throw unfit('file', 'is no security report of GitLab');
    const [scan, all] = [obj(report['scan']), list(report['vulnerabilities']).map(obj)];
    const type = str(scan['type']) || str(all[0]?.['category']);
    facts.tool = str(at(scan, 'scanner', 'name')) || str(at(all, 0, 'scanner', 'name')) || 'GitLab';
    facts.version = str(at(scan, 'scanner', 'version'));
    // without a zone it is that of UTC
    facts.scannedAt = moment(str(scan['end_time']).replace(/(?<=T[\d:.]{5,20})$/, 'Z'));
    const image = str(at(all, 0, 'location', 'image'));
    if (image !== '') facts.subject = imageOf(image);
    const status = str(scan['status']);
    if (status !== 'success') yield fault(`the scan did not succeed (scan.status is ${status || 'missing'})`);
    for (const message of list(scan['messages']).map(obj))
      if (/^fatal|error$/i.test(str(message['level']))) yield fault(str(message['value']));
    const kind = kinds.get(type);
    if (kind === undefined) throw unfit('file', `is a report of GitLab of the type ${type || 'unknown'}`, 'see docs');
    for (const [index, one] of all.entries()) yield gitlabItem(one, kind, `/vulnerabilities/${index}`);
  },
};

/** SonarQube's own words; `MAJOR` is the usual one, as its severity of a rule that nobody has changed. */
const sonarScale = { blocker: 'critical', critical: 'high', major: 'medium', minor: 'low', info: 'info' } as const;

/** `project:src/a.ts`, and `project:module:src/a.ts`. */
const fileOf = (component: string): string => cleanPath(component.slice(component.lastIndexOf(':') + 1));

function sonarItem(one: Json, place: string): Item {
  const isHotspot = one['vulnerabilityProbability'] !== undefined;
  const rule = str(one['rule']) || str(one['ruleKey']) || str(one['securityCategory']);
  const path = fileOf(str(one['component']));
  const message = str(one['message']);
  if (rule === '' || path === '' || message === '') return unread('has no rule, component or message', place);
  const status = str(one['status']) || str(one['issueStatus']);
  const resolution = str(one['resolution']);
  if (/^(?:closed|fixed)$/i.test(status) || /^(?:fixed|removed)$/i.test(resolution))
    return noFinding(`is ${(resolution || status).toLowerCase()}`, `${rule} ${path}`);
  const line = pos(one['line']) ?? pos(at(one, 'textRange', 'startLine'));
  const impacts = list(one['impacts']).map(obj);
  const type = str(one['type']);
  const isSecurity =
    isHotspot ||
    /^(?:VULNERABILITY|SECURITY_HOTSPOT)$/.test(type) ||
    impacts.some(({ softwareQuality }) => softwareQuality === 'SECURITY');
  const impact = impacts.find(({ softwareQuality }) => softwareQuality === 'SECURITY') ?? impacts[0];
  return record({
    title: message,
    ...readSeverity(one['severity'] ?? one['vulnerabilityProbability'] ?? impact?.['severity'], {
      scale: one['severity'] === undefined ? {} : sonarScale,
    }),
    cwes: cwesOf(texts(one['tags']).concat(texts(one['securityStandards']))),
    source: isSecurity ? (rule.startsWith('secrets:') ? 'secret' : 'sast') : 'quality',
    ruleId: rule,
    nativeId: str(one['key']) || null,
    location: { kind: 'code', path, ...(line === undefined ? {} : { line }) },
    tags: texts(one['tags']),
    quality: isHotspot ? 0.6 : 0.8,
    suppressed: /^(?:false[-_]?positive|wontfix|accepted|safe|acknowledged)$/i.test(resolution || status),
  });
}

export const sonarqube: Format = {
  name: 'sonarqube',
  label: 'SonarQube and SonarCloud (api/issues/search, api/hotspots/search)',
  detection: '"paging" with "issues" or "hotspots"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    /"(?:issues|hotspots)"\s*:\s*\[/.test(beginning) &&
    /"paging"\s*:|"effortTotal"\s*:/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    const all = report['issues'] ?? report['hotspots'];
    if (!Array.isArray(all)) throw unfit('file', 'is no answer of SonarQube');
    facts.tool = 'SonarQube';
    facts.subject = report['issues'] === undefined ? 'hotspots' : '';
    const total = num(at(report, 'paging', 'total')) ?? num(report['total']);
    if (total === null) yield fault('the answer does not say how many there are (paging)');
    else if (total > all.length)
      yield fault(`it is one page: ${all.length} of ${total} issues are listed; send all pages as one list`);
    for (const [index, one] of (all as unknown[]).entries()) yield sonarItem(obj(one), `/issues/${index}`);
  },
};
