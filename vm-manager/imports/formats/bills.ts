// Bills of material: CycloneDX 1.2 to 1.6, with vulnerabilities where they have them; SPDX 2.2 and 2.3, which name
// components and no findings. Their components go into the inventory.
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
import { at, cwesOf, list, num, obj, severityWord, str, texts, vulnIdsOf, type Json } from '../normalize.js';
import { componentsMax, listCyclonedx, listSpdxJson, SpdxTags } from '../../components/bills.js';
import { record, type Item, type ReportFacts } from '../record.js';
import { readJson, readLines } from '../reading/report-file.js';
import { readXmlBill } from './xml-bill.js';
import type { Format } from './format.js';

const methods = ['CVSSv4', 'CVSSv31', 'CVSSv3', 'CVSSv2', 'OWASP', 'SSVC', 'other'];

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

/** Components by reference, those within others too. */
function componentsOf(report: Json): Map<string, Component> {
  const found = new Map<string, Component>();
  const waiting: unknown[] = [at(report, 'metadata', 'component'), ...list(report['components'])];
  for (let next = waiting.pop(); next !== undefined && found.size < componentsMax; next = waiting.pop()) {
    const one = obj(next);
    const group = str(one['group']);
    const component = {
      name: group === '' ? str(one['name']) : `${group}/${str(one['name'])}`,
      version: str(one['version']),
      purl: str(one['purl']),
    };
    for (const key of [str(one['bom-ref']), component.purl]) if (key !== '') found.set(key, component);
    for (const part of list(one['components'])) waiting.push(part);
  }
  return found;
}

const resolved = new Set(['resolved', 'resolved_with_pedigree', 'false_positive', 'not_affected']);

function* readVulnerability(one: Json, components: ReadonlyMap<string, Component>, place: string): Generator<Item> {
  const id = str(one['id']);
  const ratings = list(one['ratings'])
    .map(obj)
    .sort((left, right) => methods.indexOf(str(left['method'])) - methods.indexOf(str(right['method'])));
  const cvss = ratings
    .map((rating) =>
      readCvss(str(rating['vector']) || null, str(rating['method']).startsWith('CVSS') ? num(rating['score']) : null),
    )
    .find((found) => found !== null);
  const word = ratings.map((rating) => str(rating['severity'])).find((severity) => severity !== '');
  const state = str(at(one, 'analysis', 'state'));
  const affects = list(one['affects']).map((affected) => str(obj(affected)['ref']));
  for (const ref of affects.length === 0 ? [''] : affects) {
    const component = components.get(ref);
    yield record({
      title:
        id === ''
          ? str(one['description']).slice(0, 200)
          : `${id}${component === undefined ? '' : ` in ${component.name}`}`,
      description: [str(one['description']), str(one['detail'])].filter(Boolean).join('\n\n'),
      severity:
        word === undefined
          ? severityWord(cvss === undefined || cvss === null ? 'unknown' : bandOf(cvss.score))
          : severityWord(word),
      cwes: cwesOf(list(one['cwes']), true),
      vulnIds: [id, ...list(one['references']).map((reference) => str(obj(reference)['id']))].filter(
        (alias) => alias !== '',
      ),
      cvss: cvss ?? null,
      source: 'sca',
      ruleId: id,
      location: {
        kind: 'package',
        name: component?.name ?? (ref || 'unknown'),
        ...(component === undefined ? {} : { version: component.version }),
        ...(component === undefined || component.purl === '' ? {} : { purl: component.purl }),
      },
      fix: {
        state: str(one['recommendation']) === '' ? 'unknown' : 'fixed_available',
        text: str(one['recommendation']) || str(one['workaround']),
      },
      references: [
        ...list(one['advisories']).map((advisory) => str(obj(advisory)['url'])),
        str(at(one, 'source', 'url')),
      ],
      quality: 0.8,
      suppressed: resolved.has(state),
      extra: { analysis: one['analysis'] ?? null, place },
    });
  }
}

const bandOf = (score: number): string =>
  score >= 9 ? 'critical' : score >= 7 ? 'high' : score >= 4 ? 'medium' : 'low';

export const cyclonedx: Format = {
  name: 'cyclonedx',
  label: 'CycloneDX 1.2 to 1.6, JSON',
  detection: '"bomFormat": "CycloneDX"',
  detect: (beginning) => /"bomFormat"\s*:\s*"CycloneDX"/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['bomFormat'] !== 'CycloneDX') throw unfit('file', 'is no CycloneDX document');
    yield* readBill(report, facts);
  },
};

/** A CycloneDX document in the members of its JSON form. */
function* readBill(report: Json, facts: ReportFacts): Generator<Item> {
  facts.tool =
    str(at(report, 'metadata', 'tools', 0, 'name')) ||
    str(at(report, 'metadata', 'tools', 'components', 0, 'name')) ||
    'CycloneDX';
  facts.components = listCyclonedx(report);
  const components = componentsOf(report);
  for (const [index, one] of list(report['vulnerabilities']).entries())
    yield* readVulnerability(obj(one), components, `/vulnerabilities/${index}`);
}

