// Reports of scanners that talk to a running application: ZAP (JSON and XML), Nuclei.
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
import { at, cwesOf, list, num, obj, plainText, str, texts, type Json } from '../normalize.js';
import { fault, noFinding, record, unread, type Dropped, type FindingRecord, type Item } from '../record.js';
import { parseJson, readBeginning, readJson, readLines } from '../reading/report-file.js';
import { childText, childrenOf, readXml } from '../reading/xml.js';
import { readSeverity } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import { isSecretName } from '../../secrets/shapes.js';
import { hostOf, siteOf } from '../run/looked-at.js';
import type { Format } from './format.js';

interface Alert {
  readonly ruleId: string;
  readonly title: string;
  readonly risk: string;
  readonly confidence: string;
  readonly cwe: string;
  readonly description: string;
  readonly solution: string;
  readonly reference: string;
}

/** One record for each place; the same place with another value is the same weakness. */
function alertRecord(alert: Alert, instance: (name: string) => string): FindingRecord {
  const param = instance('param');
  const shown = ['attack', 'evidence', 'otherinfo', 'request-header', 'response-header']
    .map((name) => [name, instance(name).slice(0, 4000)] as const)
    .filter(([, text]) => text !== '');
  const cwe = Number(alert.cwe);
  return record({
    title: alert.title,
    description: plainText(alert.description),
    ...readSeverity(alert.risk, { scale: toolScales.zap }),
    cwes: cwe > 0 ? [cwe] : [],
    source: 'dast',
    ruleId: alert.ruleId,
    location: {
      kind: 'web',
      url: instance('uri'),
      method: instance('method') || 'GET',
      ...(param === '' ? {} : { param }),
    },
    fix: { state: 'unknown', text: plainText(alert.solution) },
    references: plainText(alert.reference).split(/\s+/),
    evidence: shown.length === 0 ? [] : [Object.fromEntries(shown)],
    quality: [0.6, 0.6, 0.7, 0.85, 0.95][Number(alert.confidence)] ?? 0.7,
    suppressed: alert.confidence === '0',
  });
}

const alertOf = (read: (name: string) => string): Alert => ({
  ruleId: read('alertRef') || read('pluginid'),
  title: read('alert') || read('name'),
  risk: read('riskcode'),
  confidence: read('confidence'),
  cwe: read('cweid'),
  description: read('desc'),
  solution: read('solution'),
  reference: read('reference'),
});

/** What it writes where the target did not answer. */
const noSite = 'the report names no site: the target was not reached, or nothing of it was asked';

export const zapJson: Format = {
  name: 'zap-json',
  label: 'ZAP JSON (traditional and plus)',
  detection: '"site" with "alerts"',
  detect: (beginning) =>
    /^\s*\{/.test(beginning) &&
    beginning.includes('"site"') &&
    (beginning.includes('"alerts"') || /"@programName"\s*:\s*"ZAP"/.test(beginning)),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['site'] === undefined) throw unfit('file', 'is no report of ZAP');
    facts.tool = 'ZAP';
    facts.version = str(report['@version']);
    const sites = Array.isArray(report['site']) ? list(report['site']) : [report['site']];
    const names = new Set(sites.flatMap((site) => siteOf(str(obj(site)['@name'])) ?? []));
    facts.looked = { by: 'site', names };
    if (!sites.some((site) => str(obj(site)['@name']) !== '' || Array.isArray(obj(site)['alerts'])))
      yield fault(noSite);
    for (const [index, site] of sites.entries())
      for (const one of list(obj(site)['alerts']).map(obj)) {
        const alert = alertOf((name) => str(one[name]));
        const instances = list(one['instances']).map(obj);
        if (instances.length === 0) yield unread('has no instance', `/site/${index}`);
        for (const instance of instances) {
          names.add(siteOf(str(instance['uri'])) ?? '');
          yield alertRecord(alert, (name) => str(instance[name]));
        }
      }
  },
};

