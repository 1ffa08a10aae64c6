// Lists that platforms keep: alerts of GitHub (code, dependencies, secrets) and findings of Dependency-Track.
import { readCvss } from '../../../findings/cvss.js';
import { unfit } from '../../../kit/endpoint.js';
import { withKind } from '../../kinds/sarif-kind.js';
import { at, cwesOf, list, moment, num, obj, pos, reportPath, secretHash, str, texts } from '../../normalize.js';
import { vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import type { Format } from '../format.js';

const purlTypes: Readonly<Record<string, string>> = {
  ...{ npm: 'npm', pip: 'pypi', go: 'golang', maven: 'maven', rubygems: 'gem', nuget: 'nuget', rust: 'cargo' },
  ...{ composer: 'composer', pub: 'pub', erlang: 'hex', swift: 'swift' },
};

function codeAlert(one: Json, place: string): Item {
  const [rule, latest] = [obj(one['rule']), obj(one['most_recent_instance'])];
  const where = obj(latest['location']);
  const [id, path] = [str(rule['id']) || str(rule['name']), reportPath(where['path'])];
  if (id === '' || path === '') return unread('has no rule or no path', place);
  const [line, end, column] = ['start_line', 'end_line', 'start_column'].map((name) => pos(where[name]));
  const level = str(rule['security_severity_level']);
  const tags = texts(rule['tags']);
  const made = record({
    title: str(rule['description']) || id,
    description: [str(at(latest, 'message', 'text')), str(rule['full_description'])].filter(Boolean).join('\n\n'),
    ...readSeverity(level || rule['severity'], level === '' ? { scale: toolScales.sarif } : {}),
    cwes: cwesOf(tags),
    source: 'sast',
    ruleId: id,
    tool: str(at(one, 'tool', 'name')) || 'GitHub code scanning',
    // one alert lives as long as its weakness, wherever its lines move
    nativeId: `code-${str(one['number'])}`,
    location: {
      ...{ kind: 'code', path },
      ...(line === undefined ? {} : { line }),
      ...(end === undefined ? {} : { end_line: end }),
      ...(column === undefined ? {} : { column }),
    },
    references: texts(one['html_url']),
    tags,
    suppressed: str(one['state']) === 'dismissed',
    extra: { dismissed_reason: str(one['dismissed_reason']) },
  });
  return withKind(made, {}, {}, {});
}

function dependabotAlert(one: Json, place: string): Item {
  const [advisory, range] = [obj(one['security_advisory']), obj(one['security_vulnerability'])];
  const package_ = obj(at(one, 'dependency', 'package') ?? range['package']);
  const [name, type] = [str(package_['name']), purlTypes[str(package_['ecosystem']).toLowerCase()]];
  const identifiers = list(advisory['identifiers']).map((each) => str(obj(each)['value']));
  const vulnIds = vulnIdsOf([advisory['cve_id'], advisory['ghsa_id'], ...identifiers]);
  if (name === '' || vulnIds[0] === undefined) return unread('has no package or no advisory', place);
  const cvss = ['cvss_v4', 'cvss_v3']
    .map((version) => obj(at(advisory, 'cvss_severities', version)))
    .concat(obj(advisory['cvss']))
    .map((each) => readCvss(str(each['vector_string']) || null, num(each['score']) || null))
    .find((found) => found !== null);
  const fixed = str(at(range, 'first_patched_version', 'identifier'));
  const path = (type === 'maven' ? name.replace(':', '/') : name).replace('@', '%40');
  return record({
    title: str(advisory['summary']) || `${vulnIds[0]} in ${name}`,
    description: str(advisory['description']),
    ...readSeverity(range['severity'] ?? advisory['severity'], { score: cvss?.score ?? null }),
    cwes: cwesOf(list(advisory['cwes']).map((each) => obj(each)['cwe_id'])),
    vulnIds,
    cvss: cvss ?? null,
    source: 'sca',
    ruleId: str(advisory['ghsa_id']) || vulnIds[0],
    tool: 'Dependabot',
    location: {
      ...{ kind: 'package', name, path: reportPath(at(one, 'dependency', 'manifest_path')) },
      ...(type === undefined ? {} : { purl: `pkg:${type}/${path}` }),
    },
    fix: fixed === '' ? { state: 'no_fix' } : { state: 'fixed_available', version: fixed },
    references: [str(one['html_url']), ...list(advisory['references']).map((link) => str(obj(link)['url']))],
    quality: 0.8,
    suppressed: str(one['state']).endsWith('dismissed'),
    extra: {
      affected: str(range['vulnerable_version_range']),
      scope: str(at(one, 'dependency', 'scope')),
      dismissed_reason: str(one['dismissed_reason']),
    },
  });
}

function secretAlert(one: Json, place: string): Item {
  const [type, secret] = [str(one['secret_type']), str(one['secret'])];
  if (type === '' || (secret === '' && str(one['number']) === '')) return unread('has no secret_type', place);
  const where = obj(one['first_location_detected']);
  const line = pos(where['start_line']);
  const isActive = str(one['validity']) === 'active';
  const resolution = str(one['resolution']);
  if (resolution === 'revoked') return noFinding('is revoked', place);
  return record({
    title: str(one['secret_type_display_name']) || type,
    severity: isActive ? 'critical' : 'high',
    cwes: [798],
    source: 'secret',
    ruleId: type,
    tool: 'GitHub secret scanning',
    nativeId: `secret-${str(one['number'])}`,
    location: {
      kind: 'secret',
      path: reportPath(where['path']) || 'unknown',
      ...(line === undefined ? {} : { line }),
      hash: secretHash(secret || `${type}|${str(one['url']) || str(one['number'])}`),
    },
    ...(secret.length >= 4 ? { secrets: [secret] } : {}),
    references: texts(one['html_url']),
    quality: isActive ? 0.95 : 0.8,
    suppressed: str(one['state']) === 'resolved',
    extra: { validity: str(one['validity']), resolution },
  });
}

type Alert = 'code' | 'dependabot' | 'secret';
const readers: Readonly<Record<Alert, (one: Json, place: string) => Item>> = {
  code: codeAlert,
  dependabot: dependabotAlert,
  secret: secretAlert,
};
const kindOfAlert = (one: Json): Alert | null => {
  if (one['secret_type'] !== undefined) return 'secret';
  if (one['security_advisory'] !== undefined) return 'dependabot';
  return one['rule'] === undefined ? null : 'code';
};

/** As GitHub gives them where nobody asks for another number, and at most. */
const pageSizes = new Set([30, 100]);

export const github: Format = {
  name: 'github',
  label: 'GitHub alerts (code scanning, Dependabot, secret scanning: lists of the REST API)',
  detection: 'a list with "number", "state" and "most_recent_instance", "security_advisory" or "secret_type"',
  detect: (beginning) =>
    /^\s*\[\s*\{/.test(beginning) &&
    /"number"\s*:/.test(beginning) &&
    /"most_recent_instance"|"security_advisory"|"secret_type"/.test(beginning),
  async *read(file, facts) {
    const all = await readJson(file);
    if (!Array.isArray(all)) throw unfit('file', 'is no list of alerts of GitHub');
    facts.tool = 'GitHub';
    const alerts = (all as unknown[]).map(obj);
    const [, repository = ''] = /\/repos\/([^/]+\/[^/]+)\//.exec(str(alerts[0]?.['url'])) ?? [];
    const kinds = new Set(alerts.map((one) => kindOfAlert(one) ?? ''));
    facts.subject = `${repository} ${[...kinds].toSorted().join(' ')}`.trim().toLowerCase();
    facts.looked = { by: 'tool', names: new Set(), isOfResults: true };
    if (alerts.length === 0) yield fault('the list is empty: nothing shows that something was looked at');
    if (pageSizes.has(alerts.length))
      yield fault(`the list has ${alerts.length} alerts, as one page has: ask for all pages, of every state`);
    for (const [index, one] of alerts.entries()) {
      const kind = kindOfAlert(one);
      const state = str(one['state']);
      if (kind === null) yield unread('is no alert of a known kind', `/${index}`);
      else if (state === 'fixed') yield noFinding('is fixed', `/${index}`);
      else {
        const item = readers[kind](one, `/${index}`);
        if (!('dropped' in item) && item.tool !== undefined) facts.looked.names.add(item.tool);
        yield item;
      }
    }
  },
};

function trackItem(one: Json, place: string): Item {
  const [component, told] = [obj(one['component']), obj(one['vulnerability'])];
  const [name, id] = [str(component['name']), str(told['vulnId'])];
  if (name === '' || id === '') return unread('has no component or no vulnId', place);
  const group = str(component['group']);
  const aliases = list(told['aliases']).flatMap((alias) => Object.values(obj(alias)).map(str));
  const cvss = ['cvssV4', 'cvssV3', 'cvssV2']
    .map((version) => readCvss(str(told[`${version}Vector`]) || null, num(told[`${version}BaseScore`])))
    .find((found) => found !== null);
  const cwes = list(told['cwes']).map((each) => str(obj(each)['cweId']));
  const purl = str(component['purl']);
  const state = str(at(one, 'analysis', 'state'));
  return record({
    title: str(told['title']) || `${id} in ${name}`,
    description: [str(told['subtitle']), str(told['description'])].filter(Boolean).join('\n\n'),
    ...readSeverity(told['severity'], { score: cvss?.score ?? null }),
    cwes: cwesOf([...cwes, told['cweId']], true),
    vulnIds: [id, ...vulnIdsOf(aliases)],
    cvss: cvss ?? null,
    source: 'sca',
    ruleId: id,
    location: {
      kind: 'package',
      name: group === '' ? name : `${group}/${name}`,
      version: str(component['version']),
      ...(purl.startsWith('pkg:') ? { purl } : {}),
    },
    fix: { state: 'unknown', text: str(told['recommendation']) },
    quality: 0.8,
    suppressed:
      at(one, 'analysis', 'isSuppressed') === true || /^(?:not_affected|false_positive|resolved)$/i.test(state),
    extra: { analysis: state, latest: str(component['latestVersion']) },
  });
}

export const dependencyTrack: Format = {
  name: 'dependency-track',
  label: 'Dependency-Track (findings of a project, FPF)',
  detection: '"meta" with "application": "Dependency-Track", and "findings"',
  detect: (beginning) => /^\s*\{/.test(beginning) && /"application"\s*:\s*"Dependency-Track"/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['findings'])) throw unfit('file', 'is no list of findings of Dependency-Track');
    facts.tool = 'Dependency-Track';
    facts.version = str(at(report, 'meta', 'version'));
    facts.scannedAt = moment(at(report, 'meta', 'timestamp'));
    facts.subject = str(at(report, 'project', 'name')).toLowerCase();
    const all = list(report['findings']);
    // components stand in the bill alone
    if (all.length === 0) yield fault('the list has no finding: nothing shows that the project has a component');
    for (const [index, one] of all.entries()) yield trackItem(obj(one), `/findings/${index}`);
  },
};
