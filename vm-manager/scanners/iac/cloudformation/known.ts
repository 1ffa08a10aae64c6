// What is known of a template’s values: parameters by their defaults, mappings, texts of known parts. Which branch of
// a condition is taken is not known before it is deployed: a template is read once for each way that they can fall
// out, and only what is wrong in all of them is a finding.
import { Unknown, isUnknown, textOf, type Value } from '../terraform/values.js';
import { fieldsOf, textIn, type Node } from './node.js';
import type { Template } from './template.js';

export interface KnownField {
  readonly line: number;
  readonly node: Known;
}

export type Known =
  | { readonly kind: 'value'; readonly line: number; readonly value: Value }
  /** `isOpen`: what is put in elsewhere may have more names. */
  | {
      readonly kind: 'map';
      readonly line: number;
      readonly fields: ReadonlyMap<string, KnownField>;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly Known[] };

const textMax = 100_000;
/** Letters of all texts that are put together in one way: a short text may ask for a long one many times. */
const textsMax = 20_000_000;
const itemsMax = 2000;
const depthMax = 100;
/** Tests whose outcomes are all combined; of more, each is tried by itself. */
const combinedMax = 4;
const worldsMax = 16;
/** Resources of all ways together: every rule looks at each of them. */
const looksMax = 3000;
const nowhere = new Unknown(null);

/** How the tests of conditions fall out; a test is named by its text. */
export type Outcomes = ReadonlyMap<string, boolean>;

const plain = (node: Node): unknown =>
  node.kind === 'scalar'
    ? node.value
    : node.kind === 'list'
      ? node.items.map(plain)
      : Object.fromEntries([...node.fields].map(([name, { node: one }]) => [name, plain(one)]));

const onlyField = (node: Node): readonly [string, Node] | null => {
  if (node.kind !== 'map' || node.fields.size !== 1) return null;
  const [[name, field] = []] = [...node.fields];
  return name === undefined || field === undefined ? null : [name, field.node];
};

const itemsOf = (node: Node): readonly Node[] => (node.kind === 'list' ? node.items : [node]);

/** Tests that a condition depends on; `seen`: conditions whose tests are known, as they may name each other often. */
function testsOf(template: Template, node: Node, depth: number, seen: Set<string>): string[] {
  const only = onlyField(node);
  if (only === null || depth > depthMax) return [];
  const [name, inner] = only;
  if (name === 'Condition') {
    const meant = template.conditions.get(textIn(inner))?.node;
    if (meant === undefined || seen.has(textIn(inner))) return [];
    seen.add(textIn(inner));
    return testsOf(template, meant, depth + 1, seen);
  }
  return ['Fn::And', 'Fn::Or', 'Fn::Not'].includes(name)
    ? itemsOf(inner).flatMap((one) => testsOf(template, one, depth + 1, seen))
    : [JSON.stringify(plain(node))];
}

/** Names of the conditions that `Fn::If` asks anywhere in a node. */
function askedIn(node: Node | undefined, found: Set<string>): void {
  if (node?.kind === 'list') for (const one of node.items) askedIn(one, found);
  if (node?.kind !== 'map') return;
  for (const [name, field] of node.fields) {
    if (name === 'Fn::If') found.add(textIn(itemsOf(field.node)[0]));
    askedIn(field.node, found);
  }
}

/** Every way in which the conditions that properties ask for can fall out. */
export function worldsOf(template: Template): readonly Outcomes[] {
  const asked = new Set<string>();
  for (const { properties } of template.resources) askedIn(properties, asked);
  const seen = new Set<string>();
  const nodes = [...asked].flatMap((name) => template.conditions.get(name)?.node ?? []);
  const tests = [...new Set(nodes.flatMap((node) => testsOf(template, node, 0, seen)))];
  const most = Math.max(2, Math.min(worldsMax, Math.floor(looksMax / template.resources.length)));
  if (tests.length <= combinedMax && 2 ** tests.length <= most)
    return Array.from(
      { length: 2 ** tests.length },
      (_, number) => new Map(tests.map((test, bit) => [test, (number & (1 << bit)) !== 0])),
    );
  const singles = tests.slice(0, most - 2).map((one) => new Map(tests.map((test) => [test, test === one])));
  return [new Map(tests.map((test) => [test, false])), new Map(tests.map((test) => [test, true])), ...singles];
}

