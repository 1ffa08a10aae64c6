// An advisory of OSV as the tables keep it (https://ossf.github.io/osv-schema/): what is matched, and what is shown.
import { packageOf } from '../components/purl.js';
import { readCvss } from '../findings/cvss.js';
import type { CvssValue } from '../findings/fields.js';
import { at, cwesOf, list, moment, obj, str, type Json } from '../imports/normalize.js';
import { cut } from '../imports/record.js';
import { readSeverity, severityOfScore, type SeverityReading } from '../imports/severity/read.js';

/** `introduced`, `fixed`, `last_affected` or `limit`, and a version. */
export type RangeEvent = readonly [kind: string, version: string];
export interface Range {
  readonly type: string;
  readonly events: readonly RangeEvent[];
}
export interface Affected {
  readonly ecosystem: string;
  /** Of a distribution: `12` of Debian:12; empty: every one. */
  readonly release: string;
  readonly package: string;
  readonly ranges: readonly Range[];
  readonly versions: readonly string[];
}
export interface AdvisoryFacts extends SeverityReading {
  readonly summary: string;
  readonly details: string;
  readonly cvss: CvssValue | null;
  readonly cwes: readonly number[];
  readonly references: readonly string[];
}
export interface Advisory {
  readonly id: string;
  readonly modified: Date;
  readonly withdrawn: Date | null;
  readonly aliases: readonly string[];
  readonly facts: AdvisoryFacts;
  readonly affected: readonly Affected[];
}

const idForm = /^[A-Za-z][A-Za-z0-9._:-]{2,99}$/;
const [affectedMax, rangesMax, eventsMax, versionsMax, aliasesMax] = [5000, 200, 2000, 20_000, 50];
const eventKinds = ['introduced', 'fixed', 'last_affected', 'limit'];
const cvssOrder = ['CVSS_V4', 'CVSS_V3', 'CVSS_V2'];

function readRange(value: unknown): Range {
  const events = list(obj(value)['events'])
    .slice(0, eventsMax)
    .flatMap((event) => Object.entries(obj(event)))
    .flatMap(([kind, version]) =>
      eventKinds.includes(kind) && typeof version === 'string' ? [[kind, cut(version, 300)] as const] : [],
    );
  return { type: cut(str(obj(value)['type']).toUpperCase(), 20), events };
}

function readAffected(value: unknown): Affected | null {
  const entry = obj(value);
  const [ecosystem, name] = [str(at(entry, 'package', 'ecosystem')), str(at(entry, 'package', 'name'))];
  if (ecosystem === '' || name === '') return null;
  return {
    ecosystem: cut(ecosystem, 100),
    release: cut(ecosystem.split(':').slice(1).join(':'), 100),
    package: packageOf(ecosystem, name),
    ranges: list(entry['ranges']).slice(0, rangesMax).map(readRange),
    versions: list(entry['versions'])
      .slice(0, versionsMax)
      .map(str)
      .filter(Boolean)
      .map((one) => cut(one, 300)),
  };
}

/** The score that the newest CVSS gives; advisories carry it once for all, or with each package. */
function cvssOf(record: Json): CvssValue | null {
  const all = [record, ...list(record['affected']).map(obj)].flatMap((one) => list(one['severity']).map(obj));
  const ordered = [...all].sort(
    (left, right) => cvssOrder.indexOf(str(left['type'])) - cvssOrder.indexOf(str(right['type'])),
  );
  return ordered.map((one) => readCvss(str(one['score']) || null, null)).find((found) => found !== null) ?? null;
}

function severityOf(record: Json, id: string, cvss: CvssValue | null): SeverityReading {
  if (cvss !== null) return { severity: severityOfScore(cvss.score) };
  if (id.startsWith('MAL-')) return { severity: 'critical' }; // the package itself is an attack
  const words = [record, ...list(record['affected']).map(obj)].flatMap((one) => [
    at(one, 'database_specific', 'severity'),
    at(one, 'ecosystem_specific', 'severity'),
  ]);
  // what nobody has judged is to be looked at
  return readSeverity(
    words.find((word) => word !== undefined && word !== null && word !== ''),
    { ifAbsent: 'medium' },
  );
}

/** A text that says why it is none, or the advisory. */
export function readAdvisory(value: unknown): Advisory | string {
  const record = obj(value);
  const id = str(record['id']);
  if (!idForm.test(id)) return 'has no id of an advisory';
  const modified = moment(record['modified']);
  if (modified === null) return 'does not say when it was modified';
  const given = list(record['affected']);
  if (given.length > affectedMax) return `names more than ${affectedMax} packages`;
  const affected = given.map(readAffected).filter((one) => one !== null);
  const withdrawn = moment(record['withdrawn']);
  if (affected.length === 0 && withdrawn === null) return 'affects no package of an ecosystem';
  const cvss = cvssOf(record);
  return {
    id,
    modified,
    withdrawn,
    aliases: list(record['aliases'])
      .map(str)
      .filter((alias) => idForm.test(alias))
      .slice(0, aliasesMax),
    facts: {
      summary: cut(str(record['summary']), 500),
      details: cut(str(record['details']), 20_000),
      cvss,
      ...severityOf(record, id, cvss),
      cwes: cwesOf(list(at(record, 'database_specific', 'cwe_ids'))).slice(0, 20),
      references: list(record['references'])
        .map((one) => cut(str(obj(one)['url']), 2000))
        .filter(Boolean)
        .slice(0, 50),
    },
    affected,
  };
}
