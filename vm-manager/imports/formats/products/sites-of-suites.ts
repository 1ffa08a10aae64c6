// Scanners of web applications that are bought: Acunetix (XML) and Invicti, which was Netsparker (JSON and XML).
import { readCvss } from '../../../findings/cvss.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, num, obj, plainText, str, texts, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { siteOf } from '../../run/looked-at.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

const within = (element: Element | undefined, ...names: readonly string[]): Element | undefined =>
  names.reduce<Element | undefined>((here, name) => childrenOf(here, name)[0], element);
const linksIn = (html: string): string[] =>
  [...html.slice(0, 20_000).matchAll(/href=["'](https?:\/\/[^"']{1,500})["']/g)].map(([, link = '']) => link);

function acunetixItem(item: Element, base: string): Item {
  const [name, affects] = [childText(item, 'Name'), childText(item, 'Affects')];
  const site = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.exec(base)?.[0] ?? '';
  if (name === '' || (site === '' && affects === ''))
    return unread('has no name or no site', item.attributes['id'] ?? '');
  if (/^true$/i.test(childText(item, 'IsFalsePositive'))) return noFinding('is a false positive', `${affects} ${name}`);
  const cvss = ['CVSS3', 'CVSS']
    .map((version) => within(item, version))
    .filter((one) => one !== undefined)
    .map((one) => readCvss(childText(one, 'Descriptor') || null, num(childText(one, 'Score')) || null))
    .find((found) => found !== null);
  const request = childText(within(item, 'TechnicalDetails') ?? item, 'Request');
  const method = /^[A-Z]{3,10}(?= )/.exec(request)?.[0];
  const details = plainText(childText(item, 'Details'));
  const param = childText(item, 'Parameter');
  const shown = { ...(details === '' ? {} : { details }), ...(request === '' ? {} : { request }) };
  const module_ = childText(item, 'ModuleName');
  return record({
    title: name,
    description: plainText(childText(item, 'Description')),
    ...readSeverity(childText(item, 'Severity'), { score: cvss?.score ?? null }),
    cwes: cwesOf(
      childrenOf(within(item, 'CWEList'), 'CWE').flatMap((one) => [one.attributes['id'], one.text.trim()]),
      true,
    ),
    vulnIds: vulnIdsOf(childrenOf(within(item, 'CVEList'), 'CVE').map((one) => childText(one, 'ID') || one.text)),
    cvss: cvss ?? null,
    source: 'dast',
    ruleId: name,
    location: {
      kind: 'web',
      url: /^https?:\/\//i.test(affects) ? affects : `${site}${affects.startsWith('/') ? '' : '/'}${affects}`,
      ...(method === undefined ? {} : { method }),
      ...(param === '' ? {} : { param }),
    },
    fix: { state: 'unknown', text: plainText(childText(item, 'Recommendation')) },
    references: childrenOf(within(item, 'References'), 'Reference').map((one) => childText(one, 'URL')),
    evidence:
      Object.keys(shown).length === 0
        ? []
        : [Object.fromEntries(Object.entries(shown).map(([key, text]) => [key, text.slice(0, 4000)]))],
    quality: 0.8,
    extra: { module: module_ },
  });
}

export const acunetix: Format = {
  name: 'acunetix',
  label: 'Acunetix XML',
  detection: '<ScanGroup> with <Scan>',
  detect: (beginning) => /<ScanGroup[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Acunetix';
    const names = new Set<string>();
    facts.looked = { by: 'site', names };
    let isReport = false;
    // what a scan says of itself stands before its list
    let base = '';
    const outer = ['ScanGroup', 'Scan'];
    const wanted = new Set([...outer, 'StartURL', 'FinishTime', 'Aborted', 'ReportItem']);
    for await (const [element] of readXml(file, (name) => wanted.has(name), outer)) {
      const text = element.text.trim();
      if (element.name === 'ReportItem') yield acunetixItem(element, base);
      else if (element.name === 'ScanGroup') isReport = true;
      else if (element.name === 'StartURL') {
        base = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
        names.add(siteOf(base) ?? '');
      } else if (element.name === 'Aborted' && /^true$/i.test(text)) yield fault(`${base}: the scan was aborted`);
      else if (element.name === 'FinishTime' && text === '') yield fault(`${base}: the scan has no end (FinishTime)`);
    }
    if (!isReport) throw unfit('file', 'is no XML report of Acunetix');
    names.delete('');
    if (names.size === 0) yield fault('the report names no site that was scanned (StartURL)');
  },
};

