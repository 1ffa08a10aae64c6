// Two versions of a specification → what changed for the clients of the older one. Operations are the same by method
// and the shape of their path: a parameter of a path that has another name now is no change for anybody.
import { pointerOf } from '../document/problem.js';
import type { ApiModel, ApiOperation } from '../document/model.js';
import type { PlannedContent } from '#proxy/contract';
import { compareValues, type Note } from './schemas.js';

export interface SpecChange {
  /** breaking: a client that did right by the older version may fail. */
  readonly kind: 'breaking' | 'compatible';
  /** What kind of change, for programs: `operation-removed`, `parameter-added`, `required`, `enum`, … */
  readonly code: string;
  /** `GET /orders/{id}`, as the newer version has it, or the older where it is gone. */
  readonly operation: string;
  /** Within the operation: `/query/page`, `/body/application~1json/items`, `/responses/200/…`; '' = the operation. */
  readonly pointer: string;
  readonly message: string;
}

export const shapeOf = (operation: Pick<ApiOperation, 'method' | 'path'>): string =>
  `${operation.method} ${operation.path.replace(/\{[^{}]*\}/g, '{}')}`;

const titleOf = ({ method, path }: ApiOperation): string => `${method} ${path}`;

export function compareSpecifications(before: ApiModel, after: ApiModel): SpecChange[] {
  const changes: SpecChange[] = [];
  const noteFor =
    (operation: ApiOperation): Note =>
    (kind, code, pointer, message) =>
      void changes.push({ kind, code, operation: titleOf(operation), pointer, message });
  const now = new Map(after.operations.map((one) => [shapeOf(one), one]));
  const then = new Map(before.operations.map((one) => [shapeOf(one), one]));
  for (const [shape, operation] of then) {
    const next = now.get(shape);
    if (next === undefined) noteFor(operation)('breaking', 'operation-removed', '', 'is not declared any more');
    else compareOperations({ before, after }, operation, next, noteFor(next));
  }
  for (const [shape, operation] of now)
    if (!then.has(shape)) noteFor(operation)('compatible', 'operation-added', '', 'is declared now');
  return changes.sort((left, right) => left.kind.localeCompare(right.kind));
}

interface Sides {
  readonly before: ApiModel;
  readonly after: ApiModel;
}

function compareOperations(sides: Sides, before: ApiOperation, after: ApiOperation, note: Note): void {
  if (!before.isDeprecated && after.isDeprecated) note('compatible', 'deprecated', '', 'is deprecated now');
  if (before.basePaths.some((base) => !after.basePaths.includes(base)))
    note('breaking', 'server-removed', '', `is no longer below ${before.basePaths.join(', ') || '/'}`);
  compareSecurity(before, after, note);
  compareParameters(sides, before, after, note);
  compareBodies(sides, before, after, note);
  for (const [code, content] of Object.entries(before.responses)) {
    const at = pointerOf(['responses', code]);
    const next = after.responses[code];
    if (next === undefined) note('breaking', 'response-removed', at, 'is not declared any more');
    else compareContent(sides, 'response', [content, next], at, note);
  }
  for (const code of Object.keys(after.responses))
    if (before.responses[code] === undefined)
      note('compatible', 'response-added', pointerOf(['responses', code]), 'is declared now');
}

function compareSecurity(before: ApiOperation, after: ApiOperation, note: Note): void {
  const alternatives = (operation: ApiOperation): string[] =>
    (operation.security ?? []).map((names) => [...names].sort().join('+')).filter((one) => one !== '');
  const isOpen = (operation: ApiOperation): boolean =>
    operation.security === null ||
    operation.security.length === 0 ||
    operation.security.some((one) => one.length === 0);
  if (isOpen(before) && !isOpen(after)) note('breaking', 'security-added', '', 'asks for credentials now');
  else if (!isOpen(before) && isOpen(after))
    note('compatible', 'security-removed', '', 'asks for no credentials any more');
  const gone = alternatives(before).filter((one) => !alternatives(after).includes(one));
  if (gone.length > 0 && !isOpen(after)) note('breaking', 'security-changed', '', `no longer takes ${gone.join(', ')}`);
}

/** Those of the path by their order, since their names are nobody's business. */
function keyed(operation: ApiOperation): Map<string, ApiOperation['parameters'][number]> {
  const names = [...operation.path.matchAll(/\{([^{}]*)\}/g)].map((found) => found[1] ?? '');
  return new Map(
    operation.parameters.map((one) => [
      one.in === 'path' ? pointerOf(['path', names.indexOf(one.name)]) : pointerOf([one.in, one.name.toLowerCase()]),
      one,
    ]),
  );
}

function compareParameters(sides: Sides, before: ApiOperation, after: ApiOperation, note: Note): void {
  const [was, is] = [keyed(before), keyed(after)];
  for (const [at, parameter] of was) {
    const next = is.get(at);
    if (next === undefined) {
      note('breaking', 'parameter-removed', at, 'is not declared any more');
      continue;
    }
    if (!parameter.required && next.required) note('breaking', 'required', at, 'is required now');
    if (parameter.required && !next.required) note('compatible', 'required', at, 'is not required any more');
    if (parameter.style !== next.style || parameter.explode !== next.explode)
      note('breaking', 'style', at, 'is written in another style');
    compareValues(sides, 'request', [parameter.schema, next.schema], at, note);
  }
  for (const [at, parameter] of is)
    if (!was.has(at))
      note(
        parameter.required ? 'breaking' : 'compatible',
        'parameter-added',
        at,
        `is declared now${parameter.required ? ', and required' : ''}`,
      );
}

function compareBodies(sides: Sides, before: ApiOperation, after: ApiOperation, note: Note): void {
  const [was, is] = [before.body, after.body];
  if (was === null && is === null) return;
  if (was === null) {
    note(is?.required === true ? 'breaking' : 'compatible', 'body-added', '/body', 'is declared now');
    return;
  }
  if (is === null) {
    note('breaking', 'body-removed', '/body', 'is not declared any more');
    return;
  }
  if (!was.required && is.required) note('breaking', 'required', '/body', 'is required now');
  if (was.required && !is.required) note('compatible', 'required', '/body', 'is not required any more');
  compareContent(sides, 'request', [was.content, is.content], '/body', note);
}

function compareContent(
  sides: Sides,
  direction: 'request' | 'response',
  [before, after]: readonly [PlannedContent, PlannedContent],
  at: string,
  note: Note,
): void {
  for (const [type, media] of Object.entries(before)) {
    const place = at + pointerOf([type]);
    const next = after[type];
    if (next === undefined) note('breaking', 'media-type-removed', place, 'is not declared any more');
    else compareValues(sides, direction, [media.schema, next.schema], place, note);
  }
  for (const type of Object.keys(after))
    if (before[type] === undefined) note('compatible', 'media-type-added', at + pointerOf([type]), 'is declared now');
}
