// A JSON Patch (RFC 6902) from a specification to what traffic shows, in words: a row for each operation, parameter and
// login that it adds, so that what is counted is what is listed.
import type { Reply } from '../../client/http.js';

export type Reality = Reply<'GET /api/spec/{id}/reality'>;
export type Addition = Pick<Reality['patch'][number], 'path' | 'value'>;
export type AdditionKind = 'operation' | 'parameter' | 'scheme';

export interface AdditionTold {
  readonly kind: AdditionKind;
  /** In capitals; '': a login is of no operation. */
  readonly method: string;
  /** As the specification writes it; '': of a login. */
  readonly path: string;
  /** Of a parameter or a login; else ''. */
  readonly name: string;
  /** JSON pointer (RFC 6901) of what is added. */
  readonly pointer: string;
  readonly value: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Parts of a JSON pointer (RFC 6901). */
const partsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

function schemesIn(parts: readonly string[], value: unknown): readonly (readonly [string, unknown])[] {
  const [, group, name] = parts;
  if (group === undefined) return Object.entries(fieldsOf(fieldsOf(value)['securitySchemes']));
  if (group !== 'securitySchemes') return [];
  return name === undefined ? Object.entries(fieldsOf(value)) : [[name, value]];
}

const nameOf = (value: unknown): string => {
  const { name } = fieldsOf(value);
  return typeof name === 'string' ? name : '';
};

/** What one step adds; nothing where it only makes room for a later one. */
export function toldOf({ path: pointer, value }: Addition): AdditionTold[] {
  const all = partsOf(pointer);
  const isItem = all[0] === 'components' && all[1] === 'pathItems'; // a path may stand there, and be referred to
  if (all[0] === 'components' && !isItem)
    return schemesIn(all, value).map(([name, one]) => ({
      kind: 'scheme',
      method: '',
      path: '',
      name,
      pointer,
      value: one,
    }));
  const [path = '', method, part] = all.slice(isItem ? 2 : 1);
  const told = { path, name: '', pointer };
  if (method === undefined)
    return Object.entries(fieldsOf(value))
      .filter(([name]) => methods.has(name))
      .map(([name, one]) => ({ ...told, kind: 'operation', method: name.toUpperCase(), value: one }));
  const inOperation = { ...told, method: method.toUpperCase() };
  if (part === undefined) return [{ ...inOperation, kind: 'operation', value }];
  if (part !== 'parameters') return [];
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((one) => ({
    ...{ ...inOperation, kind: 'parameter' as const, name: nameOf(one), value: one },
  }));
}
