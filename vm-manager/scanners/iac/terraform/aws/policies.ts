// Policies of AWS, however they are written.
import { isObject, isUnknown, jsonOf, type Value, textOf } from '../values.js';
import type { Resource } from '../resources.js';

export const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Statements of a policy: of a text, of jsonencode, or of the document that it refers to. */
export function statementsOf(one: Resource, path: string): readonly { readonly [key: string]: Value }[] {
  const value = one.value(path);
  const policy = jsonOf(value);
  if (isObject(policy ?? undefined))
    return listOf((policy as { readonly [key: string]: Value })['Statement']).filter(isObject);
  if (!isUnknown(value) || value.reference === null) return [];
  const name = /^data\.aws_iam_policy_document\.([\w-]+)/.exec(value.reference)?.[1];
  const document = one.module.data.find((other) => other.type === 'aws_iam_policy_document' && other.name === name);
  return (document?.parts('statement') ?? []).map((part) => ({
    Effect: part.value('effect') ?? 'Allow',
    Action: part.value('actions') ?? [],
    Resource: part.value('resources') ?? [],
    Principal: Object.fromEntries(
      part.parts('principals').map((inner) => [textOf(inner.value('type')), inner.value('identifiers') ?? []]),
    ),
    Condition: part.parts('condition').length > 0 ? { some: 'condition' } : {},
  }));
}

export const allows = ({ Effect }: { readonly [key: string]: Value }): boolean => Effect !== 'Deny';
export const isEverybody = (value: Value | undefined): boolean =>
  value === '*' ||
  (Array.isArray(value) && value.includes('*')) ||
  (isObject(value) && Object.values(value).some(isEverybody));

/** Statements of a policy as a value. */
export const statementsIn = (value: Value | undefined): Value[] => {
  const policy = jsonOf(value);
  const given = isObject(policy ?? undefined) ? (policy as { readonly [key: string]: Value })['Statement'] : undefined;
  return Array.isArray(given) ? [...given] : given === undefined ? [] : [given];
};
