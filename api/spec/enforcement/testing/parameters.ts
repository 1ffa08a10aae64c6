// Random parameters in every place and style, and how a client writes their values (OpenAPI 3.1 section 4.8.12.3).
import type { Dice } from './dice.js';
import { orNull, scalarSchema, type Schema } from './schemas.js';

export interface TestParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly style: string;
  readonly explode: boolean;
  readonly schema: Schema;
  /** Its text is JSON, declared with `content`. */
  readonly isJson: boolean;
}

const styles = {
  path: ['simple', 'simple', 'label', 'matrix'],
  query: ['form', 'form', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const;

function shapeOf(dice: Dice, style: string, place: TestParameter['in']): Schema {
  // what an empty text means is another question in each style: lists and texts here have something in them
  const item = (): Schema => scalarSchema(dice, true);
  const object = (): Schema => {
    const names = ['a', 'b', 'max'].filter((name) => name === 'a' || dice.once(2));
    const properties = Object.fromEntries(names.map((name) => [name, item()]));
    return { type: 'object', required: ['a'], properties, ...(dice.once(2) ? { additionalProperties: false } : {}) };
  };
  if (style === 'deepObject') return object();
  if (style.endsWith('Delimited') || dice.once(3)) return { type: 'array', minItems: 1, maxItems: 3, items: item() };
  if (dice.once(5)) return object();
  const isFree = place === 'query';
  const schema = scalarSchema(dice, !isFree);
  return isFree && dice.once(6) ? orNull(schema) : schema;
}

export function parameterOf(dice: Dice, place: TestParameter['in'], name: string): TestParameter {
  if (place === 'query' && dice.once(8)) {
    const schema = { type: 'object', required: ['a'], properties: { a: scalarSchema(dice, false) } };
    return { name, in: place, required: dice.once(2), style: 'form', explode: true, schema, isJson: true };
  }
  const style = dice.pick(styles[place]);
  const shape = shapeOf(dice, style, place);
  // members of an object that is spread over the query would meet those of another one
  const isSpread = place === 'query' && style === 'form' && shape['type'] === 'object';
  const explode =
    style === 'deepObject' || (place === 'query' && !isSpread && !style.endsWith('Delimited') && dice.once(2));
  const isExploded = place === 'cookie' ? false : place === 'query' ? explode : dice.once(2);
  // bounds that are decimal would be divided by the full stops of a label
  const schema = style === 'label' ? withoutPoints(shape) : shape;
  return {
    name,
    in: place,
    required: place === 'path' || dice.once(2),
    style,
    explode: isExploded,
    schema,
    isJson: false,
  };
}

function withoutPoints(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_name, one: unknown) => {
    const isMap = typeof one === 'object' && one !== null && !Array.isArray(one);
    return isMap && (one as Schema)['type'] === 'number' ? { ...one, type: 'integer' } : one;
  }) as Schema;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

/** In a path or a header: one text. */
function joined({ name, style, explode }: TestParameter, value: unknown): string {
  const isMatrix = style === 'matrix';
  const lead = style === 'label' ? '.' : isMatrix ? ';' : '';
  const between = explode && lead !== '' ? lead : ',';
  if (Array.isArray(value)) {
    const parts = value.map(textOf);
    if (isMatrix && explode) return parts.map((part) => `;${name}=${part}`).join('');
    return `${lead}${isMatrix ? `${name}=` : ''}${parts.join(between)}`;
  }
  if (isObject(value)) {
    const parts = Object.entries(value).map(([key, one]) => `${key}${explode ? '=' : ','}${textOf(one)}`);
    return `${lead}${isMatrix && !explode ? `${name}=` : ''}${parts.join(between)}`;
  }
  return `${lead}${isMatrix ? `${name}=` : ''}${textOf(value)}`;
}

const pair = (name: string, text: string): string => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;

/** Pairs of the query. */
function queried(parameter: TestParameter, value: unknown): string[] {
  const { name, style, explode, isJson } = parameter;
  if (isJson) return [pair(name, JSON.stringify(value))];
  if (isObject(value)) {
    const members = Object.entries(value);
    if (style === 'deepObject') return members.map(([key, one]) => pair(`${name}[${key}]`, textOf(one)));
    return [pair(name, members.map(([key, one]) => `${key},${textOf(one)}`).join(','))];
  }
  if (!Array.isArray(value)) return [pair(name, textOf(value))];
  if (explode) return value.map((one) => pair(name, textOf(one)));
  const between = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',';
  return [pair(name, value.map(textOf).join(between))];
}

export interface TestOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly TestParameter[];
  readonly body: { readonly schema: Schema; readonly required: boolean } | null;
}

/** What is asked: values by the name of the parameter, undefined where it is left out. */
export interface TestRequest {
  readonly values: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export interface WrittenRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export function writeRequest(
  { method, path, parameters }: TestOperation,
  { values, body }: TestRequest,
): WrittenRequest {
  const given = parameters.filter(({ name }) => values[name] !== undefined);
  const of = (place: TestParameter['in']): TestParameter[] => given.filter((one) => one.in === place);
  const written = of('path').reduce(
    (text, one) => text.replace(`{${one.name}}`, () => encodeURI(joined(one, values[one.name]))),
    path,
  );
  const query = of('query').flatMap((one) => queried(one, values[one.name]));
  const headers = of('header').flatMap((one) => [one.name.toUpperCase(), joined(one, values[one.name])]);
  const cookies = of('cookie').map((one) => `${one.name}=${joined(one, values[one.name])}`);
  const type = body === undefined ? [] : ['Content-Type', 'application/json'];
  return {
    method,
    uri: `${written}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: [
      'Host',
      'shop.example',
      ...headers,
      ...type,
      ...(cookies.length > 0 ? ['Cookie', cookies.join('; ')] : []),
    ],
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
  };
}
