// Qualys: scans of hosts (XML of a scan, report of assets, CSV of a report) and of web applications (WAS).
import { readCvss } from '../../../findings/cvss.js';
import type { Severity } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, num, plainText, vulnIdsOf } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readHead, readRows } from '../../reading/csv.js';
import { readBeginning, type ReportFile } from '../../reading/report-file.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { hostOf, siteOf } from '../../run/looked-at.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

/** Qualys's levels: 5 urgent, 4 critical, 3 serious, 2 medium, 1 minimal. */
const scale = { '5': 'critical', '4': 'high', '3': 'medium', '2': 'low', '1': 'low' } as const;
const info: { readonly severity: Severity } = { severity: 'info' };

const urlOf = (host: string, port: string, protocol: string): string =>
  `${protocol || 'tcp'}://${host.includes(':') ? `[${host}]` : host}${/^[1-9]\d*$/.test(port) ? `:${port}` : ''}`;
const within = (element: Element | undefined, ...names: readonly string[]): Element | undefined =>
  names.reduce<Element | undefined>((here, name) => childrenOf(here, name)[0], element);
const cvesOf = (element: Element | undefined): string[] =>
  childrenOf(within(element, 'CVE_ID_LIST'), 'CVE_ID').map((one) => childText(one, 'ID') || one.text.trim());

/** What is told of a check, wherever the report has it. */
interface Check {
  readonly qid: string;
  readonly title: string;
  readonly level: string;
  readonly texts: readonly string[];
  readonly solution: string;
  readonly ids: readonly string[];
  readonly score: number | null;
}
interface Seen {
  readonly host: string;
  readonly port: string;
  readonly protocol: string;
  readonly result: string;
  /** `Vuln`, `Practice` (potential) or `Ig` (information). */
  readonly type: string;
  readonly isSetAside?: boolean;
}

function hostRecord(check: Check, seen: Seen): Item {
  const { qid, title, level } = check;
  if (qid === '' || title === '' || seen.host === '') return unread('has no QID, title or host', seen.host || qid);
  return record({
    title,
    description: check.texts.map(plainText).filter(Boolean).join('\n\n'),
    ...(/^ig$/i.test(seen.type) ? info : readSeverity(level, { scale, score: check.score })),
    vulnIds: vulnIdsOf(check.ids),
    cwes: cwesOf(check.texts),
    cvss: readCvss(null, check.score),
    source: 'dast',
    ruleId: `qualys-${qid}`,
    location: { kind: 'web', url: urlOf(seen.host, seen.port, seen.protocol.toLowerCase()), matcher: qid },
    fix: { state: 'unknown', text: plainText(check.solution) },
    evidence: seen.result === '' ? [] : [{ result: plainText(seen.result).slice(0, 4000) }],
    quality: /^practice$/i.test(seen.type) ? 0.6 : 0.8,
    suppressed: seen.isSetAside === true,
  });
}

const typeOfList: Readonly<Record<string, string>> = { VULNS: 'Vuln', PRACTICES: 'Practice', INFOS: 'Ig' };

/** A host of a scan: lists of categories, which have the port, of checks. */
function* scannedHost(host: Element): Generator<Item> {
  for (const listed of host.children)
    for (const category of childrenOf(listed, 'CAT'))
      for (const one of category.children) {
        const type = typeOfList[listed.name];
        // SERVICES say what was looked at, and find nothing
        if (type === undefined) continue;
        const { number = '', severity = '', cveid = '' } = one.attributes;
        const check: Check = {
          ...{ qid: number, title: childText(one, 'TITLE'), level: severity, solution: childText(one, 'SOLUTION') },
          texts: [childText(one, 'DIAGNOSIS'), childText(one, 'CONSEQUENCE')],
          ids: [cveid, ...cvesOf(one)],
          score: num(childText(one, 'CVSS3_BASE')) ?? num(childText(one, 'CVSS_BASE')),
        };
        const { port = '', protocol = '' } = category.attributes;
        const address = host.attributes['value'] ?? host.attributes['name'] ?? '';
        yield hostRecord(check, { host: address, port, protocol, type, result: childText(one, 'RESULT') });
      }
}

