// Random OpenAPI documents of many operations, in the words of 3.0 and of 3.1.
import type { Dice } from './dice.js';
import { parameterOf, type TestOperation, type TestParameter } from './parameters.js';
import { bodySchema, componentsOf, in30, type Definitions, type Schema } from './schemas.js';

export interface TestDocument {
  readonly text: string;
  readonly operations: readonly TestOperation[];
  readonly definitions: Definitions;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function operationOf(dice: Dice, index: number, definitions: readonly string[]): TestOperation {
  const method = methods[index % methods.length] as string;
  const path = `/v1/things${index}${dice.once(2) ? '/{key}/parts' : ''}${dice.once(3) ? '/{last}' : ''}`;
  const parameters: TestParameter[] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameterOf(dice, 'path', name ?? ''),
  );
  for (const place of ['query', 'query', 'query', 'header', 'cookie'] as const)
    if (dice.once(2)) parameters.push(parameterOf(dice, place, `${place}${parameters.length}`));
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(method);
  const schema = dice.once(2)
    ? { $ref: `#/components/schemas/${dice.pick(definitions)}` }
    : bodySchema(dice, 3, definitions);
  return { method, path, parameters, body: takesBody ? { schema, required: !dice.once(4) } : null };
}

function written({ parameters, body }: TestOperation, translate: (schema: Schema) => unknown): unknown {
  return {
    parameters: parameters.map(({ schema, isJson, style, explode, ...one }) => ({
      ...one,
      ...(isJson
        ? { content: { 'application/json': { schema: translate(schema) } } }
        : { style, explode, schema: translate(schema) }),
    })),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: body.required,
            content: { 'application/json': { schema: translate(body.schema) } },
          },
        }),
    responses: { default: { description: 'any' } },
  };
}

/** `count` operations under `version`, `3.0.3` or `3.1.0`. */
export function documentOf(dice: Dice, version: '3.0.3' | '3.1.0', count: number): TestDocument {
  const definitions = componentsOf(dice);
  const names = Object.keys(definitions);
  const operations = Array.from({ length: count }, (_, index) => operationOf(dice, index, names));
  const translate = (schema: Schema): unknown => (version === '3.0.3' ? in30(schema) : schema);
  const paths = Object.fromEntries(
    operations.map((one) => [one.path, { [one.method.toLowerCase()]: written(one, translate) }]),
  );
  const schemas = Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, translate(one)]));
  const info = { title: 'Made by dice', version: '1' };
  return { text: JSON.stringify({ openapi: version, info, paths, components: { schemas } }), operations, definitions };
}
