// Reports about code and configuration: Semgrep, Gitleaks, Checkov, kube-bench.
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
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
import { fault, noFinding, record, unread, type Dropped, type Item } from '../record.js';
import { readJson } from '../reading/report-file.js';
import { redacted, severityOfSecret } from '../kinds/secrets.js';
import { basesOf, placeOf, type Place } from '../roots/scanned.js';
import { frameworkNamed } from '../run/looked-at.js';
import { gravest, readSeverity, type SeverityReading } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import type { Format } from './format.js';

const line = (value: unknown) => (pos(value) === undefined ? {} : { line: pos(value) as number });
const hidden = (text: string): string => (text === 'requires login' ? '' : text);

function semgrepRecord(one: Json): Item {
  const extra = obj(one['extra']);
  const metadata = obj(extra['metadata']);
  const sca = obj(extra['sca_info']);
  const dependency = obj(at(sca, 'dependency_match', 'found_dependency'));
  const isSca = str(dependency['package']) !== '';
  const ruleId = str(one['check_id']);
  const snippet = hidden(str(extra['lines']));
  return record({
    title:
      str(metadata['shortlink']) === ''
        ? (ruleId.split('.').at(-1) ?? ruleId).replace(/-/g, ' ')
        : (ruleId.split('.').at(-1) ?? ruleId),
    description: str(extra['message']),
    ...severityOfSemgrep(extra['severity'], metadata['sca-severity']),
    cwes: cwesOf(texts(metadata['cwe'])),
    vulnIds: vulnIdsOf([...texts(metadata['sca-vuln-database-identifier']), ruleId]),
    source: isSca ? 'sca' : 'sast',
    ruleId,
    nativeId: hidden(str(extra['fingerprint'])) || null,
    location: isSca
      ? {
          kind: 'package',
          name: str(dependency['package']),
          version: str(dependency['version']),
          path: reportPath(dependency['lockfile_path']) || reportPath(one['path']),
        }
      : {
          kind: 'code',
          path: reportPath(one['path']),
          ...line(at(one, 'start', 'line')),
          ...(snippet === '' ? {} : { snippet }),
        },
    fix: { state: str(extra['fix']) === '' ? 'unknown' : 'fixed_available', text: str(extra['fix']) },
    references: texts(metadata['references']),
    tags: texts(metadata['owasp']).map((tag) => tag.slice(0, 60)),
    reachable: typeof sca['reachable'] === 'boolean' ? sca['reachable'] : null,
    quality: { HIGH: 0.85, MEDIUM: 0.7, LOW: 0.6 }[str(metadata['confidence'])] ?? 0.7,
    suppressed: extra['is_ignored'] === true,
  });
}

/** Of a dependency the rule has the severity of its advisory beside its own: the graver one counts. */
function severityOfSemgrep(own: unknown, ofAdvisory: unknown): SeverityReading {
  const read = readSeverity(own, { scale: toolScales.semgrep });
  const told = readSeverity(ofAdvisory, { ifAbsent: 'info' });
  return told.severityProblem === undefined ? { ...read, severity: gravest(told.severity, read.severity) } : read;
}

/** Reasons for which a file was meant to be looked at and was not; others say that nobody has asked for it. */
const notAnalysed = /^(?:analysis_failed|exceeded_size_limit|too_many_matches|insufficient_permissions|unreadable)/;
/** The rule is for another version of the tool: its maker says where it applies. */
const isOfOtherVersion = (type: unknown): boolean => /^Incompatible ?Rule/i.test(str(list(type)[0]) || str(type));
/** The same of a rule that it left out. */
const isForOtherVersion = (details: string): boolean =>
  /^Incompatible ?Rule|\bupgrading Semgrep\b|\bno longer supported by Semgrep\b/i.test(details);
/** Of them, that there are some is enough. */
const faultsMax = 200;

