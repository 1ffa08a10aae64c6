// Vulnerability scanners of hosts: Nessus (.nessus) and OpenVAS or Greenbone (XML).
import { readCvss } from '../../../findings/cvss.js';
import type { Severity } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, num, vulnIdsOf } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { hostOf } from '../../run/looked-at.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import type { Format } from '../format.js';

const urlOf = (host: string, port: string, protocol: string): string =>
  `${protocol || 'tcp'}://${host.includes(':') ? `[${host}]` : host}${/^[1-9]\d*$/.test(port) ? `:${port}` : ''}`;
const textsOf = (element: Element, name: string): string[] => childrenOf(element, name).map(({ text }) => text.trim());

/** `severity` of a ReportItem; risk_factor says the same in words. */
const nessusLevels: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

function nessusItem(item: Element, host: string): Item {
  const { pluginID: id = '', pluginName = '', port = '', protocol = '', severity = '' } = item.attributes;
  const name = childText(item, 'plugin_name') || pluginName;
  if (id === '' || name === '') return unread('has no pluginID or no name', host);
  const level = severity === '' ? undefined : nessusLevels[Number(severity)];
  const version = ['cvss3', 'cvss4', 'cvss'].find((name) => childText(item, `${name}_base_score`) !== '') ?? 'cvss';
  const score = num(childText(item, `${version}_base_score`));
  const vector = childText(item, `${version}_vector`);
  const output = childText(item, 'plugin_output');
  const solution = childText(item, 'solution');
  return record({
    title: name,
    description: [childText(item, 'synopsis'), childText(item, 'description')].filter(Boolean).join('\n\n'),
    ...(level === undefined
      ? readSeverity(childText(item, 'risk_factor'), { scale: toolScales.nessus, score })
      : { severity: level }),
    cwes: cwesOf(textsOf(item, 'cwe'), true),
    vulnIds: vulnIdsOf(textsOf(item, 'cve')),
    cvss: readCvss(vector || null, score),
    source: 'dast',
    ruleId: `nessus-${id}`,
    location: { kind: 'web', url: urlOf(host, port, protocol), matcher: id },
    fix: { state: childText(item, 'patch_publication_date') === '' ? 'unknown' : 'fixed_available', text: solution },
    references: textsOf(item, 'see_also').flatMap((text) => text.split(/\s+/)),
    evidence: output === '' ? [] : [{ output: output.slice(0, 4000) }],
    quality: childText(item, 'exploited_by_nessus') === 'true' ? 0.95 : 0.8,
  });
}

export const nessus: Format = {
  name: 'nessus',
  label: 'Nessus (.nessus)',
  detection: '<NessusClientData_v2>',
  detect: (beginning) => /<NessusClientData_v2[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Nessus';
    const names = new Set<string>();
    facts.looked = { by: 'host', names };
    let isReport = false;
    for await (const [host] of readXml(file, (name) => name === 'ReportHost' || name === 'NessusClientData_v2', [
      'NessusClientData_v2',
    ])) {
      if (host.name !== 'ReportHost') {
        isReport = true;
        continue;
      }
      const properties = new Map(
        childrenOf(childrenOf(host, 'HostProperties')[0], 'tag').map(
          ({ attributes, text }) => [attributes['name'] ?? '', text.trim()] as const,
        ),
      );
      const given = host.attributes['name'] ?? '';
      const name = given || (properties.get('host-fqdn') ?? properties.get('host-ip') ?? '');
      if (name === '') {
        yield unread('has no name', 'ReportHost');
        continue;
      }
      if (properties.has('HOST_END')) names.add(hostOf(urlOf(name, '', '')) ?? '');
      else yield fault(`${name}: the scan of the host has no end (HOST_END)`);
      for (const item of childrenOf(host, 'ReportItem')) yield nessusItem(item, name);
    }
    if (!isReport) throw unfit('file', 'is no report of Nessus');
    if (names.size === 0) yield fault('the report names no host that was scanned to its end');
  },
};

/** The text of an element that has further elements behind it, such as `<host>192.0.2.1<asset/></host>`. */
const hostText = (result: Element): string => {
  const [host] = childrenOf(result, 'host');
  return childText(result, 'host') || childText(host ?? result, 'hostname');
};

