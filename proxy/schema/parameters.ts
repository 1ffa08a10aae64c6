// Parameters of an operation: path, query, headers, cookies. Every style of OpenAPI 3.1 section 4.8.12. A parameter of
// the query that nobody declares is refused; header fields and cookies that nobody declares are let through, since
// browsers, proxies and statistics add them.
import { Trace, type Check } from './json/check.js';
import type { JsonSchema, PlannedParameter } from './plan.js';
import { fromUtf8, pairsOf, splitText, textReader, type Compile, type TextReader } from './texts.js';
import { escapeName, type Problem } from './violation.js';

/** Values of one place by name; a name may come several times. */
export type Given = ReadonlyMap<string, readonly string[]>;

export interface PreparedParameter {
  readonly given: PlannedParameter;
  readonly check: Check;
  readonly reader: TextReader;
}

export interface ParameterPlaces {
  readonly path: readonly PreparedParameter[];
  readonly query: readonly PreparedParameter[];
  readonly header: readonly PreparedParameter[];
  readonly cookie: readonly PreparedParameter[];
}

type Definitions = Readonly<Record<string, JsonSchema>>;

export function prepareParameters(
  parameters: readonly PlannedParameter[],
  definitions: Definitions,
  compile: Compile,
): ParameterPlaces {
  const of = (place: PlannedParameter['in']): PreparedParameter[] =>
    parameters
      .filter((one) => one.in === place)
      .map((given) => ({
        given,
        check: compile(given.schema),
        reader: textReader(given.schema, definitions, compile),
      }));
  return { path: of('path'), query: of('query'), header: of('header'), cookie: of('cookie') };
}

/** `a=1&b=%20&a`, as browsers write it; null: an escape that is none, or that is no UTF-8. Latin1 in. */
export function parseQuery(query: string): Map<string, string[]> | null {
  const given = new Map<string, string[]>();
  if (query === '') return given;
  try {
    for (const pair of fromUtf8(query).split('&')) {
      if (pair === '') continue;
      const at = pair.indexOf('=');
      const name = decode(at === -1 ? pair : pair.slice(0, at));
      const value = at === -1 ? '' : decode(pair.slice(at + 1));
      const known = given.get(name);
      if (known === undefined) given.set(name, [value]);
      else known.push(value);
    }
    return given;
  } catch {
    return null;
  }
}

const decode = (text: string): string =>
  text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;

/** One text of a parameter → its value. null: it is not JSON where it has to be. */
function valueOf({ given, reader }: PreparedParameter, text: string): { readonly value: unknown } | null {
  if (given.mediaType !== null && /[/+]json$/.test(given.mediaType)) {
    try {
      return { value: JSON.parse(text) as unknown };
    } catch {
      return null;
    }
  }
  if (given.mediaType !== null) return { value: text };
  if (reader.takesList) return { value: reader.list(splitText(text, given)) };
  if (reader.takesMembers) return { value: reader.members(pairsOf(splitText(text, given), given.explode)) };
  if (given.style === 'label' || given.style === 'matrix')
    return { value: reader.single(splitText(text, given)[0] ?? '') };
  return { value: reader.single(text) };
}

function checkOne(parameter: PreparedParameter, value: unknown): Problem | null {
  const trace = new Trace();
  if (trace.holds(parameter.check, value)) return null;
  const { given } = parameter;
  return { pointer: `/${given.in}${escapeName(given.name)}${trace.pointer}`, keyword: trace.keyword };
}

const problemAt = ({ given }: PreparedParameter, keyword: string): Problem => ({
  pointer: `/${given.in}${escapeName(given.name)}`,
  keyword,
});

/**
 * Path, header and cookie parameters. `textsOf`: by the name, as the place spells it; a cookie may come several times,
 * and each of its texts has to fit, since nobody knows which of them an application takes.
 */
export function checkTexts(
  parameters: readonly PreparedParameter[],
  textsOf: (name: string) => readonly string[],
): Problem | null {
  for (const parameter of parameters) {
    const texts = textsOf(parameter.given.name);
    if (texts.length === 0 && parameter.given.required) return problemAt(parameter, 'required');
    for (const text of texts) {
      const read = valueOf(parameter, text);
      if (read === null) return problemAt(parameter, 'json');
      const problem = checkOne(parameter, read.value);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** The names of `given` that belong to a parameter, and its value; null: none of them came. */
function queryValue(
  parameter: PreparedParameter,
  given: Given,
): { names: string[]; value: unknown; bad?: string } | null {
  const { name, style, explode, mediaType } = parameter.given;
  const { reader } = parameter;
  if (mediaType === null && reader.takesMembers && (style === 'deepObject' || (style === 'form' && explode))) {
    const pairs: [string, string][] = [];
    const names: string[] = [];
    for (const [key, values] of given) {
      const inner = style === 'deepObject' ? insideBrackets(key, name) : reader.names.has(key) ? key : null;
      if (inner === null) continue;
      names.push(key);
      for (const value of values) pairs.push([inner, value]);
    }
    if (names.length === 0) return null;
    const isTwice = new Set(pairs.map(([key]) => key)).size < pairs.length;
    return { names, value: reader.members(pairs), ...(isTwice ? { bad: 'duplicate' } : {}) };
  }
  const texts = given.get(name);
  if (texts === undefined) return null;
  if (mediaType === null && reader.takesList && explode && style === 'form')
    return { names: [name], value: reader.list(texts) };
  const read = valueOf(parameter, texts[0] ?? '');
  const bad = texts.length > 1 ? 'duplicate' : read === null ? 'json' : undefined;
  return { names: [name], value: read?.value, ...(bad === undefined ? {} : { bad }) };
}

/** `filter[a]` of the parameter `filter` → `a`. */
function insideBrackets(key: string, name: string): string | null {
  if (!key.startsWith(`${name}[`) || !key.endsWith(']')) return null;
  return key.slice(name.length + 1, -1);
}

export function checkQuery(parameters: readonly PreparedParameter[], given: Given): Problem | null {
  let known = 0;
  const taken: string[] = [];
  for (const parameter of parameters) {
    const found = queryValue(parameter, given);
    if (found === null) {
      if (parameter.given.required) return problemAt(parameter, 'required');
      continue;
    }
    known += found.names.length;
    taken.push(...found.names);
    if (found.bad !== undefined) return problemAt(parameter, found.bad);
    if (parameter.given.allowsEmpty && given.get(parameter.given.name)?.[0] === '') continue;
    const problem = checkOne(parameter, found.value);
    if (problem !== null) return problem;
  }
  if (known === given.size) return null;
  for (const name of given.keys())
    if (!taken.includes(name)) return { pointer: `/query${escapeName(name)}`, keyword: 'unknown' };
  return null;
}
