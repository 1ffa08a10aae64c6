// Checkmarx: CxSAST (XML) and Checkmarx One (JSON of its results).
import type { Source } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { readCvss } from '../../../findings/cvss.js';
import { at, cwesOf, list, num, obj, pos, reportPath, str, texts, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item, type Location } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

const codeAt = (path: string, line: unknown, column: unknown, symbol = '', snippet = ''): Location => ({
  ...{ kind: 'code', path },
  ...(pos(line) === undefined ? {} : { line: pos(line) as number }),
  ...(pos(column) === undefined ? {} : { column: pos(column) as number }),
  ...(symbol === '' ? {} : { symbol }),
  ...(snippet === '' ? {} : { snippet }),
});

/** `SQL_Injection` → `SQL Injection`, as its pages show it. */
const shownName = (name: string): string => name.replace(/_/g, ' ').trim();

function sastResult(result: Element, query: Element): Item {
  const { name = '', id = '', cweId = '', group = '' } = query.attributes;
  const [path] = childrenOf(result, 'Path');
  // the path goes from where the value comes in to where it does harm
  const sink = childrenOf(path, 'PathNode').at(-1);
  const given = (own: string): string => (sink === undefined ? '' : childText(sink, own));
  const file = reportPath(given('FileName') || result.attributes['FileName']);
  if (name === '' || file === '') return unread('has no query or no file', result.attributes['NodeId'] ?? '');
  const [line] = childrenOf(childrenOf(sink, 'Snippet')[0], 'Line');
  const code = line === undefined ? '' : childText(line, 'Code');
  // 1 is "not exploitable"; 4, "proposed not exploitable", nobody has decided yet
  const isSetAside = result.attributes['FalsePositive'] === 'True' || result.attributes['state'] === '1';
  return record({
    title: shownName(name),
    description: childrenOf(path, 'PathNode')
      .slice(0, 30)
      .map((node) => `${childText(node, 'FileName')}:${childText(node, 'Line')} ${childText(node, 'Name')}`)
      .join('\n'),
    ...readSeverity(result.attributes['Severity'] ?? query.attributes['Severity']),
    cwes: cwesOf([cweId], true),
    source: 'sast',
    ruleId: name,
    nativeId: path?.attributes['SimilarityId'] ?? null,
    location: codeAt(file, given('Line') || result.attributes['Line'], given('Column'), given('Name'), code),
    references: texts(result.attributes['DeepLink']),
    tags: texts(query.attributes['Language']),
    quality: result.attributes['state'] === '2' || result.attributes['state'] === '3' ? 0.95 : 0.75,
    suppressed: isSetAside,
    extra: { query_id: id, group },
  });
}

export const checkmarx: Format = {
  name: 'checkmarx',
  label: 'Checkmarx SAST XML',
  detection: '<CxXMLResults>',
  detect: (beginning) => /<CxXMLResults[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Checkmarx';
    let root: Element | undefined;
    const isWanted = (name: string): boolean => name === 'Result' || name === 'CxXMLResults';
    for await (const [element, ancestors] of readXml(file, isWanted, ['CxXMLResults'])) {
      root ??= element.name === 'Result' ? ancestors.find(({ name }) => name === 'CxXMLResults') : element;
      facts.version = root?.attributes['CheckmarxVersion'] ?? '';
      facts.subject = (root?.attributes['ProjectName'] ?? '').toLowerCase();
      if (element.name !== 'Result') continue;
      const query = ancestors.findLast(({ name }) => name === 'Query');
      yield query === undefined
        ? unread('stands in no Query', element.attributes['NodeId'] ?? '')
        : sastResult(element, query);
    }
    if (root === undefined) throw unfit('file', 'is no XML report of Checkmarx');
    const { FilesScanned: files, ScanType: type } = root.attributes;
    if (!((num(files) ?? 0) > 0)) yield fault(`no file was looked at (FilesScanned is ${files ?? 'missing'})`);
    if (/incremental/i.test(type ?? '')) yield fault('an incremental scan looks at files that have changed alone');
  },
};

interface OnePlace {
  readonly source: Source;
  readonly location: Location | null;
  readonly rule: string;
  readonly fixed?: string;
}

/** `Npm-minimist-0.0.8`: the manager, the name, which may have hyphens, and the version. */
function packageIn(identifier: string): { name: string; version: string } | null {
  const [, name, version] = /^[A-Za-z]+-(.+)-([^-]*\d[^-]*)$/.exec(identifier) ?? [];
  return name === undefined || version === undefined ? null : { name, version };
}