function openvasItem(result: Element): Item {
  const [nvt] = childrenOf(result, 'nvt');
  const id = nvt?.attributes['oid'] ?? '';
  const name = childText(result, 'name') || (nvt === undefined ? '' : childText(nvt, 'name'));
  const host = hostText(result);
  if (nvt === undefined || name === '' || host === '') return unread('has no nvt, name or host', host || name);
  const threat = childText(result, 'threat');
  if (/^(?:false positive|error)$/i.test(threat))
    return /^error$/i.test(threat) ? fault(`${host}: ${name}`) : noFinding('is a false positive', `${host}: ${name}`);
  const [, port = '', protocol = 'tcp'] = /^(\d{1,5})\/(\w{2,4})$/.exec(childText(result, 'port')) ?? [];
  const refs = childrenOf(childrenOf(nvt, 'refs')[0], 'ref').map(({ attributes }) => attributes);
  const tags = new Map(
    childText(nvt, 'tags')
      .split('|')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
  );
  const score = num(childText(result, 'severity')) ?? num(childText(nvt, 'cvss_base'));
  const [rating] = childrenOf(childrenOf(nvt, 'severities')[0], 'severity');
  const rated = rating === undefined ? '' : childText(rating, 'value');
  const solution = childText(nvt, 'solution') || (tags.get('solution') ?? '');
  const [fixed] = childrenOf(nvt, 'solution');
  const qod = num(childText(childrenOf(result, 'qod')[0] ?? result, 'value'));
  return record({
    title: name,
    description: [tags.get('summary') ?? '', childText(result, 'description')].filter(Boolean).join('\n\n'),
    ...readSeverity(threat, { scale: toolScales.openvas, score }),
    cwes: cwesOf([tags.get('insight') ?? '', childText(result, 'description')]),
    vulnIds: vulnIdsOf([...refs.map((ref) => ref['id'] ?? ''), childText(nvt, 'cve')]),
    cvss: readCvss(rated || (tags.get('cvss_base_vector') ?? null), score),
    source: 'dast',
    ruleId: id || name,
    location: { kind: 'web', url: urlOf(host, port, protocol), matcher: id || name },
    fix: {
      state: fixed?.attributes['type'] === 'VendorFix' ? 'fixed_available' : 'unknown',
      text: solution,
    },
    references: refs.filter((ref) => ref['type'] === 'url').map((ref) => ref['id'] ?? ''),
    // quality of detection, in percent
    quality: qod === null ? 0.7 : Math.min(0.95, Math.max(0.6, qod / 100)),
  });
}

export const openvas: Format = {
  name: 'openvas',
  label: 'OpenVAS and Greenbone XML',
  detection: '<report> with <nvt oid="…">',
  detect: (beginning) =>
    /^\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:report|get_reports_response)[\s>]/.test(beginning) &&
    /<nvt\s+oid=|<report_format\b|<gmp>|<omp>/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'OpenVAS';
    const names = new Set<string>();
    facts.looked = { by: 'host', names };
    let [isReport, status, results, told] = [false, '', 0, 0];
    const wanted = ['result', 'scan_run_status', 'host', 'report', 'error', 'result_count'];
    for await (const [element, ancestors] of readXml(file, (name) => wanted.includes(name), ['report'])) {
      isReport ||= element.name === 'report' || ancestors.some(({ name }) => name === 'report');
      if (element.name === 'scan_run_status') status = element.text.trim();
      // hosts that were scanned stand beside the list of results
      if (element.name === 'host' && childText(element, 'end') !== '')
        names.add(hostOf(urlOf(childText(element, 'ip'), '', '')) ?? '');
      // how many its filter lets through, of which it lists a page
      if (element.name === 'result_count') told = Math.max(told, num(childText(element, 'filtered')) ?? 0);
      if (element.name === 'error') yield fault(`${hostText(element)}: ${childText(element, 'description')}`);
      if (element.name !== 'result') continue;
      results++;
      yield openvasItem(element);
    }
    if (!isReport) throw unfit('file', 'is no XML report of OpenVAS');
    if (told > results) yield fault(`it is one page: ${results} of ${told} results are listed`);
    if (status !== 'Done') yield fault(`the scan is not done (scan_run_status is ${status || 'missing'})`);
    if (names.size === 0) yield fault('the report names no host that was scanned to its end');
  },
};
