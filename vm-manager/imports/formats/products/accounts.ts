// Findings about accounts of clouds: Prowler (OCSF), Microsoft Defender for Cloud, Google Security Command Center.
import { readCvss } from '../../../findings/cvss.js';
import type { Source } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, list, moment, num, obj, plainText, str, texts, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readHead, readRows } from '../../reading/csv.js';
import { readBeginning, readJson } from '../../reading/report-file.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

function prowlerItem(one: Json, place: string): Item {
  const info = obj(one['finding_info'] ?? one['finding']);
  const [resource] = list(one['resources']).map(obj);
  const [title, rule] = [str(info['title']), str(at(one, 'metadata', 'event_code'))];
  const address = str(resource?.['uid']) || str(resource?.['name']);
  const account = str(at(one, 'cloud', 'account', 'uid'));
  if (title === '' || rule === '' || (address === '' && account === ''))
    return unread('has no title, event_code or resource', place);
  const code = str(one['status_code']);
  // MANUAL: nobody has looked
  if (/^(?:pass|manual)$/i.test(code)) return noFinding(`is ${code.toUpperCase()}`, `${rule} ${address}`.slice(0, 200));
  const isCluster = /kubernetes/i.test(str(at(one, 'cloud', 'provider')) || str(at(one, 'unmapped', 'provider')));
  return record({
    title,
    description: [info['desc'], one['status_detail'], one['risk_details']].map(str).filter(Boolean).join('\n\n'),
    ...readSeverity(one['severity']),
    source: isCluster ? 'k8s' : 'cspm',
    ruleId: rule,
    nativeId: str(info['uid']) || null,
    location: { kind: 'resource', address: address || account },
    fix: { state: 'unknown', text: str(at(one, 'remediation', 'desc')) },
    references: [str(at(one, 'unmapped', 'related_url')), ...texts(at(one, 'remediation', 'references'))],
    tags: texts(at(one, 'unmapped', 'categories')),
    quality: 0.8,
    suppressed: /^suppressed$/i.test(str(one['status'])),
    extra: { account, region: str(resource?.['region']), service: str(at(resource, 'group', 'name')) },
  });
}