/** Of Invicti: what is no weakness has words of its own. */
const invictiScale = { bestpractice: 'info', 'best practice': 'info', information: 'info' } as const;

/** A weakness in whatever form: names of members and of elements differ in nothing but case and hyphens. */
interface Found {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly severity: string;
  readonly state: string;
  readonly id: string;
  readonly method: string;
  readonly param: string;
  readonly cwe: string;
  readonly vector: string;
  readonly score: number | null;
  readonly texts: readonly string[];
  readonly fix: string;
  readonly links: string;
  readonly request: string;
  readonly isConfirmed: boolean;
  readonly ids: readonly string[];
}

function invictiItem(found: Found, place: string): Item {
  const { name, type, url, param, method } = found;
  if (name === '' || url === '') return unread('has no name or no url', place);
  if (/fixed/i.test(found.state) && !/notfixed|revived/i.test(found.state))
    return noFinding('is fixed', `${name} ${url}`);
  if (/falsepositive|false positive/i.test(found.state)) return noFinding('is a false positive', `${name} ${url}`);
  const cvss = readCvss(found.vector || null, found.score);
  return record({
    title: name,
    description: found.texts.map(plainText).filter(Boolean).join('\n\n'),
    ...readSeverity(found.severity, { scale: invictiScale, score: cvss?.score ?? null }),
    cwes: cwesOf(
      found.cwe.split(/[,;\s]+/).filter((text) => text !== ''),
      true,
    ),
    vulnIds: vulnIdsOf(found.ids),
    cvss,
    source: 'dast',
    ruleId: type || name,
    nativeId: found.id || null,
    location: {
      ...{ kind: 'web', url },
      ...(method === '' ? {} : { method }),
      ...(param === '' ? {} : { param }),
    },
    fix: { state: 'unknown', text: plainText(found.fix) },
    references: linksIn(found.links),
    evidence: found.request === '' ? [] : [{ request: found.request.slice(0, 4000) }],
    quality: found.isConfirmed ? 0.95 : 0.7,
    suppressed: /acceptedrisk|accepted risk/i.test(found.state),
  });
}

function ofJson(one: Json): Found {
  const [class_, request] = [obj(one['Classification']), obj(one['HttpRequest'])];
  const cvss = obj(class_['Cvss31'] ?? class_['Cvss'] ?? class_['Cvss40']);
  const parameter = list(request['Parameters'])
    .map(obj)
    .find((each) => each['IsInjected'] === true || str(each['Type']) !== '');
  return {
    ...{ name: str(one['Name']), type: str(one['Type']), url: str(one['Url']), severity: str(one['Severity']) },
    ...{ state: str(one['State']), id: str(one['LookupId']), method: str(request['Method']) },
    param: list(request['Parameters']).length === 1 ? str(parameter?.['Name']) : '',
    cwe: str(class_['Cwe']),
    vector: str(cvss['Vector']),
    score: num(at(cvss, 'BaseScore', 'Value')) ?? num(cvss['BaseScore']),
    texts: [str(one['Description']), str(one['Impact'])],
    fix: [str(one['RemedialActions']), str(one['RemedialProcedure'])].filter(Boolean).join('\n'),
    links: str(one['ExternalReferences']) + str(one['RemedyReferences']),
    request: str(request['Content']),
    isConfirmed: one['Confirmed'] === true,
    ids: [str(one['Name']), ...list(one['KnownVulnerabilities']).map((each) => str(obj(each)['Title']))],
  };
}