/** Files and parts of files that were not looked at; errors of a lower level than `error` are such, too. */
function semgrepFaults(report: Json): readonly Dropped[] {
  const found: Dropped[] = [];
  const scanned: unknown = at(report, 'paths', 'scanned');
  if (Array.isArray(scanned) && scanned.length === 0) found.push(fault('no file was scanned (paths.scanned is empty)'));
  // releases that list no files show by their results that they have read some
  else if (!Array.isArray(scanned) && list(report['results']).length === 0)
    found.push(fault('nothing shows that a file was scanned (paths.scanned is missing)'));
  for (const one of list(at(report, 'paths', 'skipped')).map(obj))
    if (notAnalysed.test(str(one['reason']))) found.push(fault(`${str(one['path'])}: ${str(one['reason'])}`));
  for (const one of list(report['skipped_rules']).map(obj))
    if (!isForOtherVersion(str(one['details'])))
      found.push(fault(`${str(one['rule_id'])}: the rule was not run: ${str(one['details'])}`));
  for (const one of list(report['errors']).map(obj)) {
    if (/^(?:info|debug)$/i.test(str(one['level'])) || isOfOtherVersion(one['type'])) continue;
    const type = str(list(one['type'])[0]) || str(one['type']);
    found.push(fault([str(one['path']), type, str(one['message'])].filter(Boolean).join(': ') || 'an error'));
  }
  return found.slice(0, faultsMax);
}

export const semgrep: Format = {
  name: 'semgrep',
  label: 'Semgrep JSON',
  detection: '"results" with "check_id"',
  detect: (beginning) =>
    beginning.includes('"results"') &&
    !beginning.includes('"check_type"') &&
    // one that has found nothing names what it has looked at
    (beginning.includes('"check_id"') || (beginning.includes('"scanned"') && beginning.includes('"errors"'))),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['results'])) throw unfit('file', 'is no report of Semgrep');
    facts.tool = 'Semgrep';
    facts.version = str(report['version']);
    facts.complete = list(report['errors']).every((error) => str(obj(error)['level']) !== 'error');
    yield semgrepFaults(report);
    const scanned = texts(at(report, 'paths', 'scanned')).map(reportPath);
    facts.inventory = scanned.length > 0 ? new Set(scanned) : null;
    for (const [index, value] of list(report['results']).entries()) {
      const one = obj(value);
      yield str(one['check_id']) === '' ? unread('has no check_id', `/results/${index}`) : semgrepRecord(one);
    }
  },
};