export const prowlerOcsf: Format = {
  name: 'prowler-ocsf',
  label: 'Prowler JSON-OCSF',
  detection: 'a list with "finding_info" and "event_code"',
  detect: (beginning) =>
    /^\s*\[\s*\{/.test(beginning) && beginning.includes('"event_code"') && /"finding_info"/.test(beginning),
  async *read(file, facts) {
    const all = await readJson(file);
    if (!Array.isArray(all)) throw unfit('file', 'is no list of findings of Prowler');
    facts.tool = 'Prowler';
    facts.version = str(at(all, 0, 'metadata', 'product', 'version'));
    facts.subject = str(at(all, 0, 'cloud', 'account', 'uid'));
    if (all.length === 0) yield fault('the list is empty: nothing shows that an account was looked at');
    const accounts = new Set((all as unknown[]).map((one) => str(at(one, 'cloud', 'account', 'uid'))));
    if (accounts.size > 1) facts.subject = '';
    for (const [index, one] of (all as unknown[]).entries()) yield prowlerItem(obj(one), `/${index}`);
  },
};

/** One assessment, in whatever form: of the service, of its command line, and of the table of the portal. */
interface Assessment {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly reason: string;
  readonly severity: unknown;
  readonly address: string;
  readonly description: string;
  readonly fix: string;
  readonly link: string;
  readonly tags: readonly string[];
}

function assessed(one: Assessment, place: string): Item {
  const { id, title, state, address } = one;
  if (title === '' || address === '' || state === '') return unread('has no name, resource or state', place);
  if (!/^unhealthy$/i.test(state)) {
    // an odd word may be a finding
    return /^(?:healthy|not\s?applicable)$/i.test(state)
      ? noFinding(`is ${state}`, `${title} ${address}`.slice(0, 200))
      : unread(`has the state ${state.slice(0, 40)}, which is no known one`, place);
  }
  return record({
    title,
    description: [plainText(one.description), one.reason].filter(Boolean).join('\n\n'),
    ...readSeverity(one.severity),
    vulnIds: vulnIdsOf([title]),
    source: 'cspm',
    ruleId: id || title,
    location: { kind: 'resource', address: address.toLowerCase() },
    fix: { state: 'unknown', text: plainText(one.fix) },
    references: [one.link],
    tags: one.tags,
    quality: 0.8,
  });
}

/** The service writes it below `properties`, its command line beside the rest. */
function azureOf(one: Json): Assessment {
  const told = one['properties'] === undefined ? one : obj(one['properties']);
  const [meta, where, status] = [obj(told['metadata']), obj(told['resourceDetails']), obj(told['status'])];
  const id = str(one['id']);
  return {
    id: str(one['name']),
    title: str(told['displayName']) || str(meta['displayName']),
    state: str(status['code']),
    reason: [status['cause'], status['description']].map(str).filter(Boolean).join(': '),
    severity: at(told, 'metadata', 'severity') ?? status['severity'],
    address: str(where['Id']) || str(where['id']) || id.replace(/\/providers\/Microsoft\.Security\/.*$/i, ''),
    description: str(meta['description']),
    fix: str(meta['remediationDescription']),
    link: str(at(told, 'links', 'azurePortal')).replace(/^(?!https?:)(?=.)/, 'https://'),
    tags: texts(meta['categories']),
  };
}

export const azureDefender: Format = {
  name: 'azure-defender',
  label: 'Microsoft Defender for Cloud (assessments as JSON)',
  detection: '"Microsoft.Security/assessments" with "displayName" and "status"',
  detect: (beginning) =>
    /^\s*[[{]/.test(beginning) &&
    /"Microsoft\.Security\/assessments"/i.test(beginning) &&
    beginning.includes('"status"'),
  async *read(file, facts) {
    const report = await readJson(file);
    const all = Array.isArray(report) ? (report as unknown[]) : at(report, 'value');
    if (!Array.isArray(all)) throw unfit('file', 'is no list of assessments of Defender for Cloud');
    facts.tool = 'Microsoft Defender for Cloud';
    const [, subscription = ''] = /\/subscriptions\/([^/]+)/i.exec(str(at(all, 0, 'id'))) ?? [];
    facts.subject = subscription.toLowerCase();
    if (str(at(report, 'nextLink')) !== '') yield fault('the list goes on (nextLink): send all pages as one');
    if (all.length === 0) yield fault('the list is empty: nothing shows that a subscription was looked at');
    for (const [index, one] of (all as unknown[]).entries()) yield assessed(azureOf(obj(one)), `/value/${index}`);
  },
};

const azureColumns = ['recommendationid', 'resourceid', 'severity', 'state'];

export const azureCsv: Format = {
  name: 'azure-defender-csv',
  label: 'Microsoft Defender for Cloud (recommendations as CSV)',
  detection: 'a head line with recommendationId, resourceId, severity and state',
  detect: (beginning) => {
    const { columns } = readHead(beginning);
    return azureColumns.every((name) => columns.includes(name));
  },
  async *read(file, facts) {
    const { columns } = readHead(await readBeginning(file));
    const missing = azureColumns.find((name) => !columns.includes(name));
    if (missing !== undefined) throw unfit('file', `has no column ${missing} in its head line`);
    facts.tool = 'Microsoft Defender for Cloud';
    let isEmpty = true;
    for await (const [number, row] of readRows(file)) {
      isEmpty = false;
      const cell = (name: string): string => (row[name] ?? '').trim();
      yield assessed(
        {
          id: cell('recommendationname') || cell('recommendationid').split('/').at(-1) || '',
          title: cell('recommendationdisplayname') || cell('recommendationname'),
          ...{ state: cell('state'), reason: cell('notapplicablereason'), severity: cell('severity') },
          address: cell('resourceid') || cell('resourcename'),
          ...{ description: cell('description'), fix: cell('remediationsteps') },
          link: cell('azureportalrecommendationlink'),
          tags: cell('controls')
            .split(/[,;]/)
            .map((text) => text.trim())
            .filter(Boolean),
        },
        `line ${number}`,
      );
    }
    if (isEmpty) yield fault('the table has no row: nothing shows that a subscription was looked at');
  },
};

function sccItem(given: Json, place: string): Item {
  // the list has the resource beside it, a notification and older lists have the finding alone
  const one = given['finding'] === undefined ? given : obj(given['finding']);
  const [category, name] = [str(one['category']), str(one['canonicalName']) || str(one['name'])];
  const address = str(one['resourceName']) || str(at(given, 'resource', 'name'));
  if (category === '' || address === '') return unread('has no category or no resourceName', place);
  const state = str(one['state']);
  if (/^inactive$/i.test(state)) return noFinding('is inactive', `${category} ${address}`.slice(0, 200));
  const told = obj(one['vulnerability']);
  const cve = obj(told['cve']);
  const score = num(at(cve, 'cvssv3', 'baseScore'));
  const package_ = obj(told['offendingPackage']);
  const [packageName, fixed] = [str(package_['packageName']), str(at(told, 'fixedPackage', 'packageVersion'))];
  const shown = category.replace(/_/g, ' ').toLowerCase();
  const isImage = /containerregistry|artifactregistry|image/i.test(address);
  const source: Source = packageName === '' ? 'cspm' : isImage ? 'container' : 'sca';
  const vulnIds = vulnIdsOf([cve['id'], category]);
  return record({
    title: packageName === '' ? shown.replace(/^./, (letter) => letter.toUpperCase()) : `${category} in ${packageName}`,
    description: str(one['description']) || str(at(one, 'sourceProperties', 'Explanation')),
    ...readSeverity(/unspecified$/i.test(str(one['severity'])) ? 'unspecified' : one['severity'], { score }),
    vulnIds,
    cvss: readCvss(null, score),
    source,
    ruleId: packageName === '' ? category : (vulnIds[0] ?? category),
    nativeId: name || null,
    location:
      packageName === ''
        ? { kind: 'resource', address }
        : { kind: 'package', name: packageName, version: str(package_['packageVersion']), path: address },
    fix: {
      state: fixed === '' ? 'unknown' : 'fixed_available',
      ...(fixed === '' ? {} : { version: fixed }),
      text: str(one['nextSteps']) || str(at(one, 'sourceProperties', 'Recommendation')),
    },
    references: [str(one['externalUri']), ...list(cve['references']).map((link) => str(obj(link)['uri']))],
    quality: 0.8,
    suppressed: /^muted$/i.test(str(one['mute'])),
    extra: { class: str(one['findingClass']), seen: moment(one['eventTime'])?.toISOString().slice(0, 10) ?? '' },
  });
}

export const securityCommandCenter: Format = {
  name: 'gcp-scc',
  label: 'Google Security Command Center JSON',
  detection: 'a list with "finding", "category" and "resourceName", or "listFindingsResults"',
  detect: (beginning) =>
    /^\s*[[{]/.test(beginning) &&
    (beginning.includes('"listFindingsResults"') ||
      (beginning.includes('"resourceName"') &&
        beginning.includes('"category"') &&
        /"(?:find|mute|parent)/.test(beginning))),
  async *read(file, facts) {
    const report = await readJson(file);
    const all = Array.isArray(report)
      ? (report as unknown[])
      : (at(report, 'listFindingsResults') ?? at(report, 'findings'));
    if (!Array.isArray(all)) throw unfit('file', 'is no list of findings of Security Command Center');
    facts.tool = 'Google Security Command Center';
    if (str(at(report, 'nextPageToken')) !== '') yield fault('the list goes on (nextPageToken): send all pages as one');
    if (all.length === 0) yield fault('the list is empty: nothing shows that a project was looked at');
    for (const [index, one] of (all as unknown[]).entries()) yield sccItem(obj(one), `/${index}`);
  },
};
