// What changed between two schemas, for whoever sends values by the old one (`request`) or reads them by the old one
// (`response`). A request schema that takes less breaks senders; a response schema that says more breaks readers.
import type { JsonSchema } from '#proxy/contract';
import { arrayOf, isObject, objectOf, pointerOf, type JsonObject } from '../document/problem.js';

export type Direction = 'request' | 'response';
export type Note = (kind: 'breaking' | 'compatible', code: string, pointer: string, message: string) => void;

export interface Side {
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

interface Comparison {
  readonly before: Side;
  readonly after: Side;
  readonly direction: Direction;
  readonly note: Note;
  /** Pairs that are being compared: a schema that contains itself is compared once. */
  readonly open: Set<string>;
}

function resolve(schema: unknown, { definitions }: Side): JsonObject | boolean {
  let value = schema;
  for (let hop = 0; hop < 50; hop += 1) {
    if (typeof value === 'boolean') return value;
    if (!isObject(value)) return true;
    const { $ref, ...siblings } = value;
    if (typeof $ref !== 'string') return value;
    if (Object.keys(siblings).length > 0) return value;
    value = definitions[$ref] ?? true;
  }
  return true;
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'nothing';
const typesOf = (schema: JsonObject): readonly unknown[] | null =>
  schema['type'] === undefined ? null : [schema['type']].flat();

/** `narrowed`: fewer values fit than before. */
function tell({ direction, note }: Comparison, narrowed: boolean, code: string, at: string, message: string): void {
  note(narrowed === (direction === 'request') ? 'breaking' : 'compatible', code, at, message);
}

/** null = no limit. Whether the second list lacks something of the first, and the other way round. */
function compareLists(
  c: Comparison,
  lists: readonly [readonly unknown[] | null, readonly unknown[] | null],
  code: string,
  at: string,
): void {
  const [before, after] = lists.map((list) => (list === null ? null : new Set(list.map((one) => JSON.stringify(one)))));
  if (before === null && after === null) return;
  if (before == null || after == null) {
    tell(c, before == null, code, at, `${code} is ${before == null ? 'limited now' : 'not limited any more'}`);
    return;
  }
  const isInteger = code === 'type' && after.has('"number"');
  const gone = [...before].filter((one) => !after.has(one) && !(isInteger && one === '"integer"'));
  const added = [...after].filter((one) => !before.has(one) && !(one === '"integer"' && before.has('"number"')));
  if (gone.length > 0) tell(c, true, code, at, `${code} no longer has ${gone.join(', ').slice(0, 200)}`);
  if (added.length > 0) tell(c, false, code, at, `${code} also has ${added.join(', ').slice(0, 200)}`);
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

function compareBounds(c: Comparison, before: JsonObject, after: JsonObject, at: string): void {
  for (const [names, sign] of [
    [lowerBounds, 1],
    [upperBounds, -1],
  ] as const)
    for (const name of names) {
      if (before[name] === after[name]) continue;
      const was = typeof before[name] === 'number' ? before[name] * sign : -Infinity;
      const is = typeof after[name] === 'number' ? after[name] * sign : -Infinity;
      tell(c, is > was, name, at, `${name} was ${shown(before[name])} and is ${shown(after[name])}`);
    }
  for (const name of ['pattern', 'format', 'multipleOf', 'uniqueItems', 'const']) {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) continue;
    const isLess = after[name] !== undefined && after[name] !== false;
    tell(c, isLess, name, at, `${name} was ${shown(before[name])} and is ${shown(after[name])}`);
  }
}

function compareProperties(c: Comparison, before: JsonObject, after: JsonObject, at: string): void {
  const [was, is] = [objectOf(before['properties']), objectOf(after['properties'])];
  const required = (schema: JsonObject): Set<unknown> => new Set(arrayOf(schema['required']));
  const [mustBefore, mustAfter] = [required(before), required(after)];
  for (const name of Object.keys(was)) {
    const place = at + pointerOf([name]);
    if (!(name in is)) c.note('breaking', 'property-removed', place, 'is not declared any more');
    else compareSchemas(c, was[name], is[name], place);
  }
  for (const name of Object.keys(is))
    if (!(name in was)) c.note('compatible', 'property-added', at + pointerOf([name]), 'is declared now');
  for (const name of mustAfter)
    if (!mustBefore.has(name)) tell(c, true, 'required', at + pointerOf([String(name)]), 'is required now');
  for (const name of mustBefore)
    if (!mustAfter.has(name)) tell(c, false, 'required', at + pointerOf([String(name)]), 'is not required any more');
  const [open, shut] = [before['additionalProperties'], after['additionalProperties']];
  if (open !== false && shut === false) tell(c, true, 'additionalProperties', at, 'takes no other members any more');
  if (open === false && shut !== false) tell(c, false, 'additionalProperties', at, 'takes other members now');
  if (isObject(open) && isObject(shut)) compareSchemas(c, open, shut, `${at}/*`);
}

/** Parts of combinations are compared by their places where there are as many; else one line says that they changed. */
function compareCombinations(c: Comparison, before: JsonObject, after: JsonObject, at: string): void {
  for (const name of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) {
    const [was, is] = [arrayOf(before[name]), arrayOf(after[name])];
    for (let index = 0; index < Math.min(was.length, is.length); index += 1)
      compareSchemas(c, was[index], is[index], at);
    if (was.length === is.length) continue;
    const isNarrower = name === 'allOf' ? is.length > was.length : was.length === 0 || is.length < was.length;
    tell(c, isNarrower, name, at, `${name} had ${was.length} parts and has ${is.length}`);
  }
  if (JSON.stringify(before['not']) !== JSON.stringify(after['not']))
    tell(c, after['not'] !== undefined, 'not', at, 'not has changed');
}

export function compareSchemas(c: Comparison, given: unknown, wanted: unknown, at: string): void {
  const pair = `${JSON.stringify(given)} ${JSON.stringify(wanted)}`;
  if (c.open.has(pair)) return;
  const [before, after] = [resolve(given, c.before), resolve(wanted, c.after)];
  if (typeof before === 'boolean' || typeof after === 'boolean') {
    const isNarrower = after === false || (before === true && after !== true);
    if (before !== after) tell(c, isNarrower, 'schema', at, isNarrower ? 'takes less now' : 'takes anything now');
    return;
  }
  c.open.add(pair);
  compareLists(c, [typesOf(before), typesOf(after)], 'type', at);
  const values = (schema: JsonObject) => (Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : null);
  compareLists(c, [values(before), values(after)], 'enum', at);
  compareBounds(c, before, after, at);
  compareProperties(c, before, after, at);
  compareCombinations(c, before, after, at);
  if (before['items'] !== undefined || after['items'] !== undefined)
    compareSchemas(c, before['items'] ?? true, after['items'] ?? true, `${at}/*`);
  c.open.delete(pair);
}

export function compareValues(
  sides: { readonly before: Side; readonly after: Side },
  direction: Direction,
  pair: readonly [JsonSchema | null, JsonSchema | null],
  at: string,
  note: Note,
): void {
  compareSchemas({ ...sides, direction, note, open: new Set() }, pair[0] ?? true, pair[1] ?? true, at);
}
