// Documents that state how products are affected, as one list: OpenVEX 0.2, CSAF 2.0 (profile VEX) and CycloneDX
// (vulnerabilities with an analysis). What cannot be taken is counted with its place.
import { isDayOfCalendar } from '#http-kit';
import { unfit } from '../kit/endpoint.js';
import { at, list, moment, obj, str, texts, type Json } from '../imports/normalize.js';
import { productsOf } from '../imports/formats/vex.js';
import { cut } from '../imports/record.js';
import type { Justification } from '../findings/words.js';
import type { VexFormat } from './documents.js';
import type { VexStatus } from './statements.js';

export interface Stated {
  /** CVE first, in capitals; its other names follow. */
  readonly ids: readonly string[];
  /** A purl, or what the document calls it; empty: the application as a whole. */
  readonly product: string;
  /** What holds the product, where the document says so. */
  readonly within: string;
  readonly status: VexStatus;
  readonly justification: Justification | null;
  readonly statement: string;
  readonly at: Date | null;
}

export interface VexDocument {
  readonly format: VexFormat;
  readonly id: string;
  readonly author: string;
  readonly statements: readonly Stated[];
  readonly unread: readonly { readonly at: string; readonly reason: string }[];
}

export const statementsMax = 20_000;
const unreadMax = 500;
const textMax = 2000;
const dayMs = 86_400_000;

const statuses: Readonly<Record<string, VexStatus>> = {
  affected: 'affected',
  not_affected: 'not_affected',
  fixed: 'fixed',
  under_investigation: 'under_investigation',
  // CSAF 2.0, 3.2.3.9
  known_affected: 'affected',
  first_affected: 'affected',
  last_affected: 'affected',
  known_not_affected: 'not_affected',
  first_fixed: 'fixed',
  // CycloneDX 1.6, analysis.state
  exploitable: 'affected',
  false_positive: 'not_affected',
  resolved: 'fixed',
  resolved_with_pedigree: 'fixed',
  in_triage: 'under_investigation',
};

/** Words of OpenVEX and CSAF as they are; those of CycloneDX by what they mean. */
const reasons: Readonly<Record<string, Justification>> = {
  component_not_present: 'component_not_present',
  vulnerable_code_not_present: 'vulnerable_code_not_present',
  vulnerable_code_not_in_execute_path: 'vulnerable_code_not_in_execute_path',
  vulnerable_code_cannot_be_controlled_by_adversary: 'vulnerable_code_cannot_be_controlled_by_adversary',
  inline_mitigations_already_exist: 'inline_mitigations_already_exist',
  code_not_present: 'vulnerable_code_not_present',
  code_not_reachable: 'vulnerable_code_not_in_execute_path',
  requires_configuration: 'vulnerable_code_cannot_be_controlled_by_adversary',
  requires_dependency: 'vulnerable_code_cannot_be_controlled_by_adversary',
  requires_environment: 'vulnerable_code_cannot_be_controlled_by_adversary',
  protected_by_compiler: 'inline_mitigations_already_exist',
  protected_at_runtime: 'inline_mitigations_already_exist',
  protected_at_perimeter: 'inline_mitigations_already_exist',
  protected_by_mitigating_control: 'inline_mitigations_already_exist',
};

class Reader {
  readonly statements: Stated[] = [];
  readonly unread: { at: string; reason: string }[] = [];

  skip(place: string, reason: string): void {
    if (this.unread.length < unreadMax) this.unread.push({ at: place, reason });
  }
  /**
   * When it was stated: by the first of these that says anything. undefined, and reported: no moment, or one that
   * has not come yet, which would stand above everything that is said from now on.
   */
  when(...given: readonly (readonly [place: string, value: unknown])[]): Date | null | undefined {
    for (const [place, value] of given) {
      const text = str(value);
      if (text === '') continue;
      const at = isDayOfCalendar(text) ? moment(text) : null;
      if (at !== null && at.getTime() <= Date.now() + dayMs) return at;
      this.skip(place, at === null ? 'is no moment, such as 2026-01-31T12:00:00Z' : 'lies in the future');
      return undefined;
    }
    return null;
  }