export const invicti: Format = {
  name: 'invicti',
  label: 'Invicti, Netsparker and Acunetix 360 JSON',
  detection: '"Generated", "Target" and "Vulnerabilities"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    ['Generated', 'Target', 'Vulnerabilities'].every((name) => beginning.includes(`"${name}"`)),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    const all = report['Vulnerabilities'];
    if (!Array.isArray(all)) throw unfit('file', 'is no JSON report of Invicti');
    facts.tool = 'Invicti';
    const site = siteOf(str(at(report, 'Target', 'Url')));
    facts.looked = { by: 'site', names: new Set(site === null ? [] : [site]) };
    if (site === null) yield fault('the report names no site that was scanned (Target.Url)');
    for (const [index, one] of (all as unknown[]).entries())
      yield invictiItem(ofJson(obj(one)), `/Vulnerabilities/${index}`);
  },
};

/** Elements by their names in small letters and without hyphens. */
const plain = (name: string): string => name.toLowerCase().replace(/-/g, '');
const textIn = (element: Element | undefined, ...names: readonly string[]): string =>
  element?.children.find((child) => names.includes(plain(child.name)))?.text.trim() ?? '';
const in_ = (element: Element | undefined, name: string): Element | undefined =>
  element?.children.find((child) => plain(child.name) === name);

function ofXml(one: Element): Found {
  const [class_, request] = [in_(one, 'classification'), in_(one, 'httprequest')];
  const cvss = in_(class_, 'cvss31') ?? in_(class_, 'cvss');
  return {
    ...{ name: textIn(one, 'name') || textIn(one, 'title'), type: textIn(one, 'type'), url: textIn(one, 'url') },
    ...{ severity: textIn(one, 'severity'), state: textIn(one, 'state'), id: textIn(one, 'lookupid') },
    method: textIn(request, 'method') || textIn(one, 'method'),
    param: textIn(one, 'vulnerableparameter'),
    cwe: textIn(class_, 'cwe'),
    vector: textIn(cvss, 'vector'),
    score: null,
    texts: [textIn(one, 'description'), textIn(one, 'impact')],
    fix: [textIn(one, 'remedialactions'), textIn(one, 'remedialprocedure')].filter(Boolean).join('\n'),
    links: textIn(one, 'externalreferences') + textIn(one, 'remedyreferences'),
    request: textIn(request, 'content') || textIn(one, 'rawrequest'),
    isConfirmed: /^true$/i.test(textIn(one, 'confirmed') || (one.attributes['confirmed'] ?? '')),
    ids: texts(textIn(one, 'name')),
  };
}

export const invictiXml: Format = {
  name: 'invicti-xml',
  label: 'Invicti and Netsparker XML',
  detection: '<invicti-enterprise>, <netsparker-enterprise> or <netsparker>',
  detect: (beginning) => /<(?:netsparker|invicti)(?:-enterprise|-standard)?[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Invicti';
    const names = new Set<string>();
    facts.looked = { by: 'site', names };
    let [isReport, number] = [false, 0];
    const isRoot = (name: string): boolean => /^(?:netsparker|invicti)(?:-enterprise|-standard)?$/.test(name);
    const isWanted = (name: string): boolean => name === 'target' || name === 'vulnerability' || isRoot(name);
    const roots = ['netsparker', 'invicti'].flatMap((name) => [name, `${name}-enterprise`, `${name}-standard`]);
    for await (const [element] of readXml(file, isWanted, roots)) {
      if (isRoot(element.name)) isReport = true;
      else if (element.name === 'target') names.add(siteOf(textIn(element, 'url')) ?? '');
      else yield invictiItem(ofXml(element), `vulnerability ${++number}`);
    }
    if (!isReport) throw unfit('file', 'is no XML report of Invicti');
    names.delete('');
    if (names.size === 0) yield fault('the report names no site that was scanned (target)');
  },
};
