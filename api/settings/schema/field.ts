// How a setting is declared: a TypeBox schema plus who may change it, its unit and whether it is a secret. The same
// declaration makes validation, defaults, the API document, the per-field role check and the console's forms.
import { Type, type SchemaOptions, type TSchema } from '@sinclair/typebox';

/** `admin`: a governance field; operators may read it and send it back unchanged. */
export type FieldAccess = 'operator' | 'admin';

/** Marks a top-level field with who may change it. */
export function field<T extends TSchema>(schema: T, access: FieldAccess, description: string, unit?: string): T {
  return { ...schema, description, 'x-access': access, ...(unit === undefined ? {} : { 'x-unit': unit }) };
}

export const closed = { additionalProperties: false } as const;

/** What a stored secret looks like to every reader. Sent back, it means: keep what is stored. */
export const keptSecret = '********';

export const Flag = (value: boolean) => Type.Boolean({ default: value });
export const Whole = (minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value });
export const Choice = <const T extends readonly string[]>(values: T, value: T[number]) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], default: value });
export const Text = (lengthMax: number, options: SchemaOptions & { pattern?: string } = {}) =>
  Type.String({ maxLength: lengthMax, default: '', ...options });

/** A count and a unit: `30s`, `1m`, `2h`, `1d`. */
export const Window = (value: string) => Type.String({ pattern: '^[1-9][0-9]{0,4}(s|m|h|d)$', default: value });

/** Write-only: readers see `null` (none) or eight asterisks. */
export const Secret = () =>
  Type.Union([Type.String({ minLength: 1, maxLength: 4096 }), Type.Null()], {
    default: null,
    writeOnly: true,
    'x-secret': true,
  });

/** Empty, or an absolute http(s) URL without credentials. */
export const HttpUrl = () =>
  Type.String({ maxLength: 2048, default: '', pattern: '^(https?://[^\\s@/]+(/[^\\s]*)?)?$' });

/** A path prefix as it is compared at the data plane: begins with a slash, no query, no control characters. */
export const Path = () => Type.String({ minLength: 1, maxLength: 1024, pattern: '^/[^\\s?#\\u0000-\\u001f]*$' });

export const Method = () => Type.String({ minLength: 1, maxLength: 32, pattern: '^([A-Z][A-Z0-9_-]*|\\*)$' });

const windowUnits = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Seconds of a window such as `1m`; null when it is not one. */
export function parseWindow(window: string): number | null {
  const found = /^([1-9]\d{0,4})(s|m|h|d)$/.exec(window);
  return found === null ? null : Number(found[1]) * windowUnits[found[2] as keyof typeof windowUnits];
}
