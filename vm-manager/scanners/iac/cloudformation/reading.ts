// How a resource of CloudFormation is read as the resource of Terraform that it is, so that one rule asks both: names
// of properties become names of attributes, by the rule of their spelling, or by a row where they are called otherwise.
import { OpenAttributes } from '../terraform/open.js';
import { Unknown, type Value } from '../terraform/values.js';
import type { Attribute, Block } from '../terraform/tree.js';
import { asValue, type Known, type KnownField } from './known.js';

export type Properties = ReadonlyMap<string, KnownField>;

export interface Reading {
  /** Type of Terraform. */
  readonly as: string | ((properties: Properties) => string);
  /** Property, with the names around it → attribute, within what they became. '': its own properties stand there. */
  readonly names?: Readonly<Record<string, string>>;
  /** Properties that stay as they are written: policies. */
  readonly raw?: readonly string[];
  /** Property → what its value means. */
  readonly values?: Readonly<Record<string, (value: Value) => Value>>;
  /** What is put together otherwise: attributes and blocks more. */
  readonly more?: (draft: Draft, properties: Properties) => void;
  /** Resources that Terraform has beside it. */
  readonly beside?: (properties: Properties, name: string) => readonly Beside[];
}

/** A resource that stands in another one. */
export interface Beside {
  readonly type: string;
  readonly line: number;
  readonly fill: (draft: Draft) => void;
}

/** `KMSMasterKeyID` → `kms_master_key_id`. */
export const snake = (name: string): string =>
  name
    .replaceAll(/(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase();

/** Of texts that are switches, the switch. */
const settled = (value: Value): Value => (value === 'true' ? true : value === 'false' ? false : value);

/** A block in the making. */
export class Draft {
  readonly #type: string;
  readonly #line: number;
  readonly #attributes = new Map<string, Attribute>();
  readonly #blocks: Draft[] = [];
  isOpen = false;

  constructor(type: string, line: number) {
    [this.#type, this.#line] = [type, line];
  }

  /** `path`: through blocks, which are made where they are missing. */
  set(path: string, value: Value, line: number): void {
    const [name = '', ...rest] = path.split('.');
    if (rest.length > 0) return this.#inner(name, line).set(rest.join('.'), value, line);
    this.#attributes.set(name, { value: { kind: 'value', value: settled(value) }, line });
  }

  /** One block more of the last name of a path. */
  add(path: string, line: number): Draft {
    const [name = '', ...rest] = path.split('.');
    if (rest.length > 0) return this.#inner(name, line).add(rest.join('.'), line);
    const made = new Draft(name, line);
    this.#blocks.push(made);
    return made;
  }

  #inner(name: string, line: number): Draft {
    return this.#blocks.find((one) => one.#type === name) ?? this.add(name, line);
  }

  block(labels: readonly string[], endLine: number): Block {
    const attributes = this.isOpen ? new OpenAttributes(this.#attributes, this.#line) : this.#attributes;
    const blocks = this.#blocks.map((one) => one.block([], endLine));
    return { type: this.#type, labels, line: this.#line, endLine, attributes, blocks };
  }
}

const isBlocks = (node: Known): boolean =>
  node.kind === 'list' && node.items.length > 0 && node.items.some(({ kind }) => kind === 'map');

/** Properties as attributes and blocks. */
export function fill(draft: Draft, fields: Properties, reading: Reading, around = ''): void {
  const { names = {}, raw = [], values = {} } = reading;
  for (const [key, { line, node }] of fields) {
    const path = around === '' ? key : `${around}.${key}`;
    const name = names[path] ?? snake(key);
    const isRaw = raw.includes(path);
    if (!isRaw && node.kind === 'map') {
      const inner = name === '' ? draft : draft.add(name, line);
      if (node.isOpen) inner.isOpen = true;
      fill(inner, node.fields, reading, path);
    } else if (!isRaw && node.kind === 'list' && isBlocks(node)) {
      for (const one of node.items) {
        if (one.kind === 'map') fill(draft.add(name, one.line), one.fields, reading, path);
        // one of a list that is given from outside: a block of which nothing is known
        else draft.add(name, one.line).isOpen = true;
      }
    } else if (name === '') draft.isOpen ||= node.kind === 'value' && node.value instanceof Unknown;
    else draft.set(name, (values[path] ?? ((value: Value) => value))(asValue(node)), line);
  }
}

/** What stands at the end of a path of names; undefined: nothing does. */
export function at(fields: Properties, path: string): KnownField | undefined {
  const [name = '', ...rest] = path.split('.');
  const field = fields.get(name);
  if (rest.length === 0 || field === undefined) return field;
  return field.node.kind === 'map' ? at(field.node.fields, rest.join('.')) : undefined;
}

export const valueAt = (fields: Properties, path: string): Value | undefined => {
  const field = at(fields, path);
  return field === undefined ? undefined : asValue(field.node);
};

/** Mappings in the list at a path. */
export const mapsAt = (fields: Properties, path: string): readonly (Known & { readonly kind: 'map' })[] => {
  const node = at(fields, path)?.node;
  return node?.kind === 'list' ? node.items.flatMap((one) => (one.kind === 'map' ? [one] : [])) : [];
};
