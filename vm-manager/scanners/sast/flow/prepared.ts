// A language table with its rows in the form in which they are asked.
import { bitsOf, Lookup, type Check, type Harm, type Sink, type Table } from '../tables/table.js';

export interface Prepared extends Table {
  readonly sourceOf: Lookup<string>;
  readonly sinkOf: Lookup<Sink>;
  readonly cureOf: Lookup<number>;
  readonly typeOf: Lookup<string>;
  /** What parameters are by their names: a declared type says less. */
  readonly paramKinds: ReadonlySet<string>;
  readonly callChecks: Lookup<Check>;
  readonly entryChecks: ReadonlyMap<string, readonly Check[]>;
  readonly assignedOf: Lookup<Harm>;
  readonly guardOf: Lookup<number>;
}

function byEntry(checks: readonly Check[]): ReadonlyMap<string, readonly Check[]> {
  const all = new Map<string, Check[]>();
  for (const check of checks) {
    if (check.entry === undefined) continue;
    for (const one of check.entry.split(' ')) all.set(one, [...(all.get(one) ?? []), check]);
  }
  return all;
}

/** A row may stand for several names, with a blank between them; `new X` is one name. */
const namesOf = (names: string): string[] =>
  names
    .replaceAll(/(?<![.\w])new /g, 'new_')
    .split(' ')
    .map((one) => one.replace(/^new_/, 'new '))
    .filter((one) => one !== '');
const expanded = <Row>(rows: readonly (readonly [string, Row])[]): [string, Row][] =>
  rows.flatMap(([names, row]) => namesOf(names).map((one): [string, Row] => [one, row]));

export function prepare(table: Table): Prepared {
  return {
    ...table,
    sourceOf: new Lookup(expanded(Object.entries(table.sources))),
    sinkOf: new Lookup(expanded(table.sinks.map((sink) => [sink.call, sink] as const))),
    cureOf: new Lookup(expanded(Object.entries(table.cures).map(([call, of]) => [call, bitsOf(of)] as const))),
    paramKinds: new Set(Object.values(table.params ?? {})),
    typeOf: new Lookup(expanded(Object.entries(table.types))),
    callChecks: new Lookup(
      expanded(table.checks.flatMap((check) => (check.call === undefined ? [] : [[check.call, check] as const]))),
    ),
    entryChecks: byEntry(table.checks),
    assignedOf: new Lookup(expanded(Object.entries(table.assigned ?? {}))),
    guardOf: new Lookup(expanded(Object.entries(table.guards ?? {}).map(([call, of]) => [call, bitsOf(of)] as const))),
  };
}