/** The glossary of a report of assets stands behind its hosts. */
async function readGlossary(file: ReportFile): Promise<ReadonlyMap<string, Check>> {
  const checks = new Map<string, Check>();
  for await (const [one] of readXml(file, (name) => name === 'VULN_DETAILS')) {
    const scores = within(one, 'CVSS3_SCORE') ?? within(one, 'CVSS_SCORE') ?? one;
    checks.set(childText(one, 'QID'), {
      ...{ qid: childText(one, 'QID'), title: childText(one, 'TITLE'), level: childText(one, 'SEVERITY') },
      texts: [childText(one, 'THREAT'), childText(one, 'IMPACT')],
      solution: childText(one, 'SOLUTION'),
      ids: cvesOf(one),
      score: num(childText(scores, 'CVSS3_BASE')) ?? num(childText(scores, 'CVSS_BASE')),
    });
  }
  return checks;
}

function* reportedHost(host: Element, checks: ReadonlyMap<string, Check>): Generator<Item> {
  const address = childText(host, 'IP') || childText(host, 'DNS');
  for (const one of childrenOf(within(host, 'VULN_INFO_LIST'), 'VULN_INFO')) {
    const qid = childText(one, 'QID');
    const check = checks.get(qid);
    const status = childText(one, 'VULN_STATUS');
    if (/^fixed$/i.test(status)) yield noFinding('is fixed', `${address}: ${qid}`);
    else if (check === undefined) yield unread('has a QID that the glossary does not have', `${address}: ${qid}`);
    else
      yield hostRecord(check, {
        ...{ host: address, port: childText(one, 'PORT'), protocol: childText(one, 'PROTOCOL') },
        ...{ type: childText(one, 'TYPE'), result: childText(one, 'RESULT') },
        isSetAside: /^(?:ignored|disabled)$/i.test(status),
      });
  }
}

export const qualys: Format = {
  name: 'qualys',
  label: 'Qualys VM XML (scan, or report of assets)',
  detection: '<SCAN> or <ASSET_DATA_REPORT>',
  detect: (beginning) => /<ASSET_DATA_REPORT[\s>]/.test(beginning) || /<SCAN\s[^>]{0,200}value="scan\//.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Qualys';
    const names = new Set<string>();
    facts.looked = { by: 'host', names };
    let isReport = false;
    const checks = await readGlossary(file);
    const wanted = new Set(['IP', 'HOST', 'SCAN', 'ASSET_DATA_REPORT', 'KEY']);
    for await (const [element, above] of readXml(file, (name) => wanted.has(name), ['SCAN', 'ASSET_DATA_REPORT'])) {
      const { name } = element;
      if (name === 'SCAN' || name === 'ASSET_DATA_REPORT') isReport = true;
      else if (name === 'KEY') {
        if (element.attributes['value'] === 'STATUS' && !/^finished$/i.test(element.text.trim()))
          yield fault(`the scan has not finished (STATUS is ${element.text.trim()})`);
      } else if (name === 'HOST' || above.at(-1)?.name === 'SCAN') {
        const address = name === 'IP' ? (element.attributes['value'] ?? '') : childText(element, 'IP');
        names.add(hostOf(urlOf(address || childText(element, 'DNS'), '', '')) ?? '');
        yield* name === 'IP' ? scannedHost(element) : reportedHost(element, checks);
      }
    }
    if (!isReport) throw unfit('file', 'is no XML report of Qualys');
    names.delete('');
    if (names.size === 0) yield fault('the report names no host that was scanned');
  },
};

function wasItem(one: Element, check: Element | undefined): Item {
  const [qid, url, id] = ['QID', 'URL', 'ID'].map((name) => childText(one, name)) as [string, string, string];
  if (qid === '' || url === '' || check === undefined)
    return unread('has no QID or no URL, or the glossary lacks it', `${id || 'finding'}: ${qid}`);
  if (/^fixed$/i.test(childText(one, 'STATUS'))) return noFinding('is fixed', `${qid} ${url}`.slice(0, 200));
  const request = within(one, 'PAYLOADS', 'PAYLOAD', 'REQUEST');
  const method = request === undefined ? '' : childText(request, 'METHOD');
  const param = childText(one, 'PARAM');
  const payload = within(one, 'PAYLOADS', 'PAYLOAD');
  const shown = payload === undefined ? '' : childText(payload, 'PAYLOAD');
  const score = num(childText(check, 'CVSS_V3_BASE')) ?? num(childText(check, 'CVSS_BASE'));
  const isInformation = one.name === 'INFORMATION_GATHERED';
  return record({
    title: childText(check, 'TITLE') || `QID ${qid}`,
    description: [childText(check, 'DESCRIPTION'), childText(check, 'IMPACT')]
      .map(plainText)
      .filter(Boolean)
      .join('\n\n'),
    ...(isInformation ? info : readSeverity(childText(check, 'SEVERITY'), { scale, score })),
    cwes: cwesOf(
      childText(check, 'CWE')
        .split(',')
        .map((text) => text.trim()),
      true,
    ),
    cvss: readCvss(null, score),
    source: 'dast',
    ruleId: `qualys-${qid}`,
    nativeId: childText(one, 'UNIQUE_ID') || null,
    location: {
      ...{ kind: 'web', url },
      ...(method === '' ? {} : { method }),
      ...(param === '' ? {} : { param }),
    },
    fix: { state: 'unknown', text: plainText(childText(check, 'SOLUTION')) },
    evidence: shown === '' ? [] : [{ payload: shown.slice(0, 4000) }],
    quality: childText(one, 'POTENTIAL') === 'true' ? 0.6 : 0.8,
    suppressed: childText(one, 'IGNORED') === 'true',
  });
}

