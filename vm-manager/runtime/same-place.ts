// Which findings are of the place that an event names: those of the operation (scans of running applications), and
// those of the file (scans of code), where the weakness is of the same kind.
import type { FindingRow } from '../findings/fields.js';
import { json, type Fragment, type Tx } from '../database.js';
import { escapeLike } from '#http-kit';

/** Weaknesses that tools tell apart, and that one proof shows all the same. */
const families: readonly (readonly number[])[] = [
  [77, 78, 88],
  [89, 564, 943],
  [22, 23, 36, 73, 98],
  [94, 95, 96],
];
export const kinOf = (cwe: number): readonly number[] => families.find((family) => family.includes(cwe)) ?? [cwe];

/** Findings of one weakness in one application that are looked at. */
const candidatesMax = 500;
/** Tools name the line of the call, of its statement, or of its argument. */
const linesApart = 3;

interface Candidate {
  readonly id: number;
  readonly location: string;
}

const variable = /^(?:\{.*\}|:.+|\*|\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,})$/i;

function partsOf(path: string): string[] {
  const parts = (path.split(/[?#]/, 1)[0] ?? '').split('/').filter((part) => part !== '');
  return parts.map((part) => (variable.test(part) ? '{}' : part));
}

/** Whether both are of one operation: parts that are numbers, identities or names of parameters count as the same. */
export function isSameOperation(location: string, method: string, route: string): boolean {
  const [, named = '', address = ''] = /^(?:([A-Z]{3,10}) )?(\S+)/.exec(location) ?? [];
  const path = /^https?:\/\/[^/?#]*([^?#]*)/i.exec(address)?.[1] ?? (address.startsWith('/') ? address : null);
  if (path === null || (named !== '' && method !== '' && named !== method.toUpperCase())) return false;
  const [left, right] = [partsOf(path), partsOf(route)];
  return (
    left.length === right.length &&
    left.every((part, index) => part === right[index] || part === '{}' || right[index] === '{}')
  );
}

/** How many lines lie between; null where the location is of another file. */
export function linesBetween(location: string, file: string, line: number | null): number | null {
  const [, path = '', written] = /^(.+?)(?::(\d{1,7}))?(?::\d{1,7})?(?:-\d+)?$/.exec(location) ?? [];
  if (path !== file && !path.endsWith(`/${file}`) && !file.endsWith(`/${path}`)) return null;
  if (written === undefined || line === null) return 0;
  const apart = Math.abs(Number(written) - line);
  return apart <= linesApart ? apart : null;
}

function ofWeakness(tx: Tx, applicationId: number, cwe: number): Fragment {
  const anyOf = kinOf(cwe)
    .map((one): Fragment => tx`cwes @> ${json(tx, [one])}`)
    .reduce((left, right) => tx`${left} or ${right}`);
  return tx`application_id = ${applicationId} and (${anyOf})`;
}

async function locked(tx: Tx, id: number | undefined): Promise<FindingRow[]> {
  return id === undefined ? [] : await tx<FindingRow[]>`select * from vm_findings where id = ${id} for update`;
}

export interface EventPlace {
  readonly cwe: number;
  readonly method: string;
  readonly route: string;
  readonly file: string;
  readonly line: number | null;
}

/** At most two: the finding of the operation, and the one of the line. Open ones and grave ones first. */
export async function findingsAt(tx: Tx, applicationId: number, event: EventPlace): Promise<FindingRow[]> {
  const { cwe, method, route, file, line } = event;
  const of = ofWeakness(tx, applicationId, cwe);
  const found: (number | undefined)[] = [];
  if (route !== '') {
    const rows = await tx<Candidate[]>`
      select id, location from vm_findings where ${of} and location ~ '^([A-Z]+ )?(https?:/)?/'
      order by is_open desc, priority_score desc, id limit ${candidatesMax}`;
    found.push(rows.find(({ location }) => isSameOperation(location, method, route))?.id);
  }
  if (file !== '') {
    const name = file.split('/').at(-1) ?? file;
    const rows = await tx<Candidate[]>`
      select id, location from vm_findings where ${of} and location like ${`%${escapeLike(name)}%`}
      order by is_open desc, priority_score desc, id limit ${candidatesMax}`;
    const near = rows
      .map((row) => ({ id: row.id, apart: linesBetween(row.location, file, line) }))
      .filter(({ apart }) => apart !== null)
      .sort((left, right) => (left.apart ?? 0) - (right.apart ?? 0));
    found.push(near[0]?.id);
  }
  const rows: FindingRow[] = [];
  for (const id of new Set(found)) rows.push(...(await locked(tx, id)));
  return rows;
}