export const gitleaks: Format = {
  name: 'gitleaks',
  label: 'Gitleaks JSON',
  detection: 'a list with "RuleID" and "Secret"',
  detect: (beginning) => /^\s*\[/.test(beginning) && beginning.includes('"RuleID"') && beginning.includes('"Secret"'),
  async *read(file, facts) {
    const report = await readJson(file);
    if (!Array.isArray(report)) throw unfit('file', 'is no report of Gitleaks');
    facts.tool = 'Gitleaks';
    for (const [index, value] of (report as unknown[]).entries()) {
      const one = obj(value);
      const secret = str(one['Secret']);
      const rule = str(one['RuleID']);
      if (rule === '' || secret === '') {
        yield unread('has no RuleID or no Secret', `/${index}`);
        continue;
      }
      const path = reportPath(one['File']) || reportPath(one['SymlinkFile']);
      const match = str(one['Match']) || str(one['Context']);
      // with --redact every secret is the same word: the file and what is around it tell them apart
      const isRedacted = redacted.test(secret);
      yield record({
        title: str(one['Description']) || rule,
        // never the secret itself: its hash finds it again, the mask is for people
        description: masked(match, secret),
        ...(isRedacted ? { placed: match } : { secrets: [secret] }),
        severity: severityOfSecret(`${rule} ${str(one['Description'])}`),
        cwes: [798],
        source: 'secret',
        ruleId: rule,
        location: {
          ...{ kind: 'secret', path, ...line(one['StartLine']) },
          hash: secretHash(isRedacted ? `${rule}|${path}|${match}` : secret),
        },
        tags: texts(one['Tags']),
        evidence: [{ commit: str(one['Commit']), path, date: str(one['Date']) }],
        extra: { entropy: num(one['Entropy']) },
      });
    }
  },
};

export const checkov: Format = {
  name: 'checkov',
  label: 'Checkov JSON',
  detection: '"check_type" and "failed_checks"',
  detect: (beginning) =>
    (beginning.includes('"check_type"') &&
      (beginning.includes('"failed_checks"') || beginning.includes('"passed_checks"'))) ||
    (/^\s*\{\s*"passed"/.test(beginning) && beginning.includes('"checkov_version"')),
  async *read(file, facts) {
    const report = await readJson(file);
    facts.tool = 'Checkov';
    const parts = Array.isArray(report) ? (report as unknown[]) : [report];
    if (isEmptyHanded(report) || (parts.length > 0 && parts.every(isOfNothing))) {
      facts.version = str(at(report, 'checkov_version')) || str(at(parts[0], 'summary', 'checkov_version'));
      // there was nothing that it knows, which is no scan by itself, or nothing that it could read
      const isUnread = parts.some((part) => errorsIn(part) > 0);
      [facts.complete, facts.isPartial, facts.isNoScan] = [false, !isUnread, !isUnread];
      return;
    }
    if (!parts.some((part) => obj(obj(part)['results'])['failed_checks'] !== undefined))
      throw unfit('file', 'is no report of Checkov');
    facts.looked = {
      by: 'framework',
      names: new Set(parts.map((part) => frameworkNamed(str(obj(part)['check_type'])))),
    };
    const failed = parts.flatMap((part) => [
      ...list(at(part, 'results', 'failed_checks')),
      ...list(at(part, 'results', 'skipped_checks')),
    ]);
    facts.roots = basesOf(failed.map((one) => checkovPlace(obj(one))));
    for (const part of parts.map(obj)) {
      facts.version = str(at(part, 'summary', 'checkov_version'));
      if (list(at(part, 'results', 'parsing_errors')).length > 0) facts.complete = false;
      const [counted, listed] = [num(at(part, 'summary', 'failed')), list(at(part, 'results', 'failed_checks')).length];
      if (counted !== null && counted > listed)
        yield fault(`${str(part['check_type'])}: summary.failed is ${counted}, and ${listed} failed_checks are listed`);
      if ((num(at(part, 'summary', 'parsing_errors')) ?? 0) > 0)
        yield fault(`${str(part['check_type'])}: files could not be parsed (summary.parsing_errors)`);
      for (const one of list(at(part, 'results', 'failed_checks')))
        yield checkovRecord(obj(one), str(part['check_type']), false);
      for (const one of list(at(part, 'results', 'skipped_checks')))
        yield checkovRecord(obj(one), str(part['check_type']), true);
    }
  },
};

/** What it writes where it found no file of its kinds: counts and no results. */
const isEmptyHanded = (report: unknown): boolean =>
  at(report, 'checkov_version') !== undefined && at(report, 'resource_count') === 0 && at(report, 'failed') === 0;

const errorsIn = (part: unknown): number =>
  Math.max(
    num(at(part, 'parsing_errors')) ?? 0,
    num(at(part, 'summary', 'parsing_errors')) ?? 0,
    list(at(part, 'results', 'parsing_errors')).length,
  );

/** A part of a kind of files of which there was none. */
const isOfNothing = (part: unknown): boolean =>
  at(part, 'summary', 'resource_count') === 0 &&
  ['passed', 'failed', 'skipped'].every((name) => (num(at(part, 'summary', name)) ?? 0) === 0) &&
  ['passed_checks', 'failed_checks', 'skipped_checks'].every((name) => list(at(part, 'results', name)).length === 0);

/**
 * `repo_file_path` is what leads from the working directory to the file: it is the path in the repository where Checkov
 * ran in one. In its image it runs in `/`, and from elsewhere the path leads out of the working directory.
 */
function checkovPlace(one: Json): Place {
  const ran = str(one['repo_file_path']);
  const isOutside = ran === '' || /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(ran);
  const scanned = reportPath(one['file_path']);
  const place = placeOf({
    absolute: reportPath(one['file_abs_path']),
    scanned,
    ran: isOutside ? null : reportPath(ran),
  });
  return place ?? { path: cleanPath(isOutside ? scanned : ran), base: null };
}

function checkovRecord(one: Json, type: string, suppressed: boolean): Item {
  const { path } = checkovPlace(one);
  const details = obj(one['vulnerability_details']);
  const id = str(details['id']);
  const ruleId = str(one['check_id']) || str(one['bc_check_id']);
  const snippet = list(one['code_block'])
    .map((row) => str(list(row)[1]))
    .join('');
  const address = str(one['resource_address']) || str(one['resource']);
  return record({
    title: str(one['check_name']) || ruleId,
    description: [str(details['description']), snippet].filter(Boolean).join('\n\n'),
    // without an account Checkov writes no severity
    ...readSeverity(one['severity'] ?? details['severity'], { ifAbsent: 'medium', score: num(details['cvss']) }),
    vulnIds: id === '' ? [] : [id],
    cvss: readCvss(str(details['vector']) || null, num(details['cvss'])),
    source:
      id !== '' ? 'sca' : type === 'secrets' ? 'secret' : type === 'kubernetes' || type === 'helm' ? 'k8s' : 'iac',
    cwes: type === 'secrets' ? [798] : [],
    ruleId,
    location:
      id !== ''
        ? { kind: 'package', name: str(details['package_name']), version: str(details['package_version']), path }
        : type === 'secrets'
          ? { kind: 'secret', path, hash: secretHash(address), ...line(at(one, 'file_line_range', 0)) }
          : { kind: 'resource', address, path, ...line(at(one, 'file_line_range', 0)) },
    fix: {
      state: str(details['fix_version']) === '' ? 'unknown' : 'fixed_available',
      text: str(details['fix_version']),
    },
    references: texts(one['guideline']),
    suppressed,
  });
}

const apiServerAuth = /^1\.2\.|^4\.2\.[12]$|^5\.1\.|^5\.2\./;

export const kubeBench: Format = {
  name: 'kube-bench',
  label: 'kube-bench JSON',
  detection: '"Controls", or "node_type" with "tests"',
  detect: (beginning) => beginning.includes('"node_type"') && beginning.includes('"tests"'),
  async *read(file, facts) {
    const report = await readJson(file);
    facts.tool = 'kube-bench';
    const controls = Array.isArray(report)
      ? (report as unknown[])
      : Array.isArray(obj(report)['Controls'])
        ? list(obj(report)['Controls'])
        : [report];
    if (!controls.some((one) => Array.isArray(obj(one)['tests']))) throw unfit('file', 'is no report of kube-bench');
    facts.looked = { by: 'node', names: new Set(controls.map((one) => str(obj(one)['node_type']))) };
    yield kubeBenchFaults(report, controls.map(obj));
    for (const control of controls.map(obj))
      for (const group of list(control['tests']).map(obj))
        for (const one of list(group['results']).map(obj)) yield kubeBenchItem(one, control, group);
  },
};

/** Counts that are more than what is listed, or nothing that is. */
function kubeBenchFaults(report: unknown, controls: readonly Json[]): readonly Dropped[] {
  const results = controls.flatMap((one) =>
    list(one['tests']).flatMap((group) => list(obj(group)['results']).map(obj)),
  );
  if (results.length === 0) return [fault('no check was run: no group of tests has results')];
  const listed = results.filter((one) => str(one['status']) === 'FAIL').length;
  const ofControls = controls.reduce((sum, one) => sum + (num(one['total_fail']) ?? 0), 0);
  const counted = Math.max(num(at(report, 'Totals', 'total_fail')) ?? 0, ofControls);
  return counted > listed ? [fault(`total_fail is ${counted}, and ${listed} checks that failed are listed`)] : [];
}

function kubeBenchItem(one: Json, control: Json, group: Json): Item {
  const number = str(one['test_number']);
  const status = str(one['status']);
  const isManual = str(one['type']) === 'manual';
  if (status === 'PASS' || status === 'INFO' || (status === 'WARN' && isManual))
    return noFinding(`is ${status.toLowerCase()}`, number);
  if (number === '') return unread('has no test_number', str(group['section']));
  const isSoft = one['scored'] === false || status === 'WARN';
  return record({
    title: str(one['test_desc']) || number,
    description: [
      str(one['reason']),
      `expected: ${str(one['expected_result'])}`,
      `found: ${str(one['actual_value'])}`,
    ].join('\n'),
    severity: isSoft ? 'low' : apiServerAuth.test(number) ? 'high' : 'medium',
    cwes: /anonymous|authorization|auth/i.test(str(one['test_desc'])) ? [306] : [],
    source: 'k8s',
    ruleId: number,
    location: { kind: 'resource', address: `${str(control['node_type'])}/${number}` },
    fix: { state: 'fixed_available', text: str(one['remediation']) },
    extra: { section: str(group['section']), version: str(control['version']) },
  });
}
