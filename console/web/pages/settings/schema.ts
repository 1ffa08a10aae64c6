// The schema of the settings as the control plane publishes it, as far as a form needs it.
import { settingsText as text } from '../../texts/settings.js';

export interface SettingSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SettingSchema[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: SettingSchema;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  readonly writeOnly?: boolean;
  readonly 'x-unit'?: string;
  readonly 'x-access'?: string;
  readonly 'x-enforced-by'?: string | null;
  readonly 'x-secret'?: boolean;
}

export type FieldKind = 'flag' | 'choice' | 'number' | 'text' | 'secret' | 'lines' | 'entries' | 'members' | 'json';

export interface Shape {
  readonly kind: FieldKind;
  /** Of the value where it is not null. */
  readonly schema: SettingSchema;
  readonly isNullable: boolean;
}

/** How a value of this schema is edited. */
export function shapeOf(schema: SettingSchema): Shape {
  const isNullable = schema.anyOf?.some(({ type }) => type === 'null') ?? false;
  const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const shape = (kind: FieldKind): Shape => ({ kind, schema: inner, isNullable });
  if (schema.writeOnly === true || schema['x-secret'] === true) return shape('secret');
  if (inner.enum !== undefined) return shape('choice');
  switch (inner.type) {
    case 'boolean':
      return shape('flag');
    case 'integer':
    case 'number':
      return shape('number');
    case 'string':
      return shape('text');
    case 'array':
      return shape(inner.items?.properties === undefined ? (isText(inner.items) ? 'lines' : 'json') : 'entries');
    default:
      return shape(inner.properties === undefined ? 'json' : 'members');
  }
}

const isText = (schema: SettingSchema | undefined): boolean => schema?.type === 'string';

/** `rl_trusted_proxies` → `Trusted proxies`, given that the group says what `rl_` is. */
export function titleOf(name: string): string {
  if (Object.hasOwn(text.titles, name)) return text.titles[name as keyof typeof text.titles];
  const short = name.replace(/^(rl|flood|bot|ai|auth|ti|mrf|policy|sso|siem|api|attack|otel)_/, '');
  const words = short
    .replace(/_(ms|sec|seconds|bytes)(?=$|_max$|_min$)/, '') // the value is shown with its unit
    .split('_')
    .map((word) => (Object.hasOwn(text.spellings, word) ? text.spellings[word as keyof typeof text.spellings] : word))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A new entry of a list: the defaults of its members. */
export function blankOf(schema: SettingSchema): unknown {
  const { kind, schema: inner, isNullable } = shapeOf(schema);
  if (schema.default !== undefined) return schema.default;
  if (isNullable) return null;
  switch (kind) {
    case 'flag':
      return false;
    case 'choice':
      return inner.enum?.[0] ?? '';
    case 'number':
      return inner.minimum ?? 0;
    case 'lines':
    case 'entries':
      return [];
    case 'members':
      return Object.fromEntries(Object.entries(inner.properties ?? {}).map(([name, one]) => [name, blankOf(one)]));
    default:
      return '';
  }
}

/** What a person typed into a number: the number, or the text itself, so that the server says what is wrong with it. */
export const numberFrom = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);

/** One a line; blank lines are nothing. */
export const linesFrom = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