  /** One statement of each product. */
  take(
    place: string,
    given: Omit<Stated, 'product' | 'within'>,
    products: readonly (readonly [string, string])[],
  ): void {
    if (given.ids.length === 0) return this.skip(place, 'names no vulnerability');
    if (products.length === 0) return this.skip(place, 'names no product');
    for (const [product, within] of products) {
      if (this.statements.length >= statementsMax)
        throw unfit('file', `has more than ${statementsMax} statements`, 'send it in parts');
      this.statements.push({ ...given, product: cut(product, 1000), within: cut(within, 1000) });
    }
  }
}

const idsOf = (given: readonly unknown[]): string[] => {
  const all = given.map((one) => cut(str(one).trim().toUpperCase(), 60).trim()).filter((one) => one !== '');
  const isCve = (id: string): number => (id.startsWith('CVE-') ? 0 : 1);
  return [...new Set(all)].sort((one, other) => isCve(one) - isCve(other)).slice(0, 50);
};
const said = (parts: readonly unknown[]): string =>
  cut([...new Set(parts.map((one) => str(one).trim()).filter((one) => one !== ''))].join(' '), textMax);

const nameOf = (value: unknown): string =>
  str(at(value, 'identifiers', 'purl')) || str(at(value, '@id')) || str(at(value, 'name')) || str(value);

function readOpenVex(report: Json, reader: Reader): void {
  for (const [index, value] of list(report['statements']).entries()) {
    const place = `/statements/${index}`;
    const one = obj(value);
    const status = statuses[str(one['status'])];
    if (status === undefined) {
      reader.skip(`${place}/status`, 'is no status of VEX');
      continue;
    }
    const when = reader.when([`${place}/timestamp`, one['timestamp']], ['/timestamp', report['timestamp']]);
    if (when === undefined) continue;
    const vulnerability = one['vulnerability'];
    const products = list(one['products']).flatMap((product) => {
      const [name, parts] = [nameOf(product), list(at(product, 'subcomponents')).map(nameOf)];
      return parts.length > 0 ? parts.map((part) => [part, name] as const) : name === '' ? [] : [[name, ''] as const];
    });
    const ids = idsOf([
      str(at(vulnerability, 'name')) || str(at(vulnerability, '@id')).split('/').at(-1) || str(vulnerability),
      ...list(at(vulnerability, 'aliases')),
    ]);
    reader.take(
      place,
      {
        ids,
        status,
        justification: reasons[str(one['justification'])] ?? null,
        statement: said([one['impact_statement'], one['action_statement'], one['status_notes']]),
        at: when,
      },
      products,
    );
  }
}

/** Rows by each product that they name, once: a supplier's document has ten thousand products for one vulnerability. */
function byProduct(rows: unknown): ReadonlyMap<string, readonly Json[]> {
  const found = new Map<string, Json[]>();
  for (const row of list(rows).map(obj))
    for (const id of new Set(texts(row['product_ids']))) {
      const of = found.get(id);
      if (of === undefined) found.set(id, [row]);
      else of.push(row);
    }
  return found;
}