/** A template in one of its ways. */
export class World {
  readonly #template: Template;
  readonly #outcomes: Outcomes;
  readonly #addressOf: (name: string) => string | null;
  readonly #parameters = new Map<string, Value>();
  /** null: it is not known, also while it is asked. */
  readonly #conditions = new Map<string, boolean | null>();
  #room = textsMax;

  /** `addressOf`: of a resource by its logical id, as rules name it. */
  constructor(template: Template, outcomes: Outcomes, addressOf: (name: string) => string | null) {
    [this.#template, this.#outcomes, this.#addressOf] = [template, outcomes, addressOf];
  }

  /** null: there is no value (`AWS::NoValue`). */
  known(node: Node, depth = 0): Known | null {
    const { line } = node;
    if (depth > depthMax) return { kind: 'value', line, value: nowhere };
    if (node.kind === 'scalar') return { kind: 'value', line, value: node.value };
    if (node.kind === 'list')
      return { kind: 'list', line, items: node.items.flatMap((one) => this.known(one, depth + 1) ?? []) };
    const only = onlyField(node);
    if (only !== null && (only[0] === 'Ref' || only[0].startsWith('Fn::')))
      return this.#function(only[0], only[1], line, depth);
    const isOpen = [...node.fields.keys()].some((name) => name.startsWith('Fn::'));
    const fields = [...node.fields].flatMap(([name, field]): (readonly [string, KnownField])[] => {
      const inner = name.startsWith('Fn::') ? null : this.known(field.node, depth + 1);
      return inner === null ? [] : [[name, { line: field.line, node: inner }]];
    });
    return { kind: 'map', line, fields: new Map(fields), isOpen };
  }

  #function(name: string, inner: Node, line: number, depth: number): Known | null {
    const items = itemsOf(inner);
    if (name === 'Fn::If') {
      const test = this.#holds(textIn(items[0]), 0);
      const branch = test === null ? undefined : items[test ? 1 : 2];
      return branch === undefined ? { kind: 'value', line, value: nowhere } : this.known(branch, depth + 1);
    }
    if (name === 'Ref' && textIn(inner) === 'AWS::NoValue') return null;
    if (name === 'Fn::Base64' || name === 'Fn::ToJsonString') return this.known(inner, depth + 1);
    const values = (): (Value | null)[] => items.map((one) => this.#value(one, depth + 1));
    const value = name === 'Ref' ? this.#ref(textIn(inner)) : this.#of(name, items, values);
    return { kind: 'value', line, value };
  }

  #value(node: Node, depth: number): Value {
    const known = this.known(node, depth);
    return known === null ? null : asValue(known);
  }

  #of(name: string, items: readonly Node[], values: () => (Value | null)[]): Value {
    switch (name) {
      case 'Fn::GetAtt': {
        const address = this.#addressOf(textIn(items[0]));
        return new Unknown(address === null ? null : `${address}.${textIn(items[1])}`);
      }
      case 'Fn::Sub':
        return this.#sub(items, values);
      case 'Fn::Join': {
        const [glue, parts] = values();
        return Array.isArray(parts) ? this.#joined(parts as readonly Value[], textOf(glue ?? '')) : nowhere;
      }
      case 'Fn::Select': {
        const [index, list] = values();
        const found: unknown = Array.isArray(list) ? list[Number(index)] : undefined;
        return found === undefined ? nowhere : (found as Value);
      }
      case 'Fn::Split': {
        const [glue, text] = values();
        return typeof text === 'string' && typeof glue === 'string' && glue !== ''
          ? text.split(glue, itemsMax)
          : nowhere;
      }
      case 'Fn::FindInMap': {
        const [map, first, second] = values().map((one) => textOf(one ?? ''));
        const found = fieldsOf(fieldsOf(this.#template.mappings.get(map ?? '')?.node).get(first ?? '')?.node);
        const node = found.get(second ?? '')?.node;
        return node === undefined ? nowhere : literal(node);
      }
      default:
        return nowhere;
    }
  }

  #ref(name: string): Value {
    const parameter = this.#template.parameters.get(name)?.node;
    if (parameter !== undefined) {
      const known = this.#parameters.get(name) ?? this.#default(name, parameter);
      this.#parameters.set(name, known);
      return known;
    }
    if (name === 'AWS::Partition') return 'aws';
    if (name === 'AWS::URLSuffix') return 'amazonaws.com';
    const address = name.startsWith('AWS::') ? null : this.#addressOf(name);
    return new Unknown(address === null ? null : `${address}.id`);
  }