export const qualysWas: Format = {
  name: 'qualys-was',
  label: 'Qualys Web Application Scanning XML',
  detection: '<WAS_SCAN_REPORT> or <WAS_WEBAPP_REPORT>',
  detect: (beginning) => /<WAS_(?:SCAN|WEBAPP)_REPORT[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Qualys WAS';
    const names = new Set<string>();
    facts.looked = { by: 'site', names, isOfResults: true };
    const checks = new Map<string, Element>();
    const root = /^WAS_(?:SCAN|WEBAPP)_REPORT$/;
    let isReport = false;
    for await (const [listed] of readXml(file, (name) => name === 'QID_LIST'))
      for (const check of childrenOf(listed, 'QID')) checks.set(childText(check, 'QID'), check);
    const found = new Set(['VULNERABILITY', 'SENSITIVE_CONTENT', 'INFORMATION_GATHERED', 'STATUS']);
    const roots = ['WAS_SCAN_REPORT', 'WAS_WEBAPP_REPORT'];
    for await (const [one] of readXml(file, (name) => found.has(name) || root.test(name), roots)) {
      if (root.test(one.name)) isReport = true;
      else if (one.name === 'STATUS') {
        if (/error|cancel|running|time_limit|submitted/i.test(one.text)) yield fault(`STATUS is ${one.text.trim()}`);
      } else {
        const site = siteOf(childText(one, 'URL'));
        if (site !== null) names.add(site);
        yield wasItem(one, checks.get(childText(one, 'QID')));
      }
    }
    if (!isReport) throw unfit('file', 'is no XML report of Qualys WAS');
    if (names.size === 0) yield fault('the report has no finding: nothing shows that a site was scanned');
  },
};

export const qualysCsv: Format = {
  name: 'qualys-csv',
  label: 'Qualys VM CSV (from its head line on)',
  detection: 'a head line with IP, QID, Title, Type and Severity',
  detect: (beginning) => {
    const { columns } = readHead(beginning);
    return ['ip', 'qid', 'title', 'type', 'severity'].every((name) => columns.includes(name));
  },
  async *read(file, facts) {
    const { columns } = readHead(await readBeginning(file));
    if (!columns.includes('qid') || !columns.includes('ip'))
      throw unfit('file', 'has no columns IP and QID', 'cut the lines before the head line off');
    facts.tool = 'Qualys';
    const names = new Set<string>();
    facts.looked = { by: 'host', names };
    for await (const [number, row] of readRows(file)) {
      const cell = (name: string): string => (row[name] ?? '').trim();
      const host = cell('ip') || cell('dns') || cell('fqdn');
      names.add(hostOf(urlOf(host, '', '')) ?? '');
      const [qid, title] = [cell('qid'), cell('title')];
      if (qid === '' && title === '') yield noFinding('is a host without a finding', `line ${number}`);
      else if (/^fixed$/i.test(cell('vuln_status'))) yield noFinding('is fixed', `line ${number}`);
      else
        yield hostRecord(
          {
            ...{ qid, title, level: cell('severity'), solution: cell('solution') },
            texts: [cell('threat'), cell('impact')],
            ids: cell('cve_id').split(/[,;\s]+/),
            score: num(cell('cvss3_base').split(' ')[0]) ?? num(cell('cvss_base').split(' ')[0]),
          },
          {
            ...{ host, port: cell('port'), protocol: cell('protocol'), type: cell('type'), result: cell('results') },
            isSetAside: /^ignored$/i.test(cell('vuln_status')),
          },
        );
    }
    names.delete('');
    if (names.size === 0) yield fault('the table has no row: nothing shows that a host was scanned');
  },
};
