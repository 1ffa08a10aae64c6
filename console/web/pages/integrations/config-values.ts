// The settings of a tracker between their JSON schema and what is typed: pure, so that a test says what is sent.

export interface Member {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
}
export interface ConfigSchema {
  readonly properties: Readonly<Record<string, Member>>;
  readonly required?: readonly string[];
}
export type Config = Readonly<Record<string, unknown>>;

/** text: one line; area: several; lines: a list; table: named texts that the schema lists; record: `name = text`. */
export type Kind = 'text' | 'area' | 'lines' | 'switch' | 'table' | 'record';

export function kindOf({ type, maxLength, properties }: Member): Kind {
  if (type === 'boolean') return 'switch';
  if (type === 'array') return 'lines';
  if (type === 'object') return properties === undefined ? 'record' : 'table';
  return (maxLength ?? 0) > 1000 ? 'area' : 'text';
}

const isRecord = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const toLines = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : '');
export const fromLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `{"value": "x"}` is written as JSON, a text as itself. */
export const toRecord = (value: unknown): string =>
  Object.entries(isRecord(value) ? value : {})
    .map(([name, of]) => `${name} = ${typeof of === 'string' ? of : JSON.stringify(of)}`)
    .join('\n');

function read(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : text;
  } catch {
    return text; // `{{title}}` is no JSON
  }
}

export const fromRecord = (text: string): Config =>
  Object.fromEntries(
    fromLines(text).map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), read(line.slice(at + 1).trim())];
    }),
  );

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

/** The settings with one member changed; one that holds nothing is left out. */
export function withMember(config: Config, name: string, value: unknown): Config {
  const given = isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, of]) => of !== '')) : value;
  const { [name]: _, ...others } = config;
  return isNothing(given) ? others : { ...others, [name]: given };
}

/** What a tracker of another type knows as well. */
export const kept = (config: Config, { properties }: ConfigSchema): Config =>
  Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(properties, name)));
