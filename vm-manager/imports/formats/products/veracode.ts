// Veracode: the detailed report of a scan (XML), and what a pipeline scan writes (JSON).
import { readCvss } from '../../../findings/cvss.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, moment, num, obj, plainText, pos, reportPath, str, texts } from '../../normalize.js';
import { vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { childrenOf, readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

/** Veracode's levels: 5 is "very high", 1 "very low", 0 informational. */
const scale = { '5': 'critical', '4': 'high', '3': 'medium', '2': 'low', '1': 'low', '0': 'info' } as const;

function flawItem(flaw: Element, above: readonly Element[]): Item {
  const told = flaw.attributes;
  const id = told['issueid'] ?? '';
  const weakness = above.findLast(({ name }) => name === 'cwe')?.attributes;
  const cwe = told['cweid'] ?? weakness?.['cweid'] ?? '';
  const name = weakness?.['cwename'] ?? told['categoryname'] ?? '';
  const isDynamic = above.some(({ name: outer }) => outer === 'dynamicflaws');
  const [url, file] = [told['url'] ?? '', told['sourcefile'] ?? ''];
  const directory = told['sourcefilepath'] ?? '';
  const path = reportPath(`${directory}${directory === '' || directory.endsWith('/') ? '' : '/'}${file}`);
  if (name === '' || (isDynamic ? url === '' : path === '')) return unread('has no name or no place', `issue ${id}`);
  if (/^fixed$/i.test(told['remediation_status'] ?? '')) return noFinding('is fixed', `issue ${id}`);
  const line = pos(told['line']);
  const symbol = told['functionprototype'] ?? '';
  const param = told['vuln_parameter'] ?? '';
  return record({
    title: name,
    description: plainText(told['description']),
    ...readSeverity(told['severity'], { scale }),
    cwes: cwesOf([cwe], true),
    source: isDynamic ? 'dast' : 'sast',
    ruleId: `veracode-${cwe === '' ? name : cwe}${told['type'] === undefined ? '' : `-${told['type']}`}`,
    // counted within an application, and kept from scan to scan
    nativeId: id || null,
    location: isDynamic
      ? { kind: 'web', url, ...(param === '' ? {} : { param }) }
      : { kind: 'code', path, ...(line === undefined ? {} : { line }), ...(symbol === '' ? {} : { symbol }) },
    quality: 0.8,
    suppressed: /^accepted$/i.test(told['mitigation_status'] ?? ''),
    extra: { module: told['module'] ?? '', category: told['categoryname'] ?? '' },
  });
}

function* componentItems(component: Element): Generator<Item> {
  const { file_name: file = '', library = '', version = '' } = component.attributes;
  const [path] = childrenOf(childrenOf(component, 'file_paths')[0], 'file_path');
  for (const { attributes } of childrenOf(childrenOf(component, 'vulnerabilities')[0], 'vulnerability')) {
    const id = attributes['cve_id'] ?? '';
    const name = library || file;
    if (id === '' || name === '') {
      yield unread('has no cve_id, or its component no name', file);
      continue;
    }
    const score = num(attributes['cvss_score']);
    yield record({
      title: `${id} in ${name}`,
      description: attributes['cve_summary'] ?? '',
      ...readSeverity(attributes['severity'], { scale, score }),
      cwes: cwesOf([attributes['cwe_id']], true),
      vulnIds: vulnIdsOf([id]).concat(/^SRCCLR/i.test(id) ? [id] : []),
      cvss: readCvss(null, score),
      source: 'sca',
      ruleId: id,
      location: { kind: 'package', name, version, path: reportPath(path?.attributes['value']) || file },
      quality: 0.8,
      suppressed: /^true$/i.test(attributes['mitigation'] ?? ''),
    });
  }
}

export const veracode: Format = {
  name: 'veracode',
  label: 'Veracode detailed report (XML)',
  detection: '<detailedreport>',
  detect: (beginning) => /<detailedreport[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Veracode';
    const outer = ['detailedreport', 'static-analysis', 'dynamic-analysis', 'software_composition_analysis'];
    const wanted = new Set([...outer, 'flaw', 'component']);
    let [isReport, looked] = [false, 0];
    for await (const [element, above] of readXml(file, (name) => wanted.has(name), outer)) {
      const root = (above[0] ?? element).attributes;
      facts.subject = (root['app_name'] ?? '').toLowerCase();
      facts.scannedAt ??= moment(root['last_update_time']);
      if (element.name === 'flaw') yield flawItem(element, above);
      else if (element.name === 'component') yield* componentItems(element);
      else if (element.name === 'detailedreport') isReport = true;
      else {
        looked++;
        facts.version ||= element.attributes['engine_version'] ?? '';
        if (element.name.endsWith('-analysis') && (element.attributes['published_date'] ?? '') === '')
          yield fault(`${element.name} is not published: it has not ended`);
      }
    }
    if (!isReport) throw unfit('file', 'is no detailed report of Veracode');
    if (looked === 0) yield fault('the report has no analysis: nothing shows that something was looked at');
  },
};

function pipelineItem(one: Json, place: string): Item {
  const source = obj(at(one, 'files', 'source_file'));
  const path = reportPath(source['file']);
  const cwe = str(one['cwe_id']);
  const type = str(one['issue_type']) || str(one['title']);
  if (type === '' || path === '') return unread('has no issue_type or no file', place);
  const match = obj(one['flaw_match']);
  // what a baseline is compared by; `issue_id` counts anew in each scan
  const native = ['procedure_hash', 'flaw_hash', 'flaw_hash_ordinal'].map((name) => str(match[name]));
  const line = pos(source['line']);
  const symbol = str(source['function_prototype']) || str(source['function_name']);
  const kind = str(one['issue_type_id']);
  return record({
    title: type,
    description: plainText(one['display_text']),
    ...readSeverity(num(one['severity']), { scale }),
    cwes: cwesOf([cwe], true),
    source: 'sast',
    ruleId: `veracode-${cwe || type}${kind === '' ? '' : `-${kind}`}`,
    nativeId: native[1] === '' ? null : native.join(':'),
    location: {
      ...{ kind: 'code', path },
      ...(line === undefined ? {} : { line }),
      ...(symbol === '' ? {} : { symbol }),
    },
    references: texts(one['flaw_details_link']),
    quality: 0.8,
    extra: { called: str(one['title']) },
  });
}

export const veracodePipeline: Format = {
  name: 'veracode-pipeline',
  label: 'Veracode pipeline scan JSON',
  detection: '"scan_status", "modules" and "findings"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) && /"scan_status"/.test(beginning) && /"findings"|"pipeline_scan"/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['findings'])) throw unfit('file', 'is no report of a pipeline scan of Veracode');
    facts.tool = 'Veracode';
    facts.version = str(report['pipeline_scan']);
    const status = str(report['scan_status']);
    if (status !== 'SUCCESS') yield fault(`the scan did not succeed (scan_status is ${status || 'missing'})`);
    if (list(report['modules']).length === 0) yield fault('no module was looked at (modules is empty)');
    for (const [index, one] of list(report['findings']).entries()) yield pipelineItem(obj(one), `/findings/${index}`);
  },
};