export const zapXml: Format = {
  name: 'zap-xml',
  label: 'ZAP XML',
  detection: 'the root OWASPZAPReport',
  detect: (beginning) => /<OWASPZAPReport[\s>]/.test(beginning),
  async *read(file, facts) {
    if (!/<OWASPZAPReport[\s>]/.test(await readBeginning(file))) throw unfit('file', 'is no XML report of ZAP');
    facts.tool = 'ZAP';
    const names = new Set<string>();
    facts.looked = { by: 'site', names };
    for await (const [item, ancestors] of readXml(file, (name) => name === 'alertitem' || name === 'site', ['site'])) {
      const site = item.name === 'site' ? item : ancestors.find(({ name }) => name === 'site');
      names.add(siteOf(site?.attributes['name'] ?? '') ?? '');
      facts.version = ancestors[0]?.attributes['version'] ?? facts.version;
      if (item.name === 'site') continue;
      const alert = alertOf((name) => childText(item, name));
      const [instances] = childrenOf(item, 'instances');
      const all = childrenOf(instances, 'instance');
      if (all.length === 0) yield unread('has no instance', alert.ruleId);
      for (const instance of all) {
        names.add(siteOf(childText(instance, 'uri')) ?? '');
        yield alertRecord(alert, (name) => childText(instance, name));
      }
    }
    if (names.size === 0) yield fault(noSite);
  },
};

function nucleiRecord(one: Json): Item {
  const info = obj(one['info']);
  const classification = obj(info['classification']);
  const template = str(one['template-id']);
  const matcher = str(one['matcher-name']) || str(one['extractor-name']);
  const parameter = str(one['fuzzing_parameter']);
  const name = str(info['name']) || template;
  return record({
    title: matcher === '' ? name : `${name} (${matcher})`,
    description: str(info['description']),
    ...readSeverity(info['severity'], { score: num(classification['cvss-score']) }),
    cwes: cwesOf(texts(classification['cwe-id'])),
    vulnIds: texts(classification['cve-id']),
    cvss: readCvss(str(classification['cvss-metrics']) || null, num(classification['cvss-score'])),
    source: 'dast',
    ruleId: template,
    location: {
      kind: 'web',
      url: str(one['matched-at']) || str(one['url']) || str(one['host']),
      method: str(one['fuzzing_method']),
      ...(matcher === '' ? {} : { matcher }),
      ...(parameter === '' ? {} : { param: parameter }),
    },
    fix: { state: 'unknown', text: str(info['remediation']) },
    references: texts(info['reference']),
    tags: Array.isArray(info['tags']) ? texts(info['tags']) : str(info['tags']).split(',').filter(Boolean),
    evidence: ['request', 'response', 'curl-command', 'extracted-results']
      .filter((part) => one[part] !== undefined)
      .map((part) => ({
        [part]: Array.isArray(one[part]) ? texts(one[part]).slice(0, 20) : str(one[part]).slice(0, 4000),
      })),
    quality: 0.9,
    secrets: [...secretsOfMeta(one['meta'])],
  });
}

/** The values of variables that a template has tried, such as the password of a default login. */
function* secretsOfMeta(meta: unknown): Generator<string> {
  for (const [name, value] of Object.entries(obj(meta)))
    if (isSecretName.test(name)) for (const one of Array.isArray(value) ? texts(value) : [str(value)]) yield one;
}

const noHost =
  'the list is empty: nothing shows that a host was asked (with -matcher-status it lists what did not match)';

export const nuclei: Format = {
  name: 'nuclei',
  label: 'Nuclei JSONL (and its JSON list)',
  detection: '"template-id" and "info"',
  detect: (beginning) => beginning.includes('"template-id"') && beginning.includes('"info"'),
  async *read(file, facts) {
    facts.tool = 'Nuclei';
    const names = new Set<string>();
    facts.looked = { by: 'host', names, isOfResults: true };
    const take = (value: unknown, place: string): Item | Dropped => {
      const one = obj(value);
      if (str(one['template-id']) === '') return unread('has no template-id', place);
      const host = str(one['matched-at']) || str(one['url']) || str(one['host']);
      if (str(one['error']) !== '') return fault(`${host} (${str(one['template-id'])}): ${str(one['error'])}`);
      names.add(hostOf(host) ?? '');
      return one['matcher-status'] === false ? noFinding('did not match', place) : nucleiRecord(one);
    };
    if (/^\s*\[/.test(await readBeginning(file, 64))) {
      const all = list(await readJson(file));
      if (all.length === 0) yield fault(noHost);
      for (const [index, one] of all.entries()) yield take(one, `/${index}`);
      return;
    }
    for await (const [number, text] of readLines(file)) yield take(parseJson(text, `Line ${number}`), `line ${number}`);
  },
};

/** The value at a dotted path, for mapping profiles. */
export const dotted = (value: unknown, path: string): unknown =>
  path === '' ? value : at(value, ...path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)));
