// Documents that say which products a vulnerability affects: OpenVEX 0.2 and CSAF 2.0 (OASIS).
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
import { at, cwesOf, list, num, obj, str, texts, type Json } from '../normalize.js';
import { componentsMax } from '../../components/bills.js';
import { noFinding, record, unread, type Item, type Location } from '../record.js';
import { readJson } from '../reading/report-file.js';
import { readSeverity } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import type { Format } from './format.js';

/** A package by its purl, or by what the document calls it; `within` is the product that holds it. */
const packageOf = (name: string, within = ''): Location => ({
  kind: 'package',
  name,
  ...(name.startsWith('pkg:') ? { purl: name } : {}),
  ...(within === '' ? {} : { path: within }),
});

/** An id of the document, or what else it calls the thing. */
const nameOf = (value: unknown): string =>
  str(at(value, '@id')) || str(at(value, 'identifiers', 'purl')) || str(at(value, 'name')) || str(value);

/** What is vulnerable is the part of the product, where parts are named. */
const placesOf = (product: unknown): Location[] => {
  const parts = list(at(product, 'subcomponents')).map(nameOf).filter(Boolean);
  const name = nameOf(product);
  return parts.length > 0 ? parts.map((part) => packageOf(part, name)) : name === '' ? [] : [packageOf(name)];
};

function* readStatement(statement: Json, place: string): Generator<Item> {
  const vulnerability = statement['vulnerability'];
  const id = str(at(vulnerability, 'name')) || str(at(vulnerability, '@id')) || str(vulnerability);
  const status = str(statement['status']);
  if (id === '') return yield unread('names no vulnerability', place);
  if (status === 'fixed') return yield noFinding('is fixed', place);
  const locations = list(statement['products']).flatMap(placesOf);
  if (locations.length === 0) yield unread('names no product', place);
  const ids = [str(at(vulnerability, 'name')), ...texts(at(vulnerability, 'aliases'))].filter(Boolean);
  for (const location of locations)
    yield record({
      title: `${id} in ${location.kind === 'package' ? location.name : id}`,
      description: [statement['impact_statement'], statement['action_statement']].map(str).filter(Boolean).join('\n\n'),
      severity: 'medium',
      vulnIds: ids.length > 0 ? ids : [id],
      source: 'sca',
      ruleId: id,
      location,
      suppressed: status === 'not_affected',
      extra: { status, justification: str(statement['justification']) },
    });
}

export const openVex: Format = {
  name: 'openvex',
  label: 'OpenVEX',
  detection: '"@context" of openvex',
  detect: (beginning) => /"@context"\s*:\s*"https:\/\/openvex\.dev\//.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['statements'])) throw unfit('file', 'is no OpenVEX document');
    facts.tool = 'OpenVEX';
    // it speaks of what it names, and says nothing about the rest
    [facts.complete, facts.isPartial, facts.isNoScan] = [false, true, true];
    for (const [index, value] of list(report['statements']).entries())
      yield* readStatement(obj(value), `/statements/${index}`);
  },
};

/** Product ids of a CSAF tree and the packages that they stand for; a relationship is its component (3.2.2.4). */
export function productsOf(tree: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const take = (product: unknown, otherwise = ''): void => {
    const id = str(at(product, 'product_id'));
    const name = str(at(product, 'product_identification_helper', 'purl')) || otherwise || str(at(product, 'name'));
    if (id !== '') found.set(id, name);
  };
  const waiting: unknown[] = [
    ...list(at(tree, 'branches')),
    ...list(at(tree, 'full_product_names')).map((product) => ({ product })),
  ];
  for (let next = waiting.pop(); next !== undefined && found.size < componentsMax; next = waiting.pop()) {
    take(at(next, 'product'));
    for (const branch of list(at(next, 'branches'))) waiting.push(branch);
  }
  for (const relationship of list(at(tree, 'relationships')).slice(0, componentsMax)) {
    const component = found.get(str(at(relationship, 'product_reference'))) ?? '';
    take(at(relationship, 'full_product_name'), component.startsWith('pkg:') ? component : '');
  }
  return found;
}

const affectedBy = ['known_affected', 'first_affected', 'last_affected', 'under_investigation'] as const;

/** Scores name the products that they are of. */
function scoreOf(one: Json, product: string): { readonly word: string; readonly cvss: ReturnType<typeof readCvss> } {
  const score = list(one['scores']).find((given) => texts(at(given, 'products')).includes(product));
  const found = obj(score ?? at(one, 'scores', 0));
  const [third, second] = [obj(found['cvss_v3']), obj(found['cvss_v2'])];
  const read = (given: Json) => readCvss(str(given['vectorString']) || null, num(given['baseScore']));
  const cvss = read(third) ?? read(second);
  return { word: str(third['baseSeverity']), cvss };
}

function* readCsafVulnerability(one: Json, products: ReadonlyMap<string, string>, place: string): Generator<Item> {
  const id = str(one['cve']) || str(at(one, 'ids', 0, 'text'));
  const status = obj(one['product_status']);
  const affected = affectedBy.flatMap((name) => texts(status[name]));
  const not = new Set(texts(status['known_not_affected']));
  const all = [...new Set([...affected, ...not])];
  if (all.length === 0) return yield noFinding('affects nothing', place);
  const notes = list(one['notes']).map(obj);
  const note = notes.find(({ category }) => category === 'description') ?? notes[0];
  for (const product of all) {
    const name = products.get(product) ?? product;
    const { word, cvss } = scoreOf(one, product);
    const remedy = list(one['remediations']).find((given) => texts(at(given, 'product_ids')).includes(product));
    yield record({
      title: str(one['title']) || `${id} in ${name}`,
      description: str(note?.['text']),
      ...readSeverity(word, { scale: toolScales.cvss, ifAbsent: 'medium', score: cvss?.score ?? null }),
      cwes: cwesOf([at(one, 'cwe', 'id')]),
      vulnIds: id === '' ? [] : [id],
      cvss,
      source: 'sca',
      ruleId: id,
      location: packageOf(name),
      fix: { state: 'unknown', text: str(at(remedy ?? at(one, 'remediations', 0), 'details')) },
      suppressed: not.has(product) && !affected.includes(product),
    });
  }
}

export const csaf: Format = {
  name: 'csaf',
  label: 'CSAF 2.0',
  detection: '"csaf_version"',
  detect: (beginning) => beginning.includes('"csaf_version"'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (str(at(report, 'document', 'csaf_version')) === '') throw unfit('file', 'is no CSAF document');
    facts.tool = 'CSAF';
    [facts.complete, facts.isPartial, facts.isNoScan] = [false, true, true];
    const products = productsOf(report['product_tree']);
    for (const [index, value] of list(report['vulnerabilities']).entries())
      yield* readCsafVulnerability(obj(value), products, `/vulnerabilities/${index}`);
  },
};
