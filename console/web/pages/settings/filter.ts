// Which settings are looked for: by words, and by whether they differ from their default.
import { groupOf } from './groups.js';
import { shapeOf, titleOf, type SettingSchema } from './schema.js';

/** The value of a setting that was not changed; undefined: the schema does not say. */
export function defaultOf(schema: SettingSchema): unknown {
  const { kind, schema: inner, isNullable } = shapeOf(schema);
  if (kind !== 'members' || isNullable) return schema.default;
  // an object may name only those of its members that differ from what they have alone
  const own = Object.entries(inner.properties ?? {}).map(([name, one]) => [name, defaultOf(one)] as const);
  return { ...Object.fromEntries(own), ...(schema.default as object | undefined) };
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isSame(usual: unknown, value: unknown): boolean {
  if (isEmpty(usual)) return isEmpty(value);
  if (!isFields(usual) || !isFields(value)) return JSON.stringify(usual) === JSON.stringify(value);
  return [...new Set([...Object.keys(usual), ...Object.keys(value)])].every((name) => isSame(usual[name], value[name]));
}

/** Without a default, what is empty is as it was. */
export function isDefault(schema: SettingSchema, value: unknown): boolean {
  return isSame(defaultOf(schema), value);
}

/** Its name, its title, what it does and the same of its members, as one text to look in. */
function wordsOf(name: string, schema: SettingSchema): string {
  const { schema: inner } = shapeOf(schema);
  const members = Object.entries({ ...inner.properties, ...inner.items?.properties });
  const own = [name, name.replaceAll('_', ' '), titleOf(name), schema.description ?? ''];
  return [...own, ...members.map(([member, one]) => wordsOf(member, one))].join(' ').toLowerCase();
}

/** Whether every word that was typed is in it. */
export function fits(name: string, schema: SettingSchema, typed: string): boolean {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const words = `${wordsOf(name, schema)} ${groupOf(name)?.title.toLowerCase() ?? ''}`;
  return wanted.every((word) => words.includes(word));
}