  #default(name: string, parameter: Node): Value {
    const fields = fieldsOf(parameter);
    const type = textIn(fields.get('Type')?.node);
    const given = fields.get('Default')?.node;
    if (given === undefined || given.kind !== 'scalar' || type.startsWith('AWS::SSM'))
      return new Unknown(`var.${name}`);
    const isList = type === 'CommaDelimitedList' || type.startsWith('List<');
    if (isList)
      return String(given.value ?? '')
        .split(',', itemsMax)
        .map((one) => one.trim());
    return given.value ?? '';
  }

  #sub(items: readonly Node[], values: () => (Value | null)[]): Value {
    const [text = ''] = items.map(textIn);
    const [, bound] = values();
    const parts = text.split(/(\$\{[^{}]*\})/).filter((one) => one !== '');
    const known = parts.map((part): Value => {
      const [, name] = /^\$\{(.*)\}$/.exec(part) ?? [];
      if (name === undefined) return part;
      if (name.startsWith('!')) return `\${${name.slice(1)}}`;
      const key = name.trim();
      if (typeof bound === 'object' && bound !== null && !isUnknown(bound) && !Array.isArray(bound)) {
        const own = (bound as { readonly [key: string]: Value })[key];
        if (own !== undefined) return own;
      }
      const [resource = '', ...rest] = key.split('.');
      if (rest.length === 0) return this.#ref(key);
      const address = this.#addressOf(resource);
      return new Unknown(address === null ? null : `${address}.${rest.join('.')}`);
    });
    const [only] = known;
    return known.length === 1 && only !== undefined ? only : this.#joined(known, '');
  }

  /** Whether a condition holds in this way; null: there is none of that name. */
  #holds(name: string, depth: number): boolean | null {
    const known = this.#conditions.get(name);
    if (known !== undefined) return known;
    const node = this.#template.conditions.get(name)?.node;
    if (node === undefined || depth > depthMax) return null;
    this.#conditions.set(name, null);
    const holds = this.#test(node, depth);
    this.#conditions.set(name, holds);
    return holds;
  }

  /** Texts one after the other; of parts that are not known, what is known of it. */
  #joined(parts: readonly Value[], glue: string): Value {
    const isKnown = parts.every((one) => textOf(one) !== '' || one === '');
    const texts = parts.map((one) => (isUnknown(one) ? one.partly || ' ' : textOf(one)));
    const length = texts.reduce((sum, one) => sum + one.length + glue.length, 0);
    this.#room -= length;
    if (length > textMax || this.#room < 0) return nowhere;
    const text = texts.join(glue);
    return isKnown ? text : new Unknown(null, text);
  }

  #test(node: Node, depth: number): boolean | null {
    const only = onlyField(node);
    if (only === null || depth > depthMax) return null;
    const [name, inner] = only;
    if (name === 'Condition') return this.#holds(textIn(inner), depth + 1);
    if (!['Fn::And', 'Fn::Or', 'Fn::Not'].includes(name))
      return this.#outcomes.get(JSON.stringify(plain(node))) ?? null;
    const all = itemsOf(inner).map((one) => this.#test(one, depth + 1));
    if (name === 'Fn::Not') return all[0] === null || all[0] === undefined ? null : !all[0];
    const decisive = name === 'Fn::Or';
    return all.includes(decisive) ? decisive : all.includes(null) ? null : !decisive;
  }
}

/** What stands in a mapping, which may hold texts and lists of them alone. */
function literal(node: Node): Value {
  if (node.kind === 'scalar') return node.value;
  return node.kind === 'list' && node.items.every(({ kind }) => kind === 'scalar') ? node.items.map(literal) : nowhere;
}

/** A node as a value of its own: policies are read so. */
export function asValue(node: Known): Value {
  if (node.kind === 'value') return node.value;
  if (node.kind === 'list') return node.items.map(asValue);
  return Object.fromEntries([...node.fields].map(([name, { node: one }]) => [name, asValue(one)]));
}
