// Bills of material: CycloneDX 1.2 to 1.6, with vulnerabilities where they have them; SPDX 2.2 and 2.3, which name
// components and no findings. Their components go into the inventory.
import { unfit } from '../../kit/endpoint.js';
import { readCvss } from '../../findings/cvss.js';
import { at, cwesOf, list, num, obj, str, type Json } from '../normalize.js';
import { componentsMax, listCyclonedx, listSpdxJson, SpdxTags } from '../../components/bills.js';
import { fault, noFinding, record, unread, type Item, type ReportFacts } from '../record.js';
import { readJson, readLines } from '../reading/report-file.js';
import { readXmlBill } from './xml-bill.js';
import { directoryOf, imageOf, subjectOf } from '../run/subject.js';
import { readSeverity } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import type { Format } from './format.js';

const methods = ['CVSSv4', 'CVSSv31', 'CVSSv3', 'CVSSv2', 'OWASP', 'SSVC', 'other'];

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

/** Components and services by reference, those within others too. */
function componentsOf(report: Json): Map<string, Component> {
  const found = new Map<string, Component>();
  const waiting: unknown[] = [
    at(report, 'metadata', 'component'),
    ...list(report['components']),
    ...list(report['services']),
  ];
  for (let next = waiting.pop(); next !== undefined && found.size < componentsMax; next = waiting.pop()) {
    const one = obj(next);
    const group = str(one['group']);
    const component = {
      name: group === '' ? str(one['name']) : `${group}/${str(one['name'])}`,
      version: str(one['version']),
      purl: str(one['purl']),
    };
    for (const key of [str(one['bom-ref']), component.purl]) if (key !== '') found.set(key, component);
    for (const part of [...list(one['components']), ...list(one['services'])]) waiting.push(part);
  }
  return found;
}

/** Of `urn:cdx:SERIAL/VERSION#REF` (BOM-Link) the reference into the document, which is taken for this one. */
function refOf(affected: unknown): string {
  const ref = str(obj(affected)['ref']);
  const linked = /^urn:cdx:[^#]*#(.+)$/.exec(ref)?.[1];
  if (linked === undefined) return ref;
  try {
    return decodeURIComponent(linked);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return linked;
  }
}

/** The better the method, the earlier; one that is not named comes last. */
function rankOf(rating: Json): number {
  const rank = methods.indexOf(str(rating['method']));
  return rank === -1 ? methods.length : rank;
}
const saysNothing = new Set(['', 'unknown']);

const resolved = new Set(['resolved', 'resolved_with_pedigree', 'false_positive', 'not_affected']);

function* readVulnerability(one: Json, components: ReadonlyMap<string, Component>, place: string): Generator<Item> {
  const id = str(one['id']);
  if (id === '' && str(one['description']) === '') return yield unread('has no id', place);
  const ratings = list(one['ratings'])
    .map(obj)
    .sort((left, right) => rankOf(left) - rankOf(right));
  const cvss = ratings
    .map((rating) =>
      readCvss(str(rating['vector']) || null, str(rating['method']).startsWith('CVSS') ? num(rating['score']) : null),
    )
    .find((found) => found !== null);
  const word = ratings
    .map((rating) => str(rating['severity']).toLowerCase())
    .find((severity) => !saysNothing.has(severity));
  const state = str(at(one, 'analysis', 'state'));
  const affects = list(one['affects']).map(refOf);
  for (const ref of affects.length === 0 ? [''] : affects) {
    const component = components.get(ref);
    yield record({
      title:
        id === ''
          ? str(one['description']).slice(0, 200)
          : `${id}${component === undefined ? '' : ` in ${component.name}`}`,
      description: [str(one['description']), str(one['detail'])].filter(Boolean).join('\n\n'),
      ...readSeverity(word, { scale: toolScales.cvss, score: cvss?.score ?? null }),
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
      extra: { analysis: one['analysis'] ?? null },
    });
  }
}

export const cyclonedx: Format = {
  name: 'cyclonedx',
  label: 'CycloneDX 1.2 to 1.6, JSON',
  detection: '"bomFormat": "CycloneDX"',
  detect: (beginning) =>
    /"bomFormat"\s*:\s*"CycloneDX"/.test(beginning) ||
    /"\$schema"\s*:\s*"https?:\/\/cyclonedx\.org\/schema\/bom-/.test(beginning),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['bomFormat'] !== 'CycloneDX') throw unfit('file', 'is no CycloneDX document');
    yield* readBill(report, facts);
  },
};

/** The component that the bill is of, without its version; an image or a directory by its name. */
function subjectOfBill(component: Json): string {
  const [type, name, group] = ['type', 'name', 'group'].map((member) => str(component[member]));
  const whole = [group, name].filter(Boolean).join('/');
  if (type === 'container') return imageOf(whole);
  return type === 'file' || /^[./~\\]|[\\/]/.test(name ?? '') ? directoryOf(whole) : subjectOf([whole]);
}

/** A CycloneDX document in the members of its JSON form. */
function* readBill(report: Json, facts: ReportFacts): Generator<Item> {
  facts.tool =
    str(at(report, 'metadata', 'tools', 0, 'name')) ||
    str(at(report, 'metadata', 'tools', 'components', 0, 'name')) ||
    'CycloneDX';
  // a bill of components alone was not compared with anything
  facts.complete = Array.isArray(report['vulnerabilities']);
  facts.isNoScan = report['vulnerabilities'] === undefined;
  facts.components = listCyclonedx(report);
  facts.subject = subjectOfBill(obj(at(report, 'metadata', 'component')));
  const components = componentsOf(report);
  if (facts.complete && facts.components.length === 0 && list(report['vulnerabilities']).length === 0)
    yield fault('the bill lists no component: none was compared with anything');
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

export const spdx: Format = {
  name: 'spdx',
  label: 'SPDX 2.2 and 2.3, JSON',
  detection: '"spdxVersion"',
  detect: (beginning) => beginning.includes('"spdxVersion"'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (!Array.isArray(report['packages'])) throw unfit('file', 'is no SPDX document with packages');
    facts.tool = 'SPDX';
    [facts.complete, facts.isNoScan] = [false, true];
    facts.components = listSpdxJson(report);
    // of one package each: it is in the inventory, and nothing is to be fixed
    for (const [index] of list(report['packages']).entries())
      yield noFinding('is a component and no finding', `/packages/${index}`);
  },
};

export const spdxTagValue: Format = {
  name: 'spdx-tag-value',
  label: 'SPDX 2.2 and 2.3, tag-value',
  detection: 'a line "SPDXVersion: SPDX-2."',
  detect: (beginning) => /^SPDXVersion:\s*SPDX-2\./m.test(beginning),
  async *read(file, facts) {
    facts.tool = 'SPDX';
    [facts.complete, facts.isNoScan] = [false, true];
    const tags = new SpdxTags();
    let isKnown = false;
    for await (const [number, line] of readLines(file)) {
      isKnown ||= /^SPDXVersion:\s*SPDX-2\./.test(line);
      tags.take(line);
      if (isKnown && line.startsWith('PackageName:'))
        yield noFinding('is a component and no finding', `line ${number}`);
    }
    if (!isKnown) throw unfit('file', 'is no SPDX document', 'it has to say SPDXVersion: SPDX-2.2 or SPDX-2.3');
    facts.components = tags.end();
  },
};