export const cyclonedxXml: Format = {
  name: 'cyclonedx-xml',
  label: 'CycloneDX 1.2 to 1.6, XML',
  detection: 'root element <bom> of cyclonedx.org',
  detect: (beginning) => /^\s*<[^]*xmlns(?::\w+)?\s*=\s*["']http:\/\/cyclonedx\.org\/schema\/bom\//.test(beginning),
  async *read(file, facts) {
    const report = await readXmlBill(file);
    if (report === null) throw unfit('file', 'is no CycloneDX document');
    yield* readBill(report, facts);
  },
};

export const openVex: Format = {
  name: 'openvex',
  label: 'OpenVEX',
  detection: '"@context" of openvex',
  detect: (beginning) => /"@context"\s*:\s*"https:\/\/openvex\.dev\//.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['statements'])) throw unfit('file', 'is no OpenVEX document');
    facts.tool = 'OpenVEX';
    facts.complete = false; // it speaks of what it names, and says nothing about the rest
    for (const [index, value] of list(report['statements']).entries()) {
      const statement = obj(value);
      const vulnerability = statement['vulnerability'];
      const id = str(at(vulnerability, 'name')) || str(vulnerability);
      const status = str(statement['status']);
      if (status === 'fixed') yield { dropped: 'is fixed', at: `/statements/${index}` };
      else
        for (const product of list(statement['products'])) {
          const name = str(at(product, '@id')) || str(product);
          yield record({
            title: `${id} in ${name}`,
            description: [str(statement['impact_statement']), str(statement['action_statement'])]
              .filter(Boolean)
              .join('\n\n'),
            severity: 'medium',
            vulnIds: vulnIdsOf([id]).length > 0 ? vulnIdsOf([id]) : [id],
            source: 'sca',
            ruleId: id,
            location: { kind: 'package', name, ...(name.startsWith('pkg:') ? { purl: name } : {}) },
            suppressed: status === 'not_affected',
            extra: { status, justification: str(statement['justification']) },
          });
        }
    }
  },
};

/** Product ids of a CSAF tree and the packages that they stand for. */
function productsOf(tree: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const waiting: unknown[] = [
    ...list(at(tree, 'branches')),
    ...list(at(tree, 'full_product_names')).map((product) => ({ product })),
  ];
  for (let next = waiting.pop(); next !== undefined && found.size < componentsMax; next = waiting.pop()) {
    const product = at(next, 'product');
    const id = str(at(product, 'product_id'));
    if (id !== '') found.set(id, str(at(product, 'product_identification_helper', 'purl')) || str(at(product, 'name')));
    for (const branch of list(at(next, 'branches'))) waiting.push(branch);
  }
  return found;
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
    facts.complete = false;
    const products = productsOf(report['product_tree']);
    for (const [index, value] of list(report['vulnerabilities']).entries()) {
      const one = obj(value);
      const id = str(one['cve']) || str(at(one, 'ids', 0, 'text'));
      const score = obj(at(one, 'scores', 0, 'cvss_v3'));
      const affected = texts(at(one, 'product_status', 'known_affected'));
      const pending = texts(at(one, 'product_status', 'under_investigation'));
      const not = texts(at(one, 'product_status', 'known_not_affected'));
      if (affected.length + pending.length + not.length === 0)
        yield { dropped: 'affects nothing', at: `/vulnerabilities/${index}` };
      for (const product of [...affected, ...pending, ...not]) {
        const name = products.get(product) ?? product;
        yield record({
          title: str(one['title']) || `${id} in ${name}`,
          description: str(at(one, 'notes', 0, 'text')),
          severity: severityWord(score['baseSeverity'], 'medium'),
          cwes: cwesOf([at(one, 'cwe', 'id')]),
          vulnIds: [id],
          cvss: readCvss(str(score['vectorString']) || null, num(score['baseScore'])),
          source: 'sca',
          ruleId: id,
          location: { kind: 'package', name, ...(name.startsWith('pkg:') ? { purl: name } : {}) },
          fix: { state: 'unknown', text: str(at(one, 'remediations', 0, 'details')) },
          suppressed: not.includes(product),
        });
      }
    }
  },
};

export const spdx: Format = {
  name: 'spdx',
  label: 'SPDX 2.2 and 2.3, JSON',
  detection: '"spdxVersion"',
  detect: (beginning) => beginning.includes('"spdxVersion"'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['packages'])) throw unfit('file', 'is no SPDX document with packages');
    facts.tool = 'SPDX';
    facts.complete = false;
    facts.components = listSpdxJson(report);
    // of one package each: it is in the inventory, and nothing is to be mended
    for (const [index] of list(report['packages']).entries())
      yield { dropped: 'is a component and no finding', at: `/packages/${index}` };
  },
};

export const spdxTagValue: Format = {
  name: 'spdx-tag-value',
  label: 'SPDX 2.2 and 2.3, tag-value',
  detection: 'a line "SPDXVersion: SPDX-2."',
  detect: (beginning) => /^SPDXVersion:\s*SPDX-2\./m.test(beginning),
  async *read(file, facts) {
    facts.tool = 'SPDX';
    facts.complete = false;
    const tags = new SpdxTags();
    let isKnown = false;
    for await (const [number, line] of readLines(file)) {
      isKnown ||= /^SPDXVersion:\s*SPDX-2\./.test(line);
      tags.take(line);
      if (isKnown && line.startsWith('PackageName:'))
        yield { dropped: 'is a component and no finding', at: `line ${number}` };
    }
    if (!isKnown) throw unfit('file', 'is no SPDX document', 'it has to say SPDXVersion: SPDX-2.2 or SPDX-2.3');
    facts.components = tags.end();
  },
};
