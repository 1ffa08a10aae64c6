// Whether a schema declares a place of a message. The same meaning as the data plane's (proxy/schema): members that
// nobody declares are foreign, unless the object says `additionalProperties`, or declares no members at all.
import type { JsonSchema, PlannedContent } from '#proxy/contract';

type Definitions = Readonly<Record<string, JsonSchema>>;

/** silent: it says nothing of members. */
type Said = 'yes' | 'no' | 'silent';

const depthMax = 64;

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');

/** `pointer`: RFC 6901 with `*` for places of a list and `{kind}` for names that are data, as observations have it. */
export function declares(schema: JsonSchema | null, pointer: string, definitions: Definitions): boolean {
  if (schema === null || pointer === '') return true;
  const names = pointer.split('/').slice(1).map(unescaped);
  return look(schema, names, definitions, depthMax) !== 'no';
}

/** Of any of its media types. */
export const contentDeclares = (content: PlannedContent, pointer: string, definitions: Definitions): boolean =>
  Object.values(content).length === 0 ||
  Object.values(content).some(({ schema }) => declares(schema, pointer, definitions));

function look(schema: unknown, names: readonly string[], definitions: Definitions, left: number): Said {
  if (schema === false) return 'no';
  if (typeof schema !== 'object' || schema === null || left === 0) return 'silent';
  if (names.length === 0) return 'yes';
  const map = schema as Readonly<Record<string, unknown>>;
  const said: Said[] = [ownWord(map, names, definitions, left - 1)];
  const { $ref: reference } = map;
  if (typeof reference === 'string') said.push(look(definitions[reference], names, definitions, left - 1));
  for (const word of ['allOf', 'anyOf', 'oneOf'])
    if (Array.isArray(map[word]))
      for (const part of map[word] as unknown[]) said.push(look(part, names, definitions, left - 1));
  for (const word of ['if', 'then', 'else'])
    if (map[word] !== undefined) said.push(look(map[word], names, definitions, left - 1));
  return said.includes('yes') ? 'yes' : said.includes('no') ? 'no' : 'silent';
}

function ownWord(
  map: Readonly<Record<string, unknown>>,
  names: readonly string[],
  definitions: Definitions,
  left: number,
): Said {
  const [name = '', ...rest] = names;
  const within = (part: unknown): Said => {
    const said = look(part, rest, definitions, left);
    return said === 'silent' ? 'yes' : said;
  };
  if (name === '*') return map['items'] === undefined ? 'silent' : within(map['items']);
  const { properties, patternProperties, additionalProperties: others } = map;
  const named = typeof properties === 'object' && properties !== null ? properties : {};
  if (Object.hasOwn(named, name)) return within((named as Record<string, unknown>)[name]);
  if (patternProperties !== undefined) return 'yes';
  if (others !== undefined) return others === true ? 'yes' : within(others);
  return Object.keys(named).length > 0 ? 'no' : 'silent';
}
