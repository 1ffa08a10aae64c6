// Checks of infrastructure, clusters and clouds: KICS, tfsec, kube-hunter, AWS Security Hub (ASFF, also of Prowler).
import { readCvss } from '../../../findings/cvss.js';
import type { Source } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, moment, num, obj, pos, reportPath, str, texts, vulnIdsOf } from '../../normalize.js';
import type { Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

const lineOf = (value: unknown): { line?: number } => {
  const line = pos(value);
  return line === undefined ? {} : { line };
};

function* kicsQuery(query: Json, place: string): Generator<Item> {
  const [id, name, platform] = [query['query_id'], query['query_name'], query['platform']].map(str);
  for (const [index, one] of list(query['files']).map(obj).entries()) {
    const path = reportPath(one['file_name']);
    if (id === undefined || id === '' || path === '') {
      yield unread('has no query_id or no file_name', `${place}/files/${index}`);
      continue;
    }
    const resource = [one['resource_type'], one['resource_name']].map(str).filter(Boolean).join('.');
    yield record({
      title: name || id,
      description: str(query['description']),
      // TRACE is what KICS counts resources by
      ...readSeverity(query['severity'], { scale: { trace: 'info' } }),
      cwes: cwesOf([query['cwe']], true),
      source: /kubernetes/i.test(platform ?? '') ? 'k8s' : 'iac',
      ruleId: id,
      nativeId: str(one['similarity_id']) || null,
      location: {
        kind: 'resource',
        address: resource || str(one['search_key']) || path,
        path,
        ...lineOf(one['line']),
      },
      fix: { state: 'unknown', text: str(one['expected_value']) },
      references: texts(query['query_url']),
      evidence: [{ expected: str(one['expected_value']), actual: str(one['actual_value']) }],
      quality: 0.8,
    });
  }
}

export const kics: Format = {
  name: 'kics',
  label: 'KICS JSON',
  detection: '"kics_version" and "queries"',
  detect: (beginning) => /^\s*\{/.test(beginning) && beginning.includes('"kics_version"'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['queries'])) throw unfit('file', 'is no report of KICS');
    facts.tool = 'KICS';
    facts.version = str(report['kics_version']);
    facts.scannedAt = moment(report['end']);
    if (num(report['files_scanned']) === 0) yield fault('no file was looked at (files_scanned is 0)');
    for (const [name, what] of [
      ['files_failed_to_scan', 'files'],
      ['queries_failed_to_execute', 'queries'],
    ] as const)
      if ((num(report[name]) ?? 0) > 0) yield fault(`${str(report[name])} ${what} failed (${name})`);
    for (const [index, query] of list(report['queries']).entries()) yield* kicsQuery(obj(query), `/queries/${index}`);
  },
};

function tfsecItem(one: Json, place: string): Item {
  const id = str(one['long_id']) || str(one['rule_id']);
  const path = reportPath(at(one, 'location', 'filename'));
  if (id === '' || path === '') return unread('has no rule or no file', place);
  // 0 failed, 1 passed, 2 set aside
  if (num(one['status']) === 1) return noFinding('has passed', id);
  return record({
    title: str(one['rule_description']) || str(one['description']) || id,
    description: [one['description'], one['impact']].map(str).filter(Boolean).join('\n\n'),
    ...readSeverity(one['severity']),
    source: 'iac',
    ruleId: str(one['rule_id']) || id,
    location: {
      kind: 'resource',
      address: str(one['resource']) || path,
      path,
      ...lineOf(at(one, 'location', 'start_line')),
    },
    fix: { state: 'unknown', text: str(one['resolution']) },
    references: texts(one['links']),
    quality: 0.8,
    suppressed: num(one['status']) === 2,
    extra: { long_id: id },
  });
}

export const tfsec: Format = {
  name: 'tfsec',
  label: 'tfsec JSON',
  detection: '"results" with "rule_provider" and "long_id"',
  detect: (beginning) =>
    /^\s*\{\s*"results"\s*:/.test(beginning) &&
    (/"long_id"|"rule_provider"/.test(beginning) || /^\s*\{\s*"results"\s*:\s*null\s*\}\s*$/.test(beginning)),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['results'] === undefined) throw unfit('file', 'is no report of tfsec');
    facts.tool = 'tfsec';
    const all = list(report['results']);
    // the same whether a directory has no Terraform or no fault in it
    if (all.length === 0)
      yield fault('the report has no result: nothing shows that a file was looked at (--include-passed does)');
    for (const [index, one] of all.entries()) yield tfsecItem(obj(one), `/results/${index}`);
  },
};

/** A pod that it runs in has another name in each run. */
const hunterPlace = (location: string): string => location.replace(/^(local to pod)\b.*$/is, '$1') || 'cluster';

export const kubeHunter: Format = {
  name: 'kube-hunter',
  label: 'kube-hunter JSON',
  detection: '"nodes", "services" and "vulnerabilities" with "vid"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    ['nodes', 'services', 'vulnerabilities'].every((name) => beginning.includes(`"${name}"`)) &&
    /"vid"|"hunter_statistics"|"kburl"/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['vulnerabilities'])) throw unfit('file', 'is no report of kube-hunter');
    facts.tool = 'kube-hunter';
    if (list(report['nodes']).length === 0) yield fault('no node was found: nothing was looked at');
    for (const [index, one] of list(report['vulnerabilities']).map(obj).entries()) {
      const [vid, title] = [str(one['vid']), str(one['vulnerability'])];
      if (title === '') {
        yield unread('has no name', `/vulnerabilities/${index}`);
        continue;
      }
      yield record({
        title,
        description: str(one['description']),
        ...readSeverity(one['severity']),
        cwes: cwesOf([one['description']]),
        vulnIds: vulnIdsOf([title, one['description']]),
        source: 'k8s',
        ruleId: vid === '' || vid === 'None' ? title : vid,
        location: { kind: 'resource', address: hunterPlace(str(one['location'])) },
        references: texts(one['avd_reference']),
        evidence: str(one['evidence']) === '' ? [] : [{ evidence: str(one['evidence']).slice(0, 4000) }],
        quality: 0.8,
        extra: { category: str(one['category']), hunter: str(one['hunter']) },
      });
    }
  },
};