/** By `type`: where it is, and of what kind; null: a type that is not known. */
function placeOfOne(one: Json): OnePlace | null {
  const data = obj(one['data']);
  const rule = str(data['queryName']) || str(data['ruleName']) || str(data['queryId']);
  switch (str(one['type']).toLowerCase()) {
    case 'sast': {
      const sink = obj(list(data['nodes']).at(-1));
      const path = reportPath(sink['fileName']);
      const symbol = str(sink['fullName']) || str(sink['name']);
      const location = path === '' ? null : codeAt(path, sink['line'], sink['column'], symbol);
      return { source: 'sast', rule, location };
    }
    case 'kics':
    case 'iac': {
      const path = reportPath(data['fileName'] ?? data['filename']);
      const line = pos(data['line']);
      const address = str(data['resourceName']) || str(data['searchKey']) || path;
      const location: Location = { kind: 'resource', address, path, ...(line === undefined ? {} : { line }) };
      return { source: 'iac', rule, location: path === '' ? null : location };
    }
    case 'sca': {
      const found = packageIn(str(data['packageIdentifier']));
      const location: Location | null = found === null ? null : { kind: 'package', ...found };
      return { source: 'sca', rule: str(one['id']), location, fixed: str(data['recommendedVersion']) };
    }
    case 'containers': {
      const [name, version] = [str(data['packageName']), str(data['packageVersion'])];
      const path = [str(data['imageName']), str(data['imageTag'])].filter(Boolean).join(':');
      const location: Location | null = name === '' ? null : { kind: 'package', name, version, path };
      return { source: 'container', rule: str(one['id']), location };
    }
    default:
      return null;
  }
}

function oneResult(one: Json, at_: string): Item {
  const place = placeOfOne(one);
  if (place === null) return unread(`is of the type ${str(one['type']).slice(0, 40) || 'unknown'}`, at_);
  const { source, location, rule, fixed = '' } = place;
  if (location === null || rule === '') return unread('has no place or no query', at_);
  if (/^fixed$/i.test(str(one['status']))) return noFinding('is fixed', at_);
  const details = obj(one['vulnerabilityDetails']);
  const isPackage = location.kind === 'package';
  const vulnIds = isPackage ? vulnIdsOf([one['id'], details['cveName'], at(details, 'cve')]) : [];
  const score = num(details['cvssScore']);
  const name = isPackage ? `${rule} in ${location.name}` : shownName(rule);
  return record({
    title: name,
    description: str(one['description']),
    ...readSeverity(one['severity'], { score }),
    cwes: cwesOf([details['cweId']], true),
    vulnIds,
    cvss: readCvss(null, score),
    source,
    ruleId: isPackage ? (vulnIds[0] ?? rule) : rule,
    nativeId: isPackage ? null : str(one['similarityId']) || null,
    location,
    fix: fixed === '' ? { state: 'unknown' } : { state: 'fixed_available', version: fixed },
    references: list(at(one, 'data', 'packageData')).map((link) => str(obj(link)['url'])),
    tags: texts(at(one, 'data', 'languageName')),
    quality: /^(?:confirmed|urgent)$/i.test(str(one['state'])) ? 0.95 : 0.75,
    // what is only proposed nobody has decided
    suppressed: /^not_exploitable$/i.test(str(one['state'])),
    extra: { group: str(at(one, 'data', 'group')) },
  });
}

export const checkmarxOne: Format = {
  name: 'checkmarx-one',
  label: 'Checkmarx One JSON (results of its API and of its command line)',
  detection: '"results" with "similarityId" and "vulnerabilityDetails", or "totalCount" and "scanID"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    beginning.includes('"results"') &&
    (/"similarityId"[\s\S]*"vulnerabilityDetails"|"vulnerabilityDetails"[\s\S]*"similarityId"/.test(beginning) ||
      (beginning.includes('"totalCount"') && beginning.includes('"scanID"'))),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    const all = report['results'] ?? (num(report['totalCount']) === 0 ? [] : undefined);
    if (!Array.isArray(all)) throw unfit('file', 'is no list of results of Checkmarx One', 'send --report-format json');
    facts.tool = 'Checkmarx One';
    const total = num(report['totalCount']);
    if (total === null) yield fault('the report does not say how many results there are (totalCount)');
    else if (total > all.length) yield fault(`it is one page: ${all.length} of ${total} results are listed`);
    for (const [index, one] of (all as unknown[]).entries()) yield oneResult(obj(one), `/results/${index}`);
  },
};