function readCsaf(report: Json, reader: Reader): void {
  const products = productsOf(report['product_tree']);
  const released = '/document/tracking/current_release_date';
  const when = reader.when([released, at(report, 'document', 'tracking', 'current_release_date')]);
  if (when === undefined)
    throw unfit('file', `says at ${released} what is no moment, or has not come yet`, 'fix it, and send it again');
  for (const [index, value] of list(report['vulnerabilities']).entries()) {
    const one = obj(value);
    const ids = idsOf([one['cve'], ...list(one['ids']).map((id) => at(id, 'text'))]);
    const about = {
      flags: byProduct(one['flags']),
      words: byProduct([...list(one['threats']), ...list(one['remediations'])]),
    };
    for (const [name, given] of Object.entries(obj(one['product_status']))) {
      const status = statuses[name];
      if (status === undefined) continue;
      for (const product of texts(given)) {
        const labels = (about.flags.get(product) ?? []).map((row) => reasons[str(row['label'])]);
        reader.take(
          `/vulnerabilities/${index}/product_status/${name}`,
          {
            ids,
            status,
            justification: labels.find((row) => row !== undefined) ?? null,
            statement: said((about.words.get(product) ?? []).map(({ details }) => details)),
            at: when,
          },
          [[products.get(product) ?? product, '']],
        );
      }
    }
  }
}

function readCycloneDx(report: Json, reader: Reader): void {
  const components = new Map<string, string>();
  const waiting: unknown[] = [at(report, 'metadata', 'component'), ...list(report['components'])];
  for (let next = waiting.pop(); next !== undefined && components.size < 200_000; next = waiting.pop()) {
    const ref = str(at(next, 'bom-ref'));
    if (ref !== '') components.set(ref, str(at(next, 'purl')) || str(at(next, 'name')));
    waiting.push(...list(at(next, 'components')));
  }
  const root = str(at(report, 'metadata', 'component', 'bom-ref'));
  for (const [index, value] of list(report['vulnerabilities']).entries()) {
    const place = `/vulnerabilities/${index}`;
    const one = obj(value);
    const status = statuses[str(at(one, 'analysis', 'state'))];
    if (status === undefined) {
      reader.skip(`${place}/analysis/state`, 'says no state');
      continue;
    }
    const when = reader.when(
      [`${place}/analysis/lastUpdated`, at(one, 'analysis', 'lastUpdated')],
      ['/metadata/timestamp', at(report, 'metadata', 'timestamp')],
    );
    if (when === undefined) continue;
    const refs = list(one['affects'])
      .map((row) => str(at(row, 'ref')))
      .filter((ref) => ref !== '');
    reader.take(
      place,
      {
        ids: idsOf([one['id'], ...list(one['references']).map((row) => at(row, 'id'))]),
        status,
        justification: reasons[str(at(one, 'analysis', 'justification'))] ?? null,
        statement: said([at(one, 'analysis', 'detail')]),
        at: when,
      },
      // the product that the document is of stands for all of it
      refs.map((ref) => [ref === root ? '' : (components.get(ref) ?? (ref.split('#').at(-1) || ref)), ''] as const),
    );
  }
}

/** Throws 422 for what is none of them. */
export function readVex(value: unknown): VexDocument {
  const report = obj(value);
  const reader = new Reader();
  const made = (format: VexFormat, id: unknown, author: unknown): VexDocument => ({
    ...{ format, id: cut(str(id), 500), author: cut(str(author), 200) },
    statements: reader.statements,
    unread: reader.unread,
  });
  if (str(report['@context']).startsWith('https://openvex.dev/') && Array.isArray(report['statements'])) {
    readOpenVex(report, reader);
    return made('openvex', report['@id'], report['author']);
  }
  if (str(at(report, 'document', 'csaf_version')) !== '') {
    readCsaf(report, reader);
    return made('csaf', at(report, 'document', 'tracking', 'id'), at(report, 'document', 'publisher', 'name'));
  }
  if (report['bomFormat'] === 'CycloneDX' && Array.isArray(report['vulnerabilities'])) {
    readCycloneDx(report, reader);
    const author = at(report, 'metadata', 'supplier', 'name') ?? at(report, 'metadata', 'authors', 0, 'name');
    return made('cyclonedx', report['serialNumber'], author);
  }
  throw unfit(
    'file',
    'is neither OpenVEX nor CSAF nor CycloneDX with vulnerabilities',
    'send the JSON as it was published',
  );
}