/** Where a finding of Security Hub is about a package of a machine or an image, that package. */
function packageOf(one: Json): { name: string; version: string; fixed: string } | null {
  const [first] = list(one['Vulnerabilities']).flatMap((found) => list(obj(found)['VulnerablePackages']).map(obj));
  const name = str(first?.['Name']);
  return name === ''
    ? null
    : { name, version: str(first?.['Version']), fixed: str(first?.['FixedInVersion']).replace(/^NotAvailable$/i, '') };
}

/** Whether it still stands; null: it does. */
function settledOf(one: Json): string | null {
  if (/^archived$/i.test(str(one['RecordState']))) return 'is archived';
  if (/^resolved$/i.test(str(at(one, 'Workflow', 'Status')))) return 'is resolved';
  const status = str(at(one, 'Compliance', 'Status'));
  return /^(?:passed|not_available)$/i.test(status) ? `is ${status.toLowerCase()}` : null;
}

/** `Normalized` is from 0 to 100, and all that findings from before `Label` have; its bands are those of AWS. */
function asffSeverity(given: Json): unknown {
  const normalized = num(given['Normalized']);
  if (str(given['Label']) !== '' || normalized === null) return given['Label'] ?? given['Original'];
  if (normalized >= 90) return 'critical';
  return normalized >= 70 ? 'high' : normalized >= 40 ? 'medium' : normalized >= 1 ? 'low' : 'info';
}

function asffItem(one: Json, place: string): Item {
  const [id, title] = [str(one['Id']), str(one['Title'])];
  const [resource] = list(one['Resources']).map(obj);
  const address = str(resource?.['Id']);
  if (id === '' || title === '' || address === '') return unread('has no Id, Title or resource', place);
  const settled = settledOf(one);
  if (settled !== null) return noFinding(settled, `${place} ${title}`.slice(0, 200));
  const vulnerabilities = list(one['Vulnerabilities']).map(obj);
  const scores = vulnerabilities.flatMap((found) => list(found['Cvss']).map(obj));
  const cvss =
    scores.map((each) => readCvss(str(each['BaseVector']) || null, num(each['BaseScore']))).find(Boolean) ?? null;
  const package_ = packageOf(one);
  const isImage = /Ecr|ContainerImage/i.test(str(resource?.['Type']));
  const source: Source = package_ === null ? 'cspm' : isImage ? 'container' : 'sca';
  const vulnIds = vulnIdsOf([...vulnerabilities.map((found) => found['Id']), title]);
  const rule = str(at(one, 'Compliance', 'SecurityControlId')) || str(one['GeneratorId']) || title;
  return record({
    title,
    description: str(one['Description']),
    ...readSeverity(asffSeverity(obj(one['Severity'])), { score: cvss?.score ?? null }),
    cwes: cwesOf(texts(one['Types'])),
    vulnIds,
    cvss,
    source,
    ruleId: package_ === null ? rule : (vulnIds[0] ?? rule),
    nativeId: id,
    location:
      package_ === null
        ? { kind: 'resource', address }
        : { kind: 'package', name: package_.name, version: package_.version, path: address },
    fix: {
      state: package_ !== null && package_.fixed !== '' ? 'fixed_available' : 'unknown',
      ...(package_ !== null && package_.fixed !== '' ? { version: package_.fixed } : {}),
      text: str(at(one, 'Remediation', 'Recommendation', 'Text')),
    },
    references: texts(at(one, 'Remediation', 'Recommendation', 'Url')),
    quality: 0.8,
    suppressed: /^suppressed$/i.test(str(at(one, 'Workflow', 'Status'))),
    extra: { account: str(one['AwsAccountId']), region: str(one['Region']) || str(resource?.['Region']) },
  });
}

export const asff: Format = {
  name: 'asff',
  label: 'AWS Security Hub (ASFF), also of Prowler',
  detection: '"SchemaVersion": "2018-10-08" and "ProductArn"',
  detect: (beginning) =>
    /^\s*[[{]/.test(beginning) && beginning.includes('"ProductArn"') && /"2018-10-08"/.test(beginning),
  async *read(file, facts) {
    const report = await readJson(file);
    const all = Array.isArray(report) ? (report as unknown[]) : at(report, 'Findings');
    if (!Array.isArray(all)) throw unfit('file', 'is no list of findings in ASFF');
    const product = str(at(all, 0, 'ProductName'));
    facts.tool = product === '' ? 'AWS Security Hub' : product;
    // a page of a list: what is on the next one is not here
    if (str(at(report, 'NextToken')) !== '') yield fault('the list goes on (NextToken): send all pages as one');
    if (all.length === 0) yield fault('the report has no finding: nothing shows that an account was looked at');
    for (const [index, one] of (all as unknown[]).entries()) yield asffItem(obj(one), `/Findings/${index}`);
  },
};
