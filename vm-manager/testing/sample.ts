// A value that fits a schema, for tests that change one member of it at a time.
import type { TSchema } from '@sinclair/typebox';

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly items?: Shape;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** Texts by the beginning of the pattern that they have to fit. */
const texts: readonly (readonly [string, string])[] = [
  ['^\\d{4}-', '2027-01-31T12:00:00Z'],
  ['^(?:CWE-)?', 'CWE-89'],
  ['^(?:\\S+ ){4}', '0 3 * * 1-5'],
  // zones of the IANA's database
  ['^[A-Za-z]+[A-Za-z0-9/', 'Europe/Vienna'],
];

function fit(shape: Shape): unknown {
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return shape.enum[0];
  const [first] = shape.anyOf ?? shape.allOf ?? [];
  if (first !== undefined) return fit(first);
  if (shape.type === 'object' || shape.properties !== undefined)
    return Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, one]) => [name, fit(one)]));
  if (shape.type === 'array') return shape.items === undefined ? [] : [fit(shape.items)];
  if (shape.type === 'integer' || shape.type === 'number') return shape.minimum ?? 1;
  if (shape.type === 'boolean') return true;
  if (shape.type === 'null') return null;
  return (
    texts.find(([beginning]) => shape.pattern?.startsWith(beginning) === true)?.[1] ?? '1'.repeat(shape.minLength ?? 1)
  );
}

/** Every member of an object is there, optional ones too. */
export const sampleOf = (schema: TSchema): unknown => fit(schema as unknown as Shape);
